// Events a minute for the last hour, by kind, as they come.
import { Link } from '@tanstack/react-router'
import { eventIs } from '../events/filter'
import { Chart } from '../ui/chart/Chart'
import { countText } from '../ui/format'
import { Failed, Loading } from '../ui/States'
import { Status } from '../ui/Status'
import { TextLink } from '../ui/TextLink'
import type { Kind } from './incoming'
import { useIncoming } from './live-incoming'
import classes from './Overview.module.css'
import { Section } from './Section'

export function ComesIn({ projectId }: { projectId: string }) {
  const { counted, state, incoming } = useIncoming(projectId)
  const { minutes, kinds, total, lastMinute } = incoming
  const all = (
    <TextLink to="/project/$projectId/events" params={{ projectId }} search={{ live: true }}>
      Watch them come in
    </TextLink>
  )
  if (counted.isPending)
    return (
      <Section title="Comes in">
        <Loading rows={6} label="Counting events" />
      </Section>
    )
  if (counted.isError && counted.data === undefined)
    return (
      <Section title="Comes in">
        <Failed
          error={counted.error}
          what="The events could not be counted."
          onRetry={() => void counted.refetch()}
        />
      </Section>
    )
  return (
    <Section
      title="Comes in"
      beside={
        <>
          <Status kind={state === 'live' ? 'delivered' : 'waiting'}>
            {state === 'live' ? 'live' : state === 'polling' ? 'every 5 seconds' : 'connecting'}
          </Status>
          {all}
        </>
      }
    >
      <div className={classes.incoming}>
        <dl className={classes.figures}>
          <Figure value={lastMinute} words="events in the last minute" />
          <Figure value={total} words="in the last hour" />
        </dl>
        <div className={classes.chart}>
          <Chart
            label="Events a minute in the last hour"
            kind="stacked"
            x={{ kind: 'time', values: minutes }}
            series={
              kinds.length === 0 ? [{ label: 'events', values: minutes.map(() => 0) }] : kinds.map(seriesOf)
            }
            hasLegend={false}
            height={220}
          />
        </div>
        {kinds.length === 0 ? (
          <p className="quiet">
            No events of the last hour. An event counts at its own time, not when it arrived.
          </p>
        ) : (
          <ul className={classes.kinds} aria-label="Kinds of events">
            {kinds.map((kind, at) => (
              <li key={kind.label} className={classes.kind}>
                <span
                  className={classes.swatch}
                  aria-hidden="true"
                  style={{ '--color': `var(--ls-${colorAt(kind, at)})` } as object}
                />
                {kind.event === null ? (
                  <span className="quiet">{kind.label}</span>
                ) : (
                  <Link
                    to="/project/$projectId/events"
                    params={{ projectId }}
                    search={{ filters: [eventIs(kind.event)], after: '-1h' }}
                    className={classes.name}
                  >
                    {kind.label}
                  </Link>
                )}
                <span className={classes.count}>{countText(kind.total)}</span>
              </li>
            ))}
          </ul>
        )}
      </div>
    </Section>
  )
}

const COLORS = [
  'series-1',
  'series-2',
  'series-3',
  'series-4',
  'series-5',
  'series-6',
  'series-7',
  'series-8',
] as const
const colorAt = (kind: Kind, at: number) => (kind.event === null ? 'series-8' : COLORS[at % COLORS.length]!)
const seriesOf = (kind: Kind, at: number) => ({
  label: kind.label,
  values: kind.values,
  color: colorAt(kind, at),
})

function Figure({ value, words }: { value: number; words: string }) {
  return (
    <div className={classes.figure}>
      <dt>{words}</dt>
      <dd>{countText(value)}</dd>
    </div>
  )
}
