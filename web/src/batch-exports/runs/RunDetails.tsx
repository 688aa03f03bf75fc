// One run: what it delivered, how long it took, why it failed and what to do, its files and its log, live while it runs.
import { Anchor, Button, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, api } from '../../api/client'
import { Confirm } from '../../ui/Confirm'
import { durationText } from '../../ui/format'
import { done } from '../../ui/notify'
import { Failed, Loading } from '../../ui/States'
import { Status } from '../../ui/Status'
import { Bytes, Copyable, Count, Time } from '../../ui/Values'
import { exportRoute, linkToExport, useExportPath } from '../addresses'
import { Facts } from '../Facts'
import { exportKey, pathOf, runQuery, type Export, type Run } from '../queries'
import { adviceFor, isLive, originText, runState } from '../states'
import { useBackfillKinds } from './backfill-kinds'
import { expectedEndOf, originOf, progressOf, rateText, rowsPerSecond, secondsAtWork } from './figures'
import { IntervalText } from './IntervalText'
import classes from './RunDetails.module.css'
import { RunFiles } from './RunFiles'
import { RunLog } from './RunLog'

export function RunDetails({ data, runId }: { data: Export; runId: string }) {
  const path = useExportPath()
  const run = useQuery(runQuery(path, runId))
  if (run.isPending) return <Loading />
  if (run.isError)
    return <Failed error={run.error} what="This run could not be shown." onRetry={() => void run.refetch()} />
  return (
    <Stack gap="lg">
      <Head data={data} run={run.data} />
      <Problem run={run.data} />
      <RunFacts run={run.data} expectedEnd={expectedEndOf(run.data, data.freshness)} />
      <RunFiles files={run.data.files} />
      <section aria-label="Log of this run">
        <Title order={2} mb="sm">
          Log
        </Title>
        <RunLog run={run.data} />
      </section>
    </Stack>
  )
}

function Head({ data, run }: { data: Export; run: Run }) {
  const [asking, setAsking] = useState<'cancel' | 'retry' | null>(null)
  const path = useExportPath()
  const queries = useQueryClient()
  const navigate = exportRoute.useNavigate()
  const { kind, text } = runState(run.status)
  const runPath = { params: { path: { ...pathOf(path), id: run.id } } }
  const refresh = () => queries.invalidateQueries({ queryKey: exportKey(path) })
  const retry = async () => {
    await answer(
      api.POST('/api/projects/{project_id}/batch_exports/{batch_export_id}/runs/{id}/retry/', runPath),
    )
    await refresh()
    done('The run is repeated: the new one is in the list.')
    await navigate({ search: (before) => ({ ...before, run: undefined, status: undefined }) })
  }
  const cancel = async () => {
    await answer(
      api.POST('/api/projects/{project_id}/batch_exports/{batch_export_id}/runs/{id}/cancel/', runPath),
    )
    await refresh()
    done('The run is cancelled.')
  }
  return (
    <Group justify="space-between" gap="sm">
      <div>
        <Status kind={kind} progress={progressOf(run, expectedEndOf(run, data.freshness), Date.now())}>
          {text}
        </Status>
        <Text fw={500} mt={4}>
          <IntervalText {...run} />
        </Text>
      </div>
      <Button
        variant={runState(run.status).kind === 'failed' ? 'filled' : 'default'}
        onClick={() => setAsking(isLive(run.status) ? 'cancel' : 'retry')}
      >
        {isLive(run.status) ? 'Cancel run' : 'Retry run'}
      </Button>
      <Confirm
        // A run may end by itself while somebody still thinks about it.
        isOpen={asking === 'cancel' && isLive(run.status)}
        onClose={() => setAsking(null)}
        title="Cancel this run"
        button="Cancel run"
        onConfirm={cancel}
      >
        {data.destination.type === 'HTTP'
          ? 'Batches that were posted stay there.'
          : 'Nothing half-written stays at the destination.'}{' '}
        Its rows count as pending until the run is retried.
      </Confirm>
      <Confirm
        isOpen={asking === 'retry'}
        onClose={() => setAsking(null)}
        title="Retry this run"
        button="Retry run"
        isHarmless
        onConfirm={retry}
      >
        A new run delivers the same rows to the same names or keys, with the settings of now. Nothing is
        doubled.
      </Confirm>
    </Group>
  )
}

function Problem({ run }: { run: Run }) {
  const path = useExportPath()
  const advice = adviceFor(run)
  if (run.latest_error === null && advice === null) return null
  return (
    <div className={classes.problem} data-live={isLive(run.status) || undefined}>
      {run.latest_error !== null && <Text className={classes.error}>{run.latest_error}</Text>}
      {advice !== null && <Text c="dimmed">{advice}</Text>}
      <Group gap="lg" mt={4}>
        <Anchor size="sm" renderRoot={(props) => <Link {...linkToExport(path, 'settings')} {...props} />}>
          Change settings and test them
        </Anchor>
      </Group>
    </div>
  )
}

function RunFacts({ run, expectedEnd }: { run: Run; expectedEnd: string | null }) {
  const path = useExportPath()
  const seconds = secondsAtWork(run, Date.now())
  const rate = rowsPerSecond(run)
  const origin = originText(originOf(run, useBackfillKinds(path)))
  const left = run.records_total_count !== null && run.records_completed === null
  return (
    <Facts
      facts={[
        [
          'Rows',
          left ? (
            <>{<Count value={run.records_total_count} />} to deliver</>
          ) : (
            <Count value={run.records_completed} />
          ),
        ],
        ['Size', <Bytes value={run.bytes_exported} />],
        ['Attempts', <Count value={run.attempts} />],
        ['Took', seconds === null ? '–' : durationText(seconds)],
        ['Rate', rate === null ? '–' : rateText(rate)],
        ['Started', run.started_at === null ? 'not yet' : <Time value={run.started_at} style="second" />],
        ['Ended', run.finished_at === null ? 'not yet' : <Time value={run.finished_at} style="second" />],
        expectedEnd !== null && ['Expected end', <Time value={expectedEnd} style="second" />],
        run.waiting_for !== null && ['Waits for', run.waiting_for],
        [
          'Started by',
          run.backfill === null ? (
            origin
          ) : (
            <Anchor renderRoot={(props) => <Link {...linkToExport(path, 'backfills')} {...props} />}>
              {origin}
            </Anchor>
          ),
        ],
        run.table !== null && ['Table', <Copyable value={run.table} />],
        ['Id', <Copyable value={run.id} />],
      ]}
    />
  )
}
