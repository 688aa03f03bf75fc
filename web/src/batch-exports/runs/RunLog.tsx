// The log of one run: as it is written while the run goes on, as it is stored afterwards.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, api } from '../../api/client'
import { useStream } from '../../api/stream'
import { Failed, Loading } from '../../ui/States'
import { useExportPath } from '../addresses'
import { LogLines } from '../logs/LogLines'
import { exportKey, pathOf, runQuery, type LogEntry, type Run } from '../queries'
import { isLive } from '../states'

const MOST_LINES = 1_000

export function RunLog({ run }: { run: Run }) {
  // A stream brings the last lines after the run has ended: whether there is one is decided once.
  const [wasLive] = useState(() => isLive(run.status))
  return wasLive ? <LiveLog run={run} /> : <StoredLog run={run} />
}

function StoredLog({ run }: { run: Run }) {
  const path = useExportPath()
  const log = useQuery({
    queryKey: [...exportKey(path), 'run log', run.id],
    queryFn: ({ signal }) =>
      answer(
        api.GET('/api/projects/{project_id}/batch_exports/{batch_export_id}/runs/{run_id}/logs/', {
          params: { path: { ...pathOf(path), run_id: run.id }, query: { limit: MOST_LINES } },
          signal,
        }),
      ),
  })
  if (log.isPending) return <Loading rows={3} />
  if (log.isLoadingError)
    return <Failed error={log.error} what="The log could not be read." onRetry={() => void log.refetch()} />
  return (
    <LogLines
      lines={log.data.results.toReversed()}
      empty="Nothing was written. Lines are kept for 30 days."
    />
  )
}

function LiveLog({ run }: { run: Run }) {
  const path = useExportPath()
  const queries = useQueryClient()
  const [lines, setLines] = useState<ReadonlyMap<string, LogEntry>>(new Map())
  const { projectId, exportId } = path
  const state = useStream({
    url: `/api/projects/${projectId}/batch_exports/${exportId}/runs/${run.id}/stream/?last_event_id=0`,
    on: {
      run(data) {
        queries.setQueryData(runQuery(path, run.id).queryKey, data as Run)
        if (!isLive((data as Run).status)) void queries.invalidateQueries({ queryKey: exportKey(path) })
      },
      log: (line, id) => setLines((before) => new Map(before).set(id, line as LogEntry)),
    },
    poll: () => void queries.invalidateQueries({ queryKey: exportKey(path) }),
  })
  if (state === 'polling') return <StoredLog run={run} />
  return <LogLines lines={[...lines.values()]} empty="Nothing is written yet." isFollowed />
}
