// Rows of sessions, each put together from its events.
import { areaCondition } from '../../area-condition.ts'
import type { RowSource } from '../../export-rows.ts'
import { HOT_PROPERTIES, hotColumn } from '../../layout.ts'
import { selectList, type RawRows } from '../../raw-rows.ts'
import {
  BOUNCE_S,
  READ_FOR_SESSIONS,
  SEEN_EVENTS,
  SESSION_MEANINGS,
  type SessionName,
  type SessionValue,
} from '../../session-values.ts'
import { visibleEvents } from '../visible-sql.ts'
import { SPELLING } from './spelling.ts'

// Columns are qualified: a bare name would mean the value of that name.
const HOT = new Map<string, string>(HOT_PROPERTIES.map((property) => [property, `e.${hotColumn(property)}`]))

/** Read all at once. */
const READ_TYPE = `Tuple(${READ_FOR_SESSIONS.map((property) => `\`${property}\` Nullable(String)`).join(', ')})`

const column = (property: string) =>
  HOT.get(property) ?? `tupleElement(e.properties_read, ${READ_FOR_SESSIONS.indexOf(property) + 1})`
// The position settles which of two events of the same instant counts, or two attempts could differ.
const first = (value: string) => `argMin(nullIf(${value}, ''), (e.timestamp, e.seq))`
const last = (value: string) => `argMax(nullIf(${value}, ''), (e.timestamp, e.seq))`

const SEEN = `countIf(e.event IN (${SEEN_EVENTS.map((event) => `'${event}'`).join(', ')}))`
const SECONDS = `dateDiff('second', min(e.timestamp), max(e.timestamp))`
const URLS = `arraySort(groupUniqArrayIf(e.p_current_url, e.p_current_url <> ''))`

const OF_SESSION = {
  id: 'e.p_session_id',
  uuid: 'toUUIDOrNull(e.p_session_id)',
  start: 'min(e.timestamp)',
  end: 'max(e.timestamp)',
  seconds: SECONDS,
  urls: URLS,
  url_count: `length(${URLS})`,
  is_bounce: `if(${SEEN} > 0, ${SEEN} = 1 AND ${SECONDS} < ${BOUNCE_S}, NULL)`,
  seen_up_to_2: `least(${SEEN}, 2)`,
}

function valueSql(value: SessionValue): string {
  if ('first' in value) return first(column(value.first))
  if ('last' in value) return last(column(value.last))
  if ('last_id' in value) return last('e.distinct_id')
  if ('count' in value) return `countIf(e.event = '${value.count}')`
  if ('first_number' in value) return `toFloat64OrNull(${first(column(value.first_number))})`
  return OF_SESSION[value.of]
}

const VALUES = Object.fromEntries(
  Object.entries(SESSION_MEANINGS).map(([name, value]) => [name, valueSql(value)]),
) as Record<SessionName, string>

export function sessionRows(
  project_id: number,
  { own, since }: Extract<RowSource, { model: 'sessions' }>,
): RawRows {
  const { whole, instant } = SPELLING
  const events = visibleEvents(whole(project_id))
  const isOwn = areaCondition(own, { position: 'seq', time: 'timestamp' }, SPELLING)
  // An event that came late belongs to its session all the same, and brings the others of that session with it.
  const earliest = `(SELECT min(timestamp) FROM ${events} WHERE (${isOwn}) AND p_session_id <> '') - INTERVAL 1 DAY`
  const isNear =
    since === null
      ? ''
      : ` AND (timestamp >= least(${instant(since)}, coalesce(${earliest}, ${instant(since)})) OR (${isOwn}))`
  const of_sessions =
    `SELECT JSONExtract(properties, '${READ_TYPE}') AS properties_read, *` +
    ` FROM ${events} WHERE p_session_id IN (SELECT p_session_id FROM ${events} WHERE ${isOwn})` +
    ` AND p_session_id <> '' AND seq <= ${whole(own.seq_to)}${isNear}`
  const list = selectList({ team_id: `toInt64(${whole(project_id)})`, ...VALUES })
  const sql =
    `SELECT toInt64(row_number() OVER (ORDER BY e.p_session_id)) AS position, ${list}` +
    ` FROM (${of_sessions}) AS e GROUP BY e.p_session_id`
  return { sql, parameters: [], position: 'position', id: 'session_id', time: null }
}
