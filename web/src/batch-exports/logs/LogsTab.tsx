// The log of an export: by level, text and time, as it is stored or as it is written.
import { Button, Chip, Group, Switch, Text } from '@mantine/core'
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
import type { Range } from '../../ui/time-range'
import { TimeRange } from '../../ui/TimeRange'
import { RunDetails } from '../runs/RunDetails'
import type { Export } from '../queries'
import { Level } from './LogLines'
import { nextPage, type LogPage } from './pages'
import { saveLog } from './save-log'

const LEVELS = ['ERROR', 'WARNING', 'INFO', 'LOG', 'DEBUG'] as const
type LevelName = (typeof LEVELS)[number]
const LAST_WEEK: Range = { after: '-7d' }
const PAGE = 200
const MOST_NEW = 500

export function LogsTab({ data }: { data: Export }) {
  const { level, text = '', after, before, live = true, run } = exportRoute.useSearch()
  const range = after === undefined && before === undefined ? LAST_WEEK : rangeOf(after, before)
  const navigate = exportRoute.useNavigate()
  const change = (search: Partial<ExportSearch>, replace = true) =>
    void navigate({ search: (before) => ({ ...before, ...search }), replace })
  const levels = LEVELS.filter((each) => level?.split(',').includes(each))
  const path = useExportPath()
  const [isSaving, setSaving] = useState(false)
  const save = async () => {
    setSaving(true)
    try {
      const lines = await saveLog(path, { ...filterOf(levels, text), ...range }, data.name)
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
        <TimeRange
          value={range}
          any={null}
          onChange={(picked) => change({ after: picked.after, before: picked.before })}
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
        key={JSON.stringify([levels, text, range])}
        levels={levels}
        text={text}
        range={range}
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

const rangeOf = (after: string | undefined, before: string | undefined): Range => ({
  ...(after === undefined ? {} : { after }),
  ...(before === undefined ? {} : { before }),
})

type LinesProps = {
  levels: readonly LevelName[]
  text: string
  range: Range
  isLive: boolean
  onOpenRun: (run: string) => void
}

function Lines({ levels, text, range, isLive, onOpenRun }: LinesProps) {
  const path = useExportPath()
  const queries = useQueryClient()
  const [fresh, setFresh] = useState<readonly (LogEntry & { id: string })[]>([])
  // New lines lie beyond the end of a range that has one.
  const isFollowed = isLive && range.before === undefined
  const filter = filterOf(levels, text)
  const queryKey = [...exportKey(path), 'logs', filter, range]
  const log = useInfiniteQuery({
    queryKey,
    initialPageParam: { offset: 0 } as LogPage,
    queryFn: ({ signal, pageParam }) =>
      answer(
        api.GET('/api/projects/{project_id}/batch_exports/{batch_export_id}/logs/', {
          params: {
            path: pathOf(path),
            query: { ...filter, ...range, ...pageParam, limit: PAGE },
          },
          signal,
        }),
      ),
    getNextPageParam: (_last, pages) => nextPage(pages, range.before),
  })
  const search = new URLSearchParams([
    ...levels.map((each) => ['level', each]),
    ...(text === '' ? [] : [['search', text]]),
  ])
  const state = useStream({
    url:
      isFollowed && log.isSuccess
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
        {!isFollowed
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
