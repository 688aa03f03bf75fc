// Asks before anything is lost, and names what will be. The gravest want the name typed.
import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { toFailure } from '../api/failure'
import { Dialog } from './Dialog'

type Props = {
  isOpen: boolean
  onClose: () => void
  title: string
  /** What happens, and what is lost. */
  children: ReactNode
  /** A verb with its object: "Delete export". */
  button: string
  /** To be typed before the button works. */
  typed?: string
  /** Not for what loses nothing. */
  isHarmless?: boolean
  onConfirm: () => Promise<unknown>
}

export function Confirm({
  isOpen,
  onClose,
  title,
  children,
  button,
  typed,
  isHarmless = false,
  onConfirm,
}: Props) {
  const [text, setText] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<string | null>(null)
  const close = () => {
    setText('')
    setError(null)
    onClose()
  }
  // What was asked for cannot be taken back, and how it ends is told here.
  const closeUnlessBusy = () => {
    if (!isBusy) close()
  }
  const confirm = async () => {
    setBusy(true)
    setError(null)
    try {
      await onConfirm()
      close()
    } catch (failure) {
      setError(toFailure(failure).message)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog opened={isOpen} onClose={closeUnlessBusy} title={title}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void confirm()
        }}
      >
        <Stack gap="lg">
          <div>{children}</div>
          {typed !== undefined && (
            <TextInput
              label={
                <>
                  Type <b>{typed}</b> to go on
                </>
              }
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
              autoComplete="off"
              data-autofocus
            />
          )}
          {error !== null && (
            <Text c="var(--ls-failed)" role="alert">
              {error}
            </Text>
          )}
          <Group justify="flex-end" gap="sm">
            <Button variant="default" onClick={closeUnlessBusy} disabled={isBusy}>
              Cancel
            </Button>
            <Button
              type="submit"
              color={isHarmless ? undefined : 'red.9'}
              loading={isBusy}
              disabled={typed !== undefined && text !== typed}
              data-autofocus={typed === undefined || undefined}
            >
              {button}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
