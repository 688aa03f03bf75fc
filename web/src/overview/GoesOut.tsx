// Exports as strips of their last runs, each with its state and how fresh it is.
import { Button } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { linkToExport } from '../batch-exports/addresses'
import type { ExportStatus } from '../batch-exports/queries'
import { RecentRuns } from '../batch-exports/RecentRuns'
import { behindText, exportState } from '../batch-exports/states'
import { DataTable, type Column } from '../ui/DataTable'
import { durationText } from '../ui/format'
import { Empty, Failed, Loading } from '../ui/States'
import { Status } from '../ui/Status'
import { TextLink } from '../ui/TextLink'
import { Count } from '../ui/Values'
import { Section } from './Section'

type Props = { projectId: string; exports: UseQueryResult<{ results: ExportStatus[] }> }

export function GoesOut({ projectId, exports }: Props) {
  const navigate = useNavigate()
  if (exports.isPending)
    return (
      <Section title="Goes out">
        <Loading rows={3} label="Loading exports" />
      </Section>
    )
  if (exports.data === undefined)
    return (
      <Section title="Goes out">
        <Failed
          error={exports.error}
          what="The exports could not be listed."
          onRetry={() => void exports.refetch()}
        />
      </Section>
    )
  const all = exports.data.results
  if (all.length === 0)
    return (
      <Section title="Goes out">
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
          An export takes these events to a bucket or a warehouse, each of them once. Its state and its last
          runs stand here.
        </Empty>
      </Section>
    )
  return (
    <Section
      title="Goes out"
      beside={
        <TextLink to="/project/$projectId/exports" params={{ projectId }}>
          All exports
        </TextLink>
      }
    >
      <DataTable
        label="Exports"
        columns={columnsOf(projectId)}
        rows={all}
        rowKey={({ id }) => id}
        openLabel={({ name }) => `Open ${name}`}
        onOpen={({ id }) => void navigate(linkToExport({ projectId, exportId: id }, 'runs'))}
      />
    </Section>
  )
}

function columnsOf(projectId: string): readonly Column<ExportStatus>[] {
  return [
    {
      key: 'name',
      title: 'Export',
      width: 'minmax(120px, 2fr)',
      cell: ({ name }) => <b title={name}>{name}</b>,
    },
    {
      key: 'state',
      title: 'State',
      width: '110px',
      cell: (each) => {
        const { kind, text } = exportState(each)
        return <Status kind={kind}>{kind === 'waiting' ? 'Waiting' : text}</Status>
      },
    },
    {
      key: 'newest',
      title: 'Newest exported event',
      width: '164px',
      isExtra: true,
      cell: ({ newest_delivered_age_s: age }) =>
        age === null ? <span className="quiet">none yet</span> : `${durationText(age)} old`,
    },
    {
      key: 'behind',
      title: 'Freshness',
      width: '172px',
      isExtra: true,
      cell: (each) => behindText(each) ?? '–',
    },
    {
      key: 'rows',
      title: 'Waiting, at most',
      width: '120px',
      align: 'end',
      isExtra: true,
      cell: ({ rows_behind }) => <Count value={rows_behind} />,
    },
    {
      key: 'error',
      title: 'Last error',
      width: '1fr',
      isExtra: true,
      cell: ({ last_run }) =>
        last_run?.latest_error ? (
          <span title={last_run.latest_error}>{last_run.latest_error}</span>
        ) : (
          <span className="quiet">none</span>
        ),
    },
    {
      key: 'runs',
      title: 'Last runs',
      width: 'minmax(84px, 180px)',
      align: 'end',
      cell: (each) => <RecentRuns path={{ projectId, exportId: each.id }} runs={each.recent_runs} />,
    },
  ]
}
