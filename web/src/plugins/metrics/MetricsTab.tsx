// How calls of an app went over time, and which errors there were.
import { SegmentedControl, Select, Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { answer, api } from '../../api/client'
import { Chart } from '../../ui/chart/Chart'
import { DataTable } from '../../ui/DataTable'
import { Details } from '../../ui/Details'
import { Empty, Failed, Loading } from '../../ui/States'
import { Count, Time } from '../../ui/Values'
import type { App } from '../queries'
import { RANGES, type AppSearch, type Range } from '../search'
import { CALLS, callsOf, momentOf, type Calls } from './categories'
import { Occurrences } from './Occurrences'
import classes from './MetricsTab.module.css'

const page = getRouteApi('/frame/project/$projectId/apps/$configId/$tab')
const REFRESH_MS = 20_000

export function MetricsTab({ projectId, app }: { projectId: string; app: App }) {
  const { calls: asked, range = '24h', error } = page.useSearch()
  const navigate = page.useNavigate()
  const show = (change: Partial<AppSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...change }) })
  const offered = callsOf(app)
  const calls = offered.find((each) => each === asked) ?? offered[0]
  if (calls === undefined)
    return (
      <Empty title="Nothing to count">
        Code for web pages runs in the browsers of visitors. Calls of functions that run here would be counted
        on this page.
      </Empty>
    )
  return (
    <>
      <div className={classes.tools}>
        {offered.length > 1 && (
          <Select
            aria-label="Which calls"
            data={offered.map((value) => ({ value, label: CALLS[value] }))}
            value={calls}
            allowDeselect={false}
            onChange={(value) => show({ calls: value ?? undefined, error: undefined })}
          />
        )}
        <SegmentedControl
          aria-label="Time range"
          data={Object.entries(RANGES).map(([value, label]) => ({ value, label }))}
          value={range}
          onChange={(value) => show({ range: value as Range })}
        />
      </div>
      <Metrics
        projectId={projectId}
        app={app}
        calls={calls}
        range={range}
        onError={(type) => show({ error: type })}
      />
      <Details isOpen={error !== undefined} onClose={() => show({ error: undefined })} title={error}>
        {error !== undefined && <Occurrences projectId={projectId} app={app} calls={calls} type={error} />}
      </Details>
    </>
  )
}

type Props = { projectId: string; app: App; calls: Calls; range: Range; onError: (type: string) => void }

function Metrics({ projectId, app, calls, range, onError }: Props) {
  const query = useQuery({
    queryKey: ['apps', projectId, String(app.id), 'metrics', calls, range],
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
    queryFn({ signal }) {
      const path = '/api/projects/{project_id}/app_metrics/{plugin_config_id}/' as const
      const params = {
        path: { project_id: projectId, plugin_config_id: String(app.id) },
        query: { category: calls, date_from: `-${range}` },
      }
      return answer(api.GET(path, { params, signal }))
    },
  })
  if (query.isPending) return <Loading />
  if (query.isLoadingError)
    return (
      <Failed
        what="The metrics could not be loaded"
        error={query.error}
        onRetry={() => void query.refetch()}
      />
    )
  const { metrics, errors } = query.data
  const { totals } = metrics
  return (
    <>
      <dl className={classes.totals}>
        <Total name="went well" value={totals.successes} />
        <Total name="went well on retry" value={totals.successes_on_retry} />
        <Total name="failed" value={totals.failures} isFailure={totals.failures > 0} />
      </dl>
      <Chart
        label={`${CALLS[calls]}: how they went`}
        kind="stacked"
        x={{ kind: 'time', values: metrics.dates.map(momentOf) }}
        series={[
          { label: 'Went well', values: metrics.successes, color: 'delivered' },
          { label: 'On retry', values: metrics.successes_on_retry, color: 'held' },
          { label: 'Failed', values: metrics.failures, color: 'failed' },
        ]}
      />
      <div className={classes.errors}>
        <Title order={2} mb="sm">
          Errors
        </Title>
        {errors === null || errors.length === 0 ? (
          <p className="quiet">No call failed in this time.</p>
        ) : (
          <DataTable
            label="Errors"
            columns={[
              {
                key: 'type',
                title: 'Error',
                width: '1fr',
                cell: ({ error_type }) => <span className="mono">{error_type}</span>,
              },
              {
                key: 'count',
                title: 'Kept',
                width: '80px',
                align: 'end',
                cell: ({ count }) => <Count value={count} />,
              },
              {
                key: 'last',
                title: 'Last seen',
                width: '130px',
                cell: ({ last_seen }) => <Time value={last_seen} />,
              },
            ]}
            rows={errors}
            rowKey={({ error_type }) => error_type}
            onOpen={({ error_type }) => onError(error_type)}
            openLabel={({ error_type }) => `Open ${error_type}`}
            foot="Of each hour the first 100 errors are kept."
          />
        )}
      </div>
    </>
  )
}

function Total({ name, value, isFailure = false }: { name: string; value: number; isFailure?: boolean }) {
  return (
    <div data-failed={isFailure || undefined}>
      <dt>{name}</dt>
      <dd>
        <Count value={value} />
      </dd>
    </div>
  )
}
