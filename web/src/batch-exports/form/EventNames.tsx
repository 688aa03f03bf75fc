import { TagsInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, api } from '../../api/client'

type Props = {
  name: string
  label: string
  description: string
  error: string | undefined
  value: string[]
  onChange: (names: string[]) => void
}
const TYPING_MS = 200
const MOST = 50

/** Names of events, completed from those that were seen; others can be typed too. */
export function EventNames({ value, ...props }: Props) {
  const { projectId } = useParams({ strict: false })
  const [text, setText] = useState('')
  const [settled] = useDebouncedValue(text, TYPING_MS)
  const seen = useQuery({
    queryKey: ['event names', projectId, settled],
    queryFn: ({ signal }) =>
      answer(
        api.GET('/api/projects/{project_id}/event_definitions/', {
          params: {
            path: { project_id: projectId! },
            query: { limit: MOST, ...(settled === '' ? {} : { search: settled }) },
          },
          signal,
        }),
      ),
  }).data?.results
  return (
    <TagsInput
      {...props}
      value={value ?? []}
      data={(seen ?? []).map(({ name }) => name)}
      searchValue={text}
      onSearchChange={setText}
      // A comma may be part of a name.
      splitChars={[]}
      placeholder={(value ?? []).length === 0 ? 'Name of an event' : undefined}
    />
  )
}
