// What a filter is about: the event's name, a property of it, of its person or groups, what was clicked, an expression.
import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQueries } from '@tanstack/react-query'
import { useState } from 'react'
import type { Subject } from './filter'
import { propertyNamesQuery } from './queries'
import { ownersOf, subjectChoices, subjectLabel, subjectOf, subjectValue } from './subjects'

type Props = {
  projectId: string
  groups: readonly string[]
  value: Subject | null
  onChange: (subject: Subject) => void
}

const DEBOUNCE_MS = 200

export function SubjectPicker({ projectId, groups, value, onChange }: Props) {
  const [search, setSearch] = useState('')
  const [typed] = useDebouncedValue(search.trim(), DEBOUNCE_MS)
  // What is chosen already stands in the field, and is no search.
  const wanted = value !== null && typed === subjectLabel(value, groups) ? '' : typed
  const found = useQueries({
    queries: ownersOf(groups).map((owner) => propertyNamesQuery(projectId, owner, wanted)),
  })
  const names = found.map(({ data = [] }) => data)
  return (
    <Select
      label="Filter by"
      placeholder="Search properties"
      data={subjectChoices({ groups, names, wanted, chosen: value })}
      value={value === null ? null : subjectValue(value)}
      onChange={(next) => next !== null && onChange(subjectOf(next))}
      searchable
      searchValue={search}
      onSearchChange={setSearch}
      // The server has searched already.
      filter={({ options }) => options}
      allowDeselect={false}
      maxDropdownHeight={280}
      comboboxProps={{ withinPortal: false }}
      data-autofocus={value === null || undefined}
    />
  )
}
