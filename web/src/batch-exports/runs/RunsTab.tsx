// The runs of an export: as columns over time and as a table. A run opens at the right, with its own address.
import { Group, SegmentedControl, Select, Text } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { DataTable, type Column } from '../../ui/DataTable'
import { Details } from '../../ui/Details'
import { countOf, countText, durationText, timeText } from '../../ui/format'
import { Empty, Failed, Loading } from '../../ui/States'
import { Status } from '../../ui/Status'
import { Bytes, Count, Time, useZone } from '../../ui/Values'
import { exportRoute, linkToExport, useExportPath } from '../addresses'
import { nextRunsQuery, runsQuery, type Export, type Run } from '../queries'
import { RunBars } from '../RunBars'
import type { ExportSearch } from '../search'
import { originText, RUN_FILTERS, runState } from '../states'
import { useBackfillKinds, type BackfillKinds } from './backfill-kinds'
import { originOf, rateText, rowsPerSecond, secondsAtWork } from './figures'
import { IntervalText } from './IntervalText'
import { RunDetails } from './RunDetails'
import classes from './RunsTab.module.css'

const SINCE = [
  { value: '24h', label: 'Last 24 hours' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
  { value: '3650d', label: 'All' },
]
/** As many columns as fit a wide page. */
const MOST_COLUMNS = 120

export function RunsTab({ data }: { data: Export }) {
  const path = useExportPath()
  const { run: openRun, status = 'all', since = '7d' } = exportRoute.useSearch()
  const navigate = exportRoute.useNavigate()
  const change = (search: Partial<ExportSearch>, replace = true) =>
    void navigate({ search: (before) => ({ ...before, ...search }), replace })
  const filter = RUN_FILTERS.find(({ value }) => value === status) ?? RUN_FILTERS[0]!
  const after = SINCE.find(({ value }) => value === since)?.value ?? '7d'
  const runs = useInfiniteQuery(runsQuery(path, { status: filter.statuses, after: `-${after}` }))
  const kinds = useBackfillKinds(path)
  const rows = runs.data?.pages.flatMap(({ results }) => results) ?? []

  return (
    <>
      <Group gap="sm" mb="md" justify="space-between">
        <Group gap="sm">
          <SegmentedControl
            aria-label="State of the runs"
            data={RUN_FILTERS.map(({ value, label }) => ({ value, label }))}
            value={filter.value}
            onChange={(value) => change({ status: value === 'all' ? undefined : value })}
          />
          <Select
            aria-label="Since"
            data={SINCE}
            value={after}
            allowDeselect={false}
            w={150}
            onChange={(value) => change({ since: value === '7d' ? undefined : (value ?? undefined) })}
          />
        </Group>
        <NextRun data={data} />
      </Group>
      {runs.isPending ? (
        <Loading />
      ) : runs.isError && rows.length === 0 ? (
        <Failed error={runs.error} what="The runs could not be listed." onRetry={() => void runs.refetch()} />
      ) : rows.length === 0 ? (
        <Empty title="No runs">
          {filter.value === 'all' && data.latest_runs.length === 0
            ? 'A run delivers the events of one interval. The first starts when the current interval has ended.'
            : 'No run of this time is in this state. Choose another state or a longer time.'}
        </Empty>
      ) : (
        <>
          <Timeline rows={rows} />
          <DataTable
            label="Runs"
            columns={columnsOf(kinds)}
            rows={rows}
            rowKey={({ id }) => id}
            openKey={openRun}
            openLabel={(row) => `${runState(row.status).text} run of ${row.data_interval_end}`}
            onOpen={({ id }) => change({ run: id }, false)}
            onEnd={() => runs.hasNextPage && !runs.isFetchingNextPage && void runs.fetchNextPage()}
            foot={runs.isFetchingNextPage ? 'Loading more.' : `${countOf(rows.length, 'run')}.`}
          />
        </>
      )}
      <Details isOpen={openRun !== undefined} onClose={() => change({ run: undefined }, false)} title="Run">
        {openRun !== undefined && <RunDetails key={openRun} data={data} runId={openRun} />}
      </Details>
    </>
  )
}

function NextRun({ data }: { data: Export }) {
  const { data: next } = useQuery(nextRunsQuery(useExportPath()))
  const first = next?.results[0]
  if (data.paused || !first) return null
  return (
    <Text size="sm" c="dimmed">
      Next run <Time value={first.due} />
    </Text>
  )
}

function Timeline({ rows }: { rows: readonly Run[] }) {
  const path = useExportPath()
  const zone = useZone()
  const search = exportRoute.useSearch()
  const bars = rows
    .slice(0, MOST_COLUMNS)
    .toReversed()
    .map(({ id, status, records_completed, data_interval_end }) => ({
      key: id,
      kind: runState(status).kind,
      rows: records_completed ?? 0,
      title: `${runState(status).text}, ${timeText(data_interval_end, zone, 'minute')}, ${countText(records_completed ?? 0)} rows`,
      link: linkToExport(path, 'runs', { ...search, run: id }),
    }))
  return (
    <div className={classes.timeline}>
      <RunBars
        bars={bars}
        most={Math.max(...bars.map(({ rows: each }) => each))}
        summary={`${bars.length === 1 ? 'One run' : `The last ${bars.length} runs`} by rows; the same is in the table below.`}
      />
    </div>
  )
}

const columnsOf = (kinds: BackfillKinds): readonly Column<Run>[] => [
  {
    key: 'interval',
    title: 'Interval',
    width: 'minmax(156px, 1.4fr)',
    cell: (run) => <IntervalText {...run} />,
  },
  {
    key: 'status',
    title: 'State',
    width: '98px',
    cell: ({ status }) => <Status kind={runState(status).kind}>{runState(status).text}</Status>,
  },
  {
    key: 'rows',
    title: 'Rows',
    width: 'minmax(58px, 80px)',
    align: 'end',
    cell: (run) => <Count value={run.records_completed ?? run.records_total_count} />,
  },
  {
    key: 'bytes',
    title: 'Size',
    width: '90px',
    align: 'end',
    isExtra: true,
    cell: ({ bytes_exported }) => <Bytes value={bytes_exported} />,
  },
  {
    key: 'duration',
    title: 'Took',
    width: '90px',
    align: 'end',
    isExtra: true,
    cell: (run) => <Took run={run} />,
  },
  {
    key: 'rate',
    title: 'Rate',
    width: '110px',
    align: 'end',
    isExtra: true,
    cell: (run) => <Rate run={run} />,
  },
  {
    key: 'attempts',
    title: 'Attempts',
    width: '80px',
    align: 'end',
    isExtra: true,
    cell: ({ attempts }) => <Count value={attempts} />,
  },
  {
    key: 'by',
    title: 'Started by',
    width: '100px',
    isExtra: true,
    cell: (run) => originText(originOf(run, kinds)),
  },
  {
    key: 'error',
    title: 'Error',
    width: '2fr',
    isExtra: true,
    cell: (run) => <span className="quiet">{run.latest_error ?? run.waiting_for ?? ''}</span>,
  },
]

function Took({ run }: { run: Run }) {
  const seconds = secondsAtWork(run, Date.now())
  return <span>{seconds === null ? '–' : durationText(seconds)}</span>
}

function Rate({ run }: { run: Run }) {
  const rate = rowsPerSecond(run)
  return <span>{rate === null ? '–' : rateText(rate)}</span>
}
