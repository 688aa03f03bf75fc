// Backfills: a calendar with what is already exported, asking for one, and how far those asked for have come.
import { Button, Progress, Title } from '@mantine/core'
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { answer, api } from '../../api/client'
import { Confirm } from '../../ui/Confirm'
import { DataTable, type Column } from '../../ui/DataTable'
import { countOf, countText } from '../../ui/format'
import { done } from '../../ui/notify'
import { Empty, Failed, Loading } from '../../ui/States'
import { Status } from '../../ui/Status'
import { Count, Time } from '../../ui/Values'
import { exportRoute, linkToExport, useExportPath } from '../addresses'
import {
  backfillsQuery,
  daysQuery,
  exportKey,
  lastEndOf,
  pathOf,
  type Backfill,
  type Export,
} from '../queries'
import { backfillText, isLive, runState } from '../states'
import classes from './BackfillsTab.module.css'
import { Calendar } from './Calendar'
import { rangeOfDays } from './days'
import { RangeDialog } from './RangeDialog'

export function BackfillsTab({ data }: { data: Export }) {
  const path = useExportPath()
  const navigate = exportRoute.useNavigate()
  const days = useQuery({ ...daysQuery(path), enabled: data.model === 'events' })
  const backfills = useInfiniteQuery(backfillsQuery(path))
  const [cancelling, setCancelling] = useState<Backfill | null>(null)
  const queries = useQueryClient()
  const until = lastEndOf(data)
  const rows = backfills.data?.pages.flatMap(({ results }) => results) ?? []

  const live = rows.filter(({ status }) => isLive(status)).length
  const delivered = rows.reduce((sum, { progress }) => sum + progress.finished_runs, 0)
  // What a backfill has delivered, the calendar shows, run by run.
  useEffect(() => {
    void queries.invalidateQueries({ queryKey: daysQuery(path).queryKey })
  }, [live, delivered])

  const cancel = async () => {
    await answer(
      api.POST('/api/projects/{project_id}/batch_exports/{batch_export_id}/backfills/{id}/cancel/', {
        params: { path: { ...pathOf(path), id: cancelling!.id } },
      }),
    )
    await queries.invalidateQueries({ queryKey: exportKey(path) })
    done('The backfill is cancelled.')
  }

  return (
    <div className={classes.tab}>
      {data.model === 'events' && (
        <section aria-label="Calendar">
          {days.isPending ? (
            <Loading rows={5} />
          ) : days.isError && !days.data ? (
            <Failed
              error={days.error}
              what="The calendar could not be drawn up."
              onRetry={() => void days.refetch()}
            />
          ) : (
            <Calendar
              days={days.data!.results}
              onChoose={(one, other) =>
                void navigate({
                  search: (before) => ({ ...before, ...rangeOfDays(one, other, until), ask: 'backfill' }),
                })
              }
            />
          )}
        </section>
      )}
      <section aria-label="Asked for">
        {rows.length > 0 && (
          <Title order={2} mb="sm">
            Asked for
          </Title>
        )}
        {backfills.isPending ? (
          <Loading rows={3} />
        ) : backfills.isError && rows.length === 0 ? (
          <Failed
            error={backfills.error}
            what="The backfills could not be listed."
            onRetry={() => void backfills.refetch()}
          />
        ) : rows.length === 0 ? (
          <Empty
            title="No backfills yet"
            action={
              <Button
                renderRoot={(props) => (
                  <Link {...linkToExport(path, 'backfills', { ask: 'backfill' })} {...props} />
                )}
              >
                Backfill a range
              </Button>
            }
          >
            A backfill delivers events that the export has not delivered: from before it was made, from a
            pause, or from failed runs.
          </Empty>
        ) : (
          <DataTable
            label="Backfills"
            columns={columnsOf(setCancelling)}
            rows={rows}
            rowKey={({ id }) => id}
            onEnd={() =>
              backfills.hasNextPage && !backfills.isFetchingNextPage && void backfills.fetchNextPage()
            }
          />
        )}
      </section>
      <RangeDialog data={data} />
      <Confirm
        isOpen={cancelling !== null}
        onClose={() => setCancelling(null)}
        title="Cancel this backfill"
        button="Cancel backfill"
        onConfirm={cancel}
      >
        Its runs at work are stopped, and those to come are not made. What it has delivered stays.
      </Confirm>
    </div>
  )
}

const columnsOf = (onCancel: (backfill: Backfill) => void): readonly Column<Backfill>[] => [
  { key: 'what', title: 'What', width: 'minmax(130px, 1fr)', cell: ({ kind }) => backfillText(kind) },
  {
    key: 'status',
    title: 'State',
    width: '110px',
    cell: ({ status }) => <Status kind={runState(status).kind}>{runState(status).text}</Status>,
  },
  { key: 'progress', title: 'Progress', width: 'minmax(110px, 1fr)', cell: (row) => <HowFar {...row} /> },
  {
    key: 'from',
    title: 'From',
    width: '120px',
    isExtra: true,
    cell: (row) =>
      row.start_at === null ? 'first event' : <Time value={row.adjusted_start_at ?? row.start_at} />,
  },
  {
    key: 'to',
    title: 'To',
    width: '120px',
    isExtra: true,
    cell: ({ end_at }) => (end_at === null ? 'caught up' : <Time value={end_at} />),
  },
  {
    key: 'rows',
    title: 'Rows',
    width: '90px',
    align: 'end',
    isExtra: true,
    cell: (row) => <Count value={row.total_records_count ?? row.rows_to_deliver} />,
  },
  {
    key: 'asked',
    title: 'Asked for',
    width: '120px',
    isExtra: true,
    cell: ({ created_at }) => <Time value={created_at} />,
  },
  {
    key: 'cancel',
    title: <span className="aloud">Actions</span>,
    width: '80px',
    align: 'end',
    cell: (row) =>
      isLive(row.status) ? (
        <Button variant="subtle" size="compact-sm" onClick={() => onCancel(row)}>
          Cancel
        </Button>
      ) : null,
  },
]

function HowFar({ status, progress: { total_runs, finished_runs, progress } }: Backfill) {
  const text = `${countText(finished_runs)} of ${countOf(total_runs, 'run')}`
  if (!isLive(status)) return <span>{text}</span>
  return (
    <div className={classes.progress}>
      <Progress value={(progress ?? 0) * 100} aria-label={text} />
      <span>{text}</span>
    </div>
  )
}
