// The waiting line: it breathes until the first event arrives, and then shows that event.
import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { personName } from '../events/columns'
import { Failed } from '../ui/States'
import { Status } from '../ui/Status'
import { Time } from '../ui/Values'
import classes from './FirstEvent.module.css'
import type { FirstEvent as First } from './first-event'

type Props = { projectId: string; first: First; outcome: string }

export function FirstEvent({
  projectId,
  first: { event, state, hasJustCome, error, retry },
  outcome,
}: Props) {
  if (event === null && error !== null)
    return <Failed error={error} what="The events could not be looked at." onRetry={retry} />
  if (event === null)
    return (
      <>
        <Text c="dimmed" size="sm">
          {outcome}
        </Text>
        <p className={classes.line} role="status">
          <span className={classes.dot} aria-hidden="true" />
          Waiting for the first event{state === 'polling' ? ', looking every 5 seconds' : ''}
        </p>
      </>
    )
  return (
    <div className={classes.line} data-arrived role="status">
      <Status kind="delivered">{hasJustCome ? 'The first event is here' : 'Events are coming in'}</Status>
      <Link
        to="/project/$projectId/events"
        params={{ projectId }}
        search={{ open: event.id }}
        className={classes.event}
      >
        <b>{event.event}</b>
        <span className="quiet"> from </span>
        {personName(event)}
        <span className="quiet">
          {' '}
          at <Time value={event.timestamp} style="second" />
        </span>
      </Link>
    </div>
  )
}
