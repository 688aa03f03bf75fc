// A filter that is part of the address: what is typed goes there once the typing pauses.
import { TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useState } from 'react'
import { Icon } from './Icon'

const PAUSE_MS = 250

type Props = { label: string; value: string | undefined; onChange: (value: string | undefined) => void }

export function SearchInput({ label, value = '', onChange }: Props) {
  const [text, setText] = useState(value)
  const tell = useDebouncedCallback((typed: string) => onChange(typed.trim() || undefined), PAUSE_MS)
  return (
    <TextInput
      type="search"
      aria-label={label}
      placeholder={label}
      leftSection={<Icon name="search" size={14} />}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value)
        tell(event.currentTarget.value)
      }}
    />
  )
}
