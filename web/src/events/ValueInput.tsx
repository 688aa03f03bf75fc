// What a filter compares with. Values that were seen are offered; any other can be typed.
import { Group, TagsInput, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Subject } from './filter'
import type { ValueKind } from './operators'
import { valuesQuery } from './queries'

type Props = {
  projectId: string
  subject: Subject
  kind: ValueKind
  value: readonly string[]
  onChange: (value: string[]) => void
  problem: string | null
  /** A filter that is there already is mostly changed by its value. */
  isFirst: boolean
}

const HINTS: Record<
  Exclude<ValueKind, 'many' | 'range' | 'none'>,
  { label: string; placeholder: string; description?: string }
> = {
  text: { label: 'Pattern', placeholder: '^/pricing', description: 'A regular expression (RE2).' },
  number: { label: 'Number or date', placeholder: '100' },
  date: {
    label: 'Date',
    placeholder: '2026-11-16',
    description: 'A day, a time, or a distance such as -7d.',
  },
  version: { label: 'Version', placeholder: '1.2.3' },
}

export function ValueInput({ kind, value, onChange, problem, isFirst, ...rest }: Props) {
  const focus = { 'data-autofocus': isFirst || undefined }
  switch (kind) {
    case 'none':
      return null
    case 'many':
      return <SeenValues value={value} onChange={onChange} problem={problem} isFirst={isFirst} {...rest} />
    case 'range': {
      const end = (at: 0 | 1) => ({
        value: value[at] ?? '',
        inputMode: 'decimal' as const,
        onChange: (event: { currentTarget: { value: string } }) => {
          const ends = [value[0] ?? '', value[1] ?? '']
          ends[at] = event.currentTarget.value
          onChange(ends)
        },
      })
      return (
        <Group gap="sm" grow align="flex-start">
          <TextInput label="From" {...end(0)} {...focus} error={problem} />
          <TextInput label="To" {...end(1)} error={problem !== null} />
        </Group>
      )
    }
    case 'text':
    case 'number':
    case 'date':
    case 'version':
      return (
        <TextInput
          {...HINTS[kind]}
          {...focus}
          value={value[0] ?? ''}
          onChange={(event) => onChange([event.currentTarget.value])}
          error={problem}
        />
      )
  }
}

type SeenProps = Omit<Props, 'kind'>
const DEBOUNCE_MS = 200

function SeenValues({ projectId, subject, value, onChange, problem, isFirst }: SeenProps) {
  const [search, setSearch] = useState('')
  // Not by focus alone: the list would cover the button below.
  const [isOpen, setOpen] = useState(false)
  const [typed] = useDebouncedValue(search.trim(), DEBOUNCE_MS)
  const seen = useQuery(valuesQuery(projectId, subject, typed))
  return (
    <TagsInput
      label="Value"
      description="One or more: any of them counts."
      data={[...new Set(seen.data ?? [])]}
      value={[...value]}
      onChange={onChange}
      searchValue={search}
      onSearchChange={(text) => {
        setSearch(text)
        if (text !== '') setOpen(true)
      }}
      dropdownOpened={isOpen}
      onDropdownClose={() => setOpen(false)}
      onOptionSubmit={() => setOpen(false)}
      onClick={() => setOpen(true)}
      onKeyDown={({ key }) => key === 'ArrowDown' && setOpen(true)}
      // The server has searched already.
      filter={({ options }) => options}
      acceptValueOnBlur
      splitChars={[]}
      maxDropdownHeight={220}
      error={problem}
      data-autofocus={isFirst || undefined}
      comboboxProps={{ withinPortal: false }}
    />
  )
}
