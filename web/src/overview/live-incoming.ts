// The last hour's events, counted by the server every half minute and by the stream in between.
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { answer, api } from '../api/client'
import { useStream } from '../api/stream'
import { incomingOf, rowOf, type Row } from './incoming'

const COUNT_MS = 30_000
const SHOW_MS = 1_000
/** Enough for a hundred kinds in each minute; those that come most are among them. */
const MOST_ROWS = 6_000

const QUERY = `SELECT toUnixTimestamp(toStartOfMinute(timestamp)) AS minute, event, count() AS events FROM events
WHERE timestamp >= now() - INTERVAL 60 MINUTE AND timestamp < now() + INTERVAL 1 MINUTE
GROUP BY minute, event ORDER BY events DESC LIMIT ${MOST_ROWS}`

export function useIncoming(projectId: string) {
  const [now, setNow] = useState(() => Date.now())
  const since = useRef<Row[]>([])
  const counted = useQuery({
    queryKey: ['incoming', projectId],
    refetchInterval: COUNT_MS,
    async queryFn({ signal }) {
      const answered = await answer(
        api.POST('/api/projects/{project_id}/query/', {
          params: { path: { project_id: projectId } },
          body: { query: { kind: 'HogQLQuery', query: QUERY } },
          signal,
        }),
      )
      // What the stream told before is in these counts.
      since.current = []
      return answered.results as unknown as Row[]
    },
  })
  const state = useStream({
    url: `/api/projects/${projectId}/events/stream/`,
    on: { event: (data) => void since.current.push(rowOf(data as { timestamp: string; event: string })) },
    poll: () => void counted.refetch(),
  })
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), SHOW_MS)
    return () => clearInterval(timer)
  }, [])
  return { counted, state, incoming: incomingOf([...(counted.data ?? []), ...since.current], now) }
}
