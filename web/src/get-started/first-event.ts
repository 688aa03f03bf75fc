// The first event of a project: waited for where there is none, looked up where it has come already.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { answer, api } from '../api/client'
import { projectQuery, useProject } from '../api/me'
import { useStream, type StreamState } from '../api/stream'
import type { StoredEvent } from '../events/queries'

export type FirstEvent = {
  event: StoredEvent | null
  state: StreamState
  hasJustCome: boolean
  /** Whether there is one could not be found out. */
  error: Error | null
  retry: () => void
}

export function useFirstEvent(projectId: string): FirstEvent {
  const queries = useQueryClient()
  const { ingested_event } = useProject()
  // It may come before the server has said that there is none.
  const [hadNone] = useState(!ingested_event)
  const [came, setCame] = useState<StoredEvent | null>(null)
  const stored = useQuery({
    queryKey: ['newest event', projectId],
    async queryFn({ signal }) {
      const params = { path: { project_id: projectId }, query: { limit: 1 } }
      const page = await answer(api.GET('/api/projects/{project_id}/events/', { params, signal }))
      return typeof page === 'string' ? null : ((page.results[0] as StoredEvent | undefined) ?? null)
    },
  })
  const event = came ?? stored.data ?? null
  const isWaiting = stored.isSuccess && event === null
  const state = useStream({
    // From the beginning: it may have come while the stream was opened.
    url: isWaiting ? `/api/projects/${projectId}/events/stream/?last_event_id=0` : null,
    on: { event: (data) => setCame((before) => before ?? (data as StoredEvent)) },
    poll: () => void stored.refetch(),
  })
  useEffect(() => {
    // The menu shows the overview from now on.
    if (event !== null && !ingested_event)
      void queries.invalidateQueries({ queryKey: projectQuery(projectId).queryKey })
  }, [event, ingested_event])
  return {
    event,
    state,
    hasJustCome: hadNone,
    error: stored.data === undefined ? stored.error : null,
    retry: () => void stored.refetch(),
  }
}
