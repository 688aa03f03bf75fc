// A secret as it is given: once. Copied from here, or lost: what it stands in does not close before.
import { Button, Group, Stack, Text } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { useState, type ReactNode } from 'react'
import { useHold } from './on-top'
import classes from './ShownOnce.module.css'

type Props = {
  /** What it is, and that it is shown once. */
  children: ReactNode
  value: string
  /** "Copy key" */
  copy: string
  /** Beside the button that copies. */
  actions?: ReactNode
  /** It cannot be lost any more: it was mailed, or saved as a file. */
  isSafe?: boolean
}

export function ShownOnce({ children, value, copy, actions, isSafe = false }: Props) {
  const clipboard = useClipboard()
  const [wasCopied, setWasCopied] = useState(false)
  const [wasTried, setWasTried] = useState(false)
  // A browser may refuse to copy; then it is only shown.
  if (clipboard.copied && !wasCopied) setWasCopied(true)
  const isHeld = !wasCopied && !isSafe
  useHold(isHeld, () => setWasTried(true))
  return (
    <Stack gap="sm" className={classes.once}>
      <Text size="sm">{children}</Text>
      <pre
        className={`mono ${classes.value}`}
        tabIndex={0}
        aria-label="Shown once"
        onCopy={() => setWasCopied(true)}
      >
        {value}
      </pre>
      {wasTried && isHeld && (
        <Text size="sm" c="var(--ls-failed)" role="alert">
          It is not shown again. Copy it before you close this.
        </Text>
      )}
      <Group gap="sm">
        <Button onClick={() => clipboard.copy(value)}>{clipboard.copied ? 'Copied' : copy}</Button>
        {actions}
      </Group>
    </Stack>
  )
}
