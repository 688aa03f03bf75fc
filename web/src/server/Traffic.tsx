import { Text } from '@mantine/core'
import { Facts } from '../ui/Facts'
import { countText } from '../ui/format'
import { Bytes, Count } from '../ui/Values'
import { busyQueues, type Part } from './health'
import classes from './Meter.module.css'

const Missing = () => <Text c="dimmed">Could not be read.</Text>

export function IngestionFacts({ ingestion }: { ingestion: Part<'ingestion'> }) {
  if (ingestion === null) return <Missing />
  const { events_per_minute: minutes, waiting, held_events, stored_events } = ingestion
  const most = Math.max(1, ...minutes)
  const last = minutes.at(-1) ?? 0
  return (
    <>
      <div
        className={classes.bars}
        role="img"
        aria-label={`Events per minute, oldest first: ${minutes.map(countText).join(', ')}`}
      >
        {minutes.map((count, index) => (
          <div
            key={index}
            className={classes.bar}
            style={{ height: `${(count / most) * 100}%` }}
            title={countText(count)}
          />
        ))}
      </div>
      <Facts
        facts={[
          ['Last minute', <Count key="last" value={last} />],
          ['Since the start', <Count key="all" value={stored_events} />],
          [
            'Waiting to be stored',
            <span key="waiting">
              <Count value={waiting.events} /> (<Bytes value={waiting.bytes} />)
            </span>,
          ],
          ['Waiting for an app', <Count key="held" value={held_events.in_line + held_events.alone} />],
        ]}
      />
    </>
  )
}

export function QueueFacts({ queues }: { queues: Part<'queues'> }) {
  if (queues === null) return <Missing />
  const waiting = busyQueues(queues.jobs_waiting)
  const failed = busyQueues(queues.jobs_failed)
  const listed = (busy: [string, number][]) =>
    busy.length === 0 ? (
      <span className="quiet">none</span>
    ) : (
      busy.map(([name, count]) => `${name} ${countText(count)}`).join(', ')
    )
  return (
    <Facts
      facts={[
        [
          'Runs of exports',
          <span key="runs">
            <Count value={queues.export_runs.running} /> running, <Count value={queues.export_runs.waiting} />{' '}
            waiting
          </span>,
        ],
        ['Jobs waiting', listed(waiting)],
        ['Jobs given up', listed(failed)],
      ]}
    />
  )
}
