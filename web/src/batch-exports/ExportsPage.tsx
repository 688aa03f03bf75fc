// All exports of a project: what state each is in, where it goes, how fresh it is, and its last runs.
import { Button, Group, SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { countText } from '../ui/format'
import { DataTable, type Column } from '../ui/DataTable'
import { GuardedLink } from '../ui/Guarded'
import { Icon } from '../ui/Icon'
import { Page } from '../ui/Page'
import { SearchInput } from '../ui/SearchInput'
import { Empty, Failed, Loading } from '../ui/States'
import { Status } from '../ui/Status'
import { Time } from '../ui/Values'
import { linkToExport, listRoute } from './addresses'
import { KindIcon } from './KindIcon'
import { destinationsQuery, statusQuery, type Destination, type ExportStatus } from './queries'
import { RecentRuns } from './RecentRuns'
import { LIST_FILTERS, type ListFilter } from './search'
import { behindText, exportState, intervalText, reasonOf } from './states'

const FILTER_NAMES: Record<ListFilter, string> = { all: 'All', attention: 'Need attention', paused: 'Paused' }

export function ExportsPage() {
  const { projectId } = listRoute.useParams()
  const { q = '', state = 'all' } = listRoute.useSearch()
  const navigate = listRoute.useNavigate()
  const status = useQuery(statusQuery(projectId))
  const kinds = useQuery(destinationsQuery(projectId)).data?.results ?? []
  const all = status.data?.results ?? []
  const most = status.data?.max_exports ?? Infinity
  const denial =
    all.length < most
      ? null
      : `A project can have ${countText(most)} exports at most. Delete one to make room.`
  const shown = all.filter((each) => matches(each, q, state))

  return (
    <Page
      title="Exports"
      actions={
        all.length > 0 && (
          <GuardedLink
            denial={denial}
            link={{ to: '/project/$projectId/exports/new', params: { projectId } }}
            icon={<Icon name="plus" />}
          >
            Create export
          </GuardedLink>
        )
      }
    >
      {status.isPending ? (
        <Loading rows={6} />
      ) : status.isError && all.length === 0 ? (
        <Failed
          error={status.error}
          what="The exports could not be listed."
          onRetry={() => void status.refetch()}
        />
      ) : all.length === 0 ? (
        <Empty
          title="No exports yet"
          action={
            <Button
              renderRoot={(props) => (
                <Link to="/project/$projectId/exports/new" params={{ projectId }} {...props} />
              )}
            >
              Create export
            </Button>
          }
        >
          An export delivers the events of this project to files, a warehouse or an address, on a schedule,
          and proves that none is missing. Create one to get your events where you need them.
        </Empty>
      ) : (
        <>
          <Group gap="sm" mb="md">
            <SearchInput
              label="Filter by name"
              value={q}
              onChange={(text) =>
                void navigate({ search: (before) => ({ ...before, q: text }), replace: true })
              }
            />
            <SegmentedControl
              aria-label="State"
              data={LIST_FILTERS.map((value) => ({ value, label: FILTER_NAMES[value] }))}
              value={state}
              onChange={(value) =>
                void navigate({
                  search: (before) => ({
                    ...before,
                    state: value === 'all' ? undefined : (value as ListFilter),
                  }),
                  replace: true,
                })
              }
            />
          </Group>
          {shown.length === 0 ? (
            <Empty title="No export matches.">Change the filter to see the others.</Empty>
          ) : (
            <DataTable
              label="Exports"
              columns={columnsOf(projectId, kinds)}
              rows={shown}
              rowKey={({ id }) => id}
              openLabel={({ name }) => `Open ${name}`}
              onOpen={({ id }) => void navigate(linkToExport({ projectId, exportId: id }, 'runs'))}
            />
          )}
        </>
      )}
    </Page>
  )
}

function matches(each: ExportStatus, q: string, state: ListFilter): boolean {
  if (!each.name.toLowerCase().includes(q.trim().toLowerCase())) return false
  if (state === 'paused') return each.paused
  const { kind, text } = exportState(each)
  return state === 'all' || kind === 'failed' || text === 'Late'
}

function columnsOf(projectId: string, kinds: readonly Destination[]): readonly Column<ExportStatus>[] {
  return [
    { key: 'name', title: 'Name', width: 'minmax(130px, 2fr)', cell: ({ name }) => <b>{name}</b> },
    { key: 'state', title: 'State', width: '104px', cell: (each) => <ExportStateMark {...each} /> },
    {
      key: 'destination',
      title: 'Destination',
      width: 'minmax(110px, 1fr)',
      isExtra: true,
      cell: ({ destination_type }) => <KindIcon type={destination_type} kinds={kinds} withName />,
    },
    {
      key: 'schedule',
      title: 'Schedule',
      width: '130px',
      isExtra: true,
      cell: ({ interval }) => intervalText(interval),
    },
    {
      key: 'newest',
      title: 'Newest exported',
      width: '124px',
      isExtra: true,
      cell: (each) => <Time value={each.newest_delivered_at ?? each.last_completed_at} />,
    },
    {
      key: 'behind',
      title: 'Behind',
      width: '172px',
      isExtra: true,
      cell: (each) => (
        <span title={each.rows_behind === null ? undefined : `${countText(each.rows_behind)} rows wait`}>
          {behindText(each) ?? '–'}
        </span>
      ),
    },
    {
      key: 'runs',
      title: 'Last runs',
      width: 'minmax(84px, 200px)',
      align: 'end',
      cell: (each) => <RecentRuns path={{ projectId, exportId: each.id }} runs={each.recent_runs} />,
    },
  ]
}

function ExportStateMark(each: ExportStatus) {
  const { kind, text } = exportState(each)
  return (
    <span title={reasonOf(each)}>
      <Status kind={kind}>{kind === 'waiting' ? 'Waiting' : text}</Status>
    </span>
  )
}
