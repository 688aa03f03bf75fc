// How this server is doing, for those who run it: the same facts as /metrics and `longshore doctor`.
import { useQuery } from '@tanstack/react-query'
import { answer, api } from '../api/client'
import { useMe } from '../api/me'
import { durationText } from '../ui/format'
import { Page } from '../ui/Page'
import { Section } from '../ui/Section'
import { Empty, Failed, Loading } from '../ui/States'
import { Status } from '../ui/Status'
import { DiskFacts, MemoryFacts } from './Sizes'
import { IngestionFacts, QueueFacts } from './Traffic'
import { Settings } from './Settings'
import { healthOf, STATES, type Instance } from './health'
import classes from './ServerPage.module.css'

const AGAIN_MS = 10_000

export function ServerPage() {
  const { is_staff } = useMe()
  if (!is_staff)
    return (
      <Page title="Server">
        <Empty title="This page is for those who run the server.">
          Somebody who is staff can make you staff.
        </Empty>
      </Page>
    )
  return <ServerStatus />
}

function ServerStatus() {
  const status = useQuery({
    queryKey: ['instance-status'],
    refetchInterval: AGAIN_MS,
    queryFn: ({ signal }) => answer(api.GET('/api/instance_status/', { signal })),
  })
  if (status.isPending)
    return (
      <Page title="Server">
        <Loading />
      </Page>
    )
  if (status.isLoadingError)
    return (
      <Page title="Server">
        <Failed
          error={status.error}
          what="The server did not say how it is doing."
          onRetry={() => void status.refetch()}
        />
      </Page>
    )
  const { data } = status
  const health = healthOf(data)
  return (
    <Page title="Server" state={<Status kind={health.kind}>{health.text}</Status>}>
      <Section
        title="Health"
        text={`Longshore ${data.version}, up for ${durationText(data.uptime_s)}. Read every ten seconds.`}
      >
        <Stores instance={data} />
      </Section>
      <Section title="Events coming in" text="What was stored in each of the last 15 full minutes.">
        <IngestionFacts ingestion={data.ingestion} />
      </Section>
      <Section title="Queues" text="Background work and runs of exports.">
        <QueueFacts queues={data.queues} />
      </Section>
      <Section title="Memory" text="Of all processes of the server, beside what they may have.">
        <MemoryFacts memory={data.memory} />
      </Section>
      <Section title="Disk" text="The data folder by part, and the room that is left.">
        <DiskFacts disk={data.disk} database={data.database} />
      </Section>
      <Section title="Settings" text="As they are in force. Of secrets only whether they are set." isWide>
        <Settings settings={data.settings} />
      </Section>
    </Page>
  )
}

function Stores({ instance: { stores, failed } }: { instance: Instance }) {
  return (
    <ul className={classes.stores}>
      {stores?.map(({ what, state, detail }) => (
        <li key={what} className={classes.store}>
          <Status kind={STATES[state]}>{what}</Status>
          <span className="quiet">{detail}</span>
        </li>
      ))}
      {failed.map(({ part, reason }) => (
        <li key={part} className={classes.store}>
          <Status kind="failed">{part}</Status>
          <span>could not be read: {reason}</span>
        </li>
      ))}
    </ul>
  )
}
