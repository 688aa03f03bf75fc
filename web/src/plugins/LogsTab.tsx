// What an app and the server have said while it ran, newest first, as it comes.
import { Chip, Group, Stack } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, api, type Schema } from '../api/client'
import { useStream } from '../api/stream'
import { DataTable, type Column } from '../ui/DataTable'
import { Details } from '../ui/Details'
import { SearchInput } from '../ui/SearchInput'
import { Empty, Failed, Loading } from '../ui/States'
import { Status } from '../ui/Status'
import { CopyIcon, Time } from '../ui/Values'
import classes from './LogsTab.module.css'
import type { App } from './queries'
import { LOG_TYPES, type AppSearch } from './search'

type Line = Schema<'PluginLogEntry'>

const page = getRouteApi('/frame/project/$projectId/apps/$configId/$tab')
const PER_PAGE = 200
const MOST_KEPT = 2_000

const COLUMNS: readonly Column<Line>[] = [
  {
    key: 'time',
    title: 'Time',
    width: '150px',
    cell: ({ timestamp }) => <Time value={timestamp} style="second" />,
  },
  { key: 'type', title: 'Type', width: '76px', isExtra: true, cell: ({ type }) => <Type type={type} /> },
  {
    key: 'source',
    title: 'By',
    width: '80px',
    isExtra: true,
    cell: ({ source }) => <span className="quiet">{source === 'CONSOLE' ? 'app' : 'server'}</span>,
  },
  {
    key: 'message',
    title: 'Message',
    width: '1fr',
    cell: ({ type, message }) => (
      <span className={`mono ${classes.type}`} data-type={type}>
        {message}
      </span>
    ),
  },
]

export function LogsTab({ projectId, app }: { projectId: string; app: App }) {
  const { types = [], q = '', line } = page.useSearch()
  const navigate = page.useNavigate()
  const show = (change: Partial<AppSearch>, replace = false) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace })
  const log = useLog(projectId, app.id, types, q)
  const open = log.lines.find(({ id }) => id === line)

  return (
    <>
      <div className={classes.tools}>
        <SearchInput
          className={classes.find}
          label="Find in the log"
          value={q}
          onChange={(typed) => show({ q: typed }, true)}
        />
        <Chip.Group
          multiple
          value={[...types]}
          onChange={(chosen) => show({ types: LOG_TYPES.filter((type) => chosen.includes(type)) })}
        >
          <Group gap="xs" role="group" aria-label="Types of lines">
            {LOG_TYPES.map((type) => (
              <Chip key={type} value={type} size="xs" variant="outline">
                {type.toLowerCase()}
              </Chip>
            ))}
          </Group>
        </Chip.Group>
        <span className={classes.live}>
          {log.state === 'live' ? (
            <Status kind="running" progress={1}>
              Live
            </Status>
          ) : (
            <Status kind="waiting">
              {log.state === 'polling' ? 'Looking every 5 seconds' : 'Connecting'}
            </Status>
          )}
        </span>
      </div>
      {log.isPending ? (
        <Loading />
      ) : log.error !== null ? (
        <Failed what="The log could not be loaded" error={log.error} onRetry={log.retry} />
      ) : log.lines.length === 0 ? (
        <Empty title={types.length > 0 || q !== '' ? 'No line matches' : 'Nothing was said yet'}>
          What the app writes with console.log and meta.logger comes here as it happens, and what the server
          has to say of it.
        </Empty>
      ) : (
        <DataTable
          label="Log"
          columns={COLUMNS}
          rows={log.lines}
          rowKey={({ id }) => String(id)}
          isCompact
          onOpen={({ id }) => show({ line: id })}
          openLabel={({ type, message }) => `${type}: ${message.slice(0, 120)}`}
          {...(line === undefined ? {} : { openKey: String(line) })}
          onEnd={log.more}
          foot={
            log.hasMore
              ? 'Loading earlier lines'
              : 'This is the beginning of the log. Lines are kept for a week.'
          }
        />
      )}
      <Details
        isOpen={open !== undefined}
        onClose={() => show({ line: undefined })}
        title={open?.type === 'ERROR' ? 'Error' : 'Line of the log'}
      >
        {open && (
          <Stack gap="md">
            <Group gap="lg">
              <Time value={open.timestamp} style="second" />
              <Type type={open.type} />
              <span className="quiet">
                {open.source === 'CONSOLE' ? 'said by the app' : 'said by the server'}
              </span>
              <CopyIcon value={open.message} label="Copy the message" />
            </Group>
            <pre className={`${classes.message} mono`} tabIndex={0}>
              {open.message}
            </pre>
          </Stack>
        )}
      </Details>
    </>
  )
}

function Type({ type }: { type: Line['type'] }) {
  return (
    <span className={classes.type} data-type={type}>
      {type.toLowerCase()}
    </span>
  )
}

/** What is stored, in pages below a moment that stands still, and above it what came since. */
function useLog(projectId: string, configId: number, types: readonly Line['type'][], q: string) {
  const filter = {
    ...(types.length > 0 ? { type_filter: [...types] } : {}),
    ...(q === '' ? {} : { search: q }),
  }
  const key = JSON.stringify(filter)
  const [came, setCame] = useState<{ key: string; lines: readonly Line[] }>({ key, lines: [] })
  const fresh = came.key === key ? came.lines : []
  const stored = useInfiniteQuery({
    queryKey: ['apps', projectId, String(configId), 'logs', filter],
    initialPageParam: 0,
    refetchOnWindowFocus: false,
    gcTime: 0,
    queryFn({ signal, pageParam }) {
      const path = '/api/projects/{project_id}/plugin_configs/{id}/logs/' as const
      const query = { limit: String(PER_PAGE), offset: pageParam, ...filter } as Record<string, unknown>
      return answer(
        api.GET(path, { params: { path: { project_id: projectId, id: String(configId) }, query }, signal }),
      )
    },
    // Lines that came since the first page have moved the others down by as many.
    getNextPageParam: ({ next }, pages) =>
      next === null ? undefined : pages.flatMap(({ results }) => results).length + fresh.length,
  })
  const first = stored.data?.pages[0]
  const query = new URLSearchParams({ last_event_id: String(first?.results[0]?.id ?? 0) })
  if (q !== '') query.set('search', q)
  if (types.length > 0) query.set('type_filter', types.join(','))
  const take = (lines: readonly Line[]) =>
    setCame((before) => {
      const kept = before.key === key ? before.lines : []
      const known = new Set(kept.map(({ id }) => id))
      return { key, lines: [...lines.filter(({ id }) => !known.has(id)), ...kept].slice(0, MOST_KEPT) }
    })
  const state = useStream({
    url:
      first === undefined
        ? null
        : `/api/projects/${projectId}/plugin_configs/${configId}/logs/stream/?${query}`,
    on: { log: (line) => take([line as Line]), gap: () => void stored.refetch() },
    poll: () => void stored.refetch(),
  })
  const lines = distinct([...fresh, ...(stored.data?.pages.flatMap(({ results }) => results) ?? [])])
  return {
    lines,
    state,
    isPending: stored.isPending,
    error: stored.isError && lines.length === 0 ? stored.error : null,
    hasMore: stored.hasNextPage,
    more: () => void (stored.hasNextPage && !stored.isFetchingNextPage && stored.fetchNextPage()),
    retry: () => void stored.refetch(),
  }
}

function distinct(lines: readonly Line[]): Line[] {
  return [...new Map(lines.map((line) => [line.id, line])).values()].toSorted(
    (one, other) => other.id - one.id,
  )
}
