// Tables that are made of others when they are asked for. What they hold is HogQL, so that every engine has them.
import { SESSION_VALUES } from '../../platform/event-store/export-rows.ts'
import {
  BOUNCE_S,
  SEEN_EVENTS,
  SESSION_MEANINGS,
  type SessionName,
  type SessionValue,
} from '../../platform/event-store/session-values.ts'
import type { SelectQuery } from '../ast.ts'
import { parseSelect } from '../parser.ts'
import type { Type } from '../value.ts'

const property = (name: string) => `nullIf(events.properties.${name}, '')`
const first = (value: string) => `argMin(${value}, (events.timestamp, events.seq))`
const last = (value: string) => `argMax(${value}, (events.timestamp, events.seq))`

const SEEN = `countIf(events.event in (${SEEN_EVENTS.map((event) => `'${event}'`).join(', ')}))`
const SECONDS = `dateDiff('second', min(events.timestamp), max(events.timestamp))`
const URLS = `arraySort(groupUniqArray(${property('$current_url')}))`

const OF_SESSION = {
  id: 'events.$session_id',
  uuid: 'toUUID(events.$session_id)',
  start: 'min(events.timestamp)',
  end: 'max(events.timestamp)',
  seconds: SECONDS,
  urls: URLS,
  url_count: `length(${URLS})`,
  is_bounce: `if(${SEEN} > 0, ${SEEN} = 1 and ${SECONDS} < ${BOUNCE_S}, null)`,
  seen_up_to_2: `least(${SEEN}, 2)`,
}

function valueText(value: SessionValue): string {
  if ('first' in value) return first(property(value.first))
  if ('last' in value) return last(property(value.last))
  if ('last_id' in value) return last('events.distinct_id')
  if ('count' in value) return `countIf(events.event = '${value.count}')`
  if ('first_number' in value) return `toFloat(${first(property(value.first_number))})`
  return OF_SESSION[value.of]
}

/** What queries know besides what exports hand on. */
const MORE: Readonly<Record<string, { value: SessionValue; type: Type }>> = {
  id: { value: { of: 'id' }, type: { kind: 'text' } },
  ...Object.fromEntries(
    (
      'gclsrc dclid gbraid wbraid msclkid twclid li_fat_id mc_cid igshid ttclid _kx irclid'.split(
        ' ',
      ) as string[]
    ).map((name) => [`$entry_${name}`, { value: { first: name }, type: { kind: 'text' } }]),
  ),
  $entry_referrer: { value: { first: '$referrer' }, type: { kind: 'text' } },
}

/** PostHog puts a dollar before most of them. */
const PLAIN_NAMES: ReadonlySet<string> = new Set(['session_id', 'session_id_v7', 'distinct_id', 'duration'])

/** Columns of a session by the names PostHog's queries have for them. */
export const SESSION_COLUMNS: ReadonlyMap<string, { value: SessionValue; type: Type }> = new Map([
  ...Object.entries(SESSION_MEANINGS).map(
    ([name, value]) =>
      [
        PLAIN_NAMES.has(name) ? name : `$${name}`,
        { value, type: SESSION_VALUES[name as SessionName] as Type },
      ] as const,
  ),
  ...Object.entries(MORE),
])

/** One row per `$session_id`, in one pass over the events. It names their positions. */
const SESSIONS = parseSelect(`
select ${[...SESSION_COLUMNS].map(([name, { value }]) => `${valueText(value)} as ${name}`).join(', ')}
from events where isNotNull(events.$session_id) and events.$session_id != ''
group by events.$session_id`) as SelectQuery

/** The same with some of its columns. */
export const sessionsWith = (names: ReadonlySet<string>): SelectQuery => ({
  ...SESSIONS,
  select: SESSIONS.select.filter((expr) => expr.node === 'Alias' && names.has(expr.alias)),
})

export const VIEWS: ReadonlyMap<string, SelectQuery> = new Map([['sessions', SESSIONS]])
