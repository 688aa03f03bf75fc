// A filter that is part of the address: what is typed goes there once the typing pauses.
import { TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
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
  /** On their way into the address. */
  const told = useRef<string[]>([])
  const tell = useDebouncedCallback((typed: string) => {
    // Whoever opened another page while this one still stands must not be called back to it.
    const isLeaving = router.latestLocation.pathname !== router.state.resolvedLocation?.pathname
    if (isLeaving) return
    told.current.push(typed.trim())
    onChange(typed.trim() || undefined)
  }, PAUSE_MS)
  useEffect(() => {
    const at = told.current.lastIndexOf(value)
    told.current.splice(0, at + 1)
    // By another way: a link, or back and forward.
    if (at === -1) setText(value)
  }, [value])
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
