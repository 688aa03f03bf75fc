// What came of a trial: the event as a difference, what went wrong, what was said, what would have been called.
import { Title } from '@mantine/core'
import { bytesText, durationText } from '../../ui/format'
import { Status } from '../../ui/Status'
import { differenceOf, hasChanges } from './difference'
import { Lines } from './Lines'
import classes from './TryPane.module.css'
import type { TrialResult } from './useTrial'

export function TrialOutcome({ result }: { result: TrialResult }) {
  const { event, before, error, ms, memory_bytes } = result
  const lines = event === null || error !== null ? [] : differenceOf(before, event)
  const isChanged = hasChanges(lines)
  // The server's own lines about calls stand below, as calls.
  const logs = result.logs.filter(({ source, type }) => source === 'CONSOLE' || type !== 'INFO')
  return (
    <>
      <div className={classes.outcome}>
        {error !== null ? (
          <Status kind="failed">Failed</Status>
        ) : event === null ? (
          <Status kind="skipped">Dropped: the event is not stored</Status>
        ) : (
          <Status kind="delivered">{isChanged ? 'Changed' : 'Ran, and left the event as it is'}</Status>
        )}
        <span className="quiet">
          {durationText(ms / 1000)}
          {memory_bytes !== null && `, ${bytesText(memory_bytes)} of memory`}
        </span>
      </div>
      {error !== null && (
        <div className={`${classes.fault} mono`}>
          <b>{error.name}</b>: {error.message}
          {placeIn(error.stack) !== null && <div>at {placeIn(error.stack)}</div>}
        </div>
      )}
      {isChanged && <Lines label="The event, before and after" lines={lines} />}
      {logs.length > 0 && (
        <>
          <Title order={3}>Said</Title>
          <ul className={`${classes.logs} mono`}>
            {logs.map(({ type, message }, index) => (
              <li key={index} data-type={type}>
                {message}
              </li>
            ))}
          </ul>
        </>
      )}
      {result.calls.length > 0 && (
        <>
          <Title order={3}>
            {result.calls.some(({ was_made }) => was_made) ? 'Called' : 'Would have called'}
          </Title>
          {result.calls.map(({ kind, target, detail, was_made }, index) => (
            <div key={index} className={classes.call}>
              <span className="quiet">{kind}</span> <span className="mono">{target}</span>
              {!was_made && kind === 'fetch' && <span className="quiet"> (not sent)</span>}
              {Object.values(detail).some((value) => value !== null) && (
                <pre className={`${classes.detail} mono`} tabIndex={0}>
                  {JSON.stringify(detail, null, 2)}
                </pre>
              )}
            </div>
          ))}
        </>
      )}
    </>
  )
}

const placeIn = (stack: string): string | null => /\bindex\.ts:\d+:\d+/.exec(stack)?.[0] ?? null
