// A filter that is part of the address: what is typed goes there once the typing pauses.
import { TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { Icon } from './Icon'

const PAUSE_MS = 250

type Props = {
  label: string
  placeholder?: string
  className?: string
  value: string | undefined
  onChange: (value: string | undefined) => void
}

export function SearchInput({ label, placeholder = label, className, value = '', onChange }: Props) {
  const router = useRouter()
  const [text, setText] = useState(value)
  const tell = useDebouncedCallback((typed: string) => {
    // Whoever opened another page while this one still stands must not be called back to it.
    const isLeaving = router.latestLocation.pathname !== router.state.resolvedLocation?.pathname
    if (!isLeaving) onChange(typed.trim() || undefined)
  }, PAUSE_MS)
  return (
    <TextInput
      type="search"
      className={className}
      aria-label={label}
      placeholder={placeholder}
      leftSection={<Icon name="search" size={14} />}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value)
        tell(event.currentTarget.value)
      }}
    />
  )
}
