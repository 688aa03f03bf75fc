// The log of an export: by level, text and time, as it is stored or as it is written.
import { Button, Chip, Group, Select, Switch, Text } from '@mantine/core'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { answer, api } from '../../api/client'
import { useStream } from '../../api/stream'
import { DataTable, type Column } from '../../ui/DataTable'
import { countText } from '../../ui/format'
import { done, refused } from '../../ui/notify'
import { Empty, Failed, Loading } from '../../ui/States'
import { Time } from '../../ui/Values'
import { exportRoute, useExportPath } from '../addresses'
import { exportKey, pathOf, type LogEntry } from '../queries'
import type { ExportSearch } from '../search'
import { Details } from '../../ui/Details'
import { SearchInput } from '../../ui/SearchInput'
import { RunDetails } from '../runs/RunDetails'
import type { Export } from '../queries'
import { Level } from './LogLines'
import { saveLog } from './save-log'

const LEVELS = ['ERROR', 'WARNING', 'INFO', 'LOG', 'DEBUG'] as const
type LevelName = (typeof LEVELS)[number]
const SINCE = [
  { value: '1h', label: 'Last hour' },
  { value: '24h', label: 'Last 24 hours' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
]
const PAGE = 200
const MOST_NEW = 500

export function LogsTab({ data }: { data: Export }) {
  const { level, text = '', since = '7d', live = true, run } = exportRoute.useSearch()
  const navigate = exportRoute.useNavigate()
  const change = (search: Partial<ExportSearch>, replace = true) =>
    void navigate({ search: (before) => ({ ...before, ...search }), replace })
  const levels = LEVELS.filter((each) => level?.split(',').includes(each))
  const path = useExportPath()
  const [isSaving, setSaving] = useState(false)
  const save = async () => {
    setSaving(true)
    try {
      const lines = await saveLog(path, { ...filterOf(levels, text), after: `-${since}` }, data.name)
      done(`${countText(lines)} lines are saved.`)
    } catch (error) {
      refused(error)
    } finally {
      setSaving(false)
    }
  }

  return (
    <>
      <Group gap="md" mb="md">
        <Group gap={6} role="group" aria-label="Levels">
          <Chip.Group
            multiple
            value={levels}
            onChange={(chosen) => change({ level: chosen.length === 0 ? undefined : chosen.join(',') })}
          >
            {LEVELS.map((each) => (
              <Chip key={each} value={each} size="xs" variant="outline">
                {each}
              </Chip>
            ))}
          </Chip.Group>
        </Group>
        <SearchInput label="Text in the message" value={text} onChange={(typed) => change({ text: typed })} />
        <Select
          aria-label="Since"
          data={SINCE}
          value={since}
          allowDeselect={false}
          w={150}
          onChange={(value) => change({ since: value === '7d' ? undefined : (value ?? undefined) })}
        />
        <Switch
          label="Live"
          checked={live}
          onChange={(event) => change({ live: event.currentTarget.checked ? undefined : false })}
        />
        <Button variant="default" loading={isSaving} onClick={() => void save()}>
          Save as file
        </Button>
      </Group>
      <Lines
        key={JSON.stringify([levels, text, since])}
        levels={levels}
        text={text}
        since={since}
        isLive={live}
        onOpenRun={(id) => change({ run: id }, false)}
      />
      <Details isOpen={run !== undefined} onClose={() => change({ run: undefined }, false)} title="Run">
        {run !== undefined && <RunDetails key={run} data={data} runId={run} />}
      </Details>
    </>
  )
}

const filterOf = (levels: readonly LevelName[], text: string) => ({
  ...(levels.length === 0 ? {} : { level: [...levels] }),
  ...(text === '' ? {} : { search: text }),
})

type LinesProps = {
  levels: readonly LevelName[]
  text: string
  since: string
  isLive: boolean
  onOpenRun: (run: string) => void
}

function Lines({ levels, text, since, isLive, onOpenRun }: LinesProps) {
  const path = useExportPath()
  const queries = useQueryClient()
  const [fresh, setFresh] = useState<readonly (LogEntry & { id: string })[]>([])
  const filter = filterOf(levels, text)
  const queryKey = [...exportKey(path), 'logs', filter, since]
  const log = useInfiniteQuery({
    queryKey,
    initialPageParam: 0,
    queryFn: ({ signal, pageParam }) =>
      answer(
        api.GET('/api/projects/{project_id}/batch_exports/{batch_export_id}/logs/', {
          params: {
            path: pathOf(path),
            query: { ...filter, after: `-${since}`, limit: PAGE, offset: pageParam },
          },
          signal,
        }),
      ),
    getNextPageParam: ({ next, results }, _all, offset) =>
      next === null ? undefined : offset + results.length,
  })
  const search = new URLSearchParams([
    ...levels.map((each) => ['level', each]),
    ...(text === '' ? [] : [['search', text]]),
  ])
  const state = useStream({
    url:
      isLive && log.isSuccess
        ? `/api/projects/${path.projectId}/batch_exports/${path.exportId}/logs/stream/?${search}`
        : null,
    on: {
      log: (line, id) => setFresh((before) => [{ ...(line as LogEntry), id }, ...before].slice(0, MOST_NEW)),
    },
    poll: () => void queries.invalidateQueries({ queryKey }),
  })
  // What was written after the answer and before the stream was open is in neither.
  useEffect(() => {
    if (state === 'live') void queries.invalidateQueries({ queryKey })
  }, [state])
  const stored = log.data?.pages.flatMap(({ results }) => results) ?? []
  const known = new Set(stored.map(keyOf))
  const unknown = fresh.filter((line) => !known.has(keyOf(line)))
  const rows = [
    ...unknown,
    ...stored.map((line, index) => ({ ...line, id: `stored ${stored.length - index}` })),
  ]

  if (log.isPending) return <Loading />
  if (log.isError && stored.length === 0)
    return <Failed error={log.error} what="The log could not be read." onRetry={() => void log.refetch()} />
  if (rows.length === 0)
    return (
      <Empty title="No lines">
        Each run writes here what it does. Lines are kept for 30 days; this filter matches none of them.
      </Empty>
    )
  return (
    <>
      <DataTable
        label="Log, newest first"
        columns={COLUMNS}
        rows={rows}
        rowKey={({ id }) => id}
        isCompact
        openLabel={({ message }) => message}
        onOpen={({ run_id }) => run_id !== null && onOpenRun(run_id)}
        onEnd={() => log.hasNextPage && !log.isFetchingNextPage && void log.fetchNextPage()}
        foot={
          log.isFetchingNextPage
            ? 'Loading more.'
            : `${countText(rows.length)} of ${countText((log.data?.pages[0]?.count ?? 0) + unknown.length)} lines.`
        }
      />
      <Text size="sm" c="dimmed" mt="xs" role="status">
        {!isLive
          ? 'New lines are not shown.'
          : state === 'polling'
            ? 'New lines are asked for every few seconds.'
            : state === 'connecting'
              ? 'Connecting to see new lines.'
              : 'New lines appear at the top.'}
      </Text>
    </>
  )
}

/** Stored lines have no id. */
const keyOf = ({ timestamp, run_id, level, message }: LogEntry) =>
  `${timestamp} ${run_id} ${level} ${message}`

const COLUMNS: readonly Column<LogEntry & { id: string }>[] = [
  {
    key: 'time',
    title: 'Time',
    width: '150px',
    cell: ({ timestamp }) => <Time value={timestamp} style="second" />,
  },
  { key: 'level', title: 'Level', width: '84px', cell: ({ level }) => <Level level={level} /> },
  {
    key: 'message',
    title: 'Message',
    width: 'minmax(220px, 1fr)',
    cell: ({ message }) => <span title={message}>{message}</span>,
  },
]
