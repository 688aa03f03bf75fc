// Rows of sessions, each put together from its events.
import type { RowSource } from '../export-rows.ts'
import { HOT_PROPERTIES, hotColumn, tablesOf } from '../layout.ts'
import {
  BOUNCE_S,
  READ_FOR_SESSIONS,
  SEEN_EVENTS,
  SESSION_MEANINGS,
  type SessionName,
  type SessionValue,
} from '../session-values.ts'
import { areaCondition } from '../area-condition.ts'
import { jsonPath } from './json-path.ts'
import { newParameters } from './parameters.ts'
import { selectList, type RawRows } from '../raw-rows.ts'

const HOT = new Map<string, string>(HOT_PROPERTIES.map((property) => [property, hotColumn(property)]))

const column = (property: string) =>
  HOT.get(property) ?? `properties_read[${READ_FOR_SESSIONS.indexOf(property) + 1}]`
// The position settles which of two events of the same instant counts, or two attempts could differ.
const first = (value: string) => `arg_min(nullif(${value}, ''), (timestamp, seq))`
const last = (value: string) => `arg_max(nullif(${value}, ''), (timestamp, seq))`

const SEEN = `count(*) FILTER (WHERE event IN (${SEEN_EVENTS.map((event) => `'${event}'`).join(', ')}))`
const SECONDS = `date_diff('second', min(timestamp), max(timestamp))`
const URLS = `coalesce(list_sort(list(DISTINCT p_current_url) FILTER (WHERE p_current_url <> '')), [])`

const OF_SESSION = {
  id: 'p_session_id',
  uuid: 'try_cast(p_session_id AS UUID)',
  start: 'min(timestamp)',
  end: 'max(timestamp)',
  seconds: SECONDS,
  urls: URLS,
  url_count: `len(${URLS})`,
  is_bounce: `CASE WHEN ${SEEN} > 0 THEN ${SEEN} = 1 AND ${SECONDS} < ${BOUNCE_S} END`,
  seen_up_to_2: `least(${SEEN}, 2)`,
}

function valueSql(value: SessionValue): string {
  if ('first' in value) return first(column(value.first))
  if ('last' in value) return last(column(value.last))
  if ('last_id' in value) return last('distinct_id')
  if ('count' in value) return `count(*) FILTER (WHERE event = '${value.count}')`
  if ('first_number' in value) return `try_cast(${first(column(value.first_number))} AS DOUBLE)`
  return OF_SESSION[value.of]
}

const VALUES = Object.fromEntries(
  Object.entries(SESSION_MEANINGS).map(([name, value]) => [name, valueSql(value)]),
) as Record<SessionName, string>

export function sessionRows(
  project_id: number,
  { own, since }: Extract<RowSource, { model: 'sessions' }>,
): RawRows {
  const { events } = tablesOf(project_id)
  const parameters = newParameters()
  const isOwn = areaCondition(own, { position: 'seq', time: 'timestamp' }, parameters)
  // An event that came late belongs to its session all the same, and brings the others of that session with it.
  const earliest = () =>
    `coalesce((SELECT min(timestamp) FROM ${events} WHERE (${isOwn}) AND p_session_id <> '') - INTERVAL 1 DAY, ${parameters.instant(since!)})`
  const isNear =
    since === null
      ? ''
      : ` AND (timestamp >= least(${parameters.instant(since)}, ${earliest()}) OR (${isOwn}))`
  const paths = READ_FOR_SESSIONS.map((property) => `'${jsonPath([property])}'`).join(', ')
  const of_sessions =
    `SELECT json_extract_string(properties, [${paths}]) AS properties_read, *` +
    ` FROM ${events} WHERE p_session_id IN (SELECT p_session_id FROM ${events} WHERE ${isOwn})` +
    ` AND p_session_id <> '' AND seq <= ${parameters.whole(own.seq_to)}${isNear}`
  const list = selectList({ team_id: parameters.whole(project_id), ...VALUES })
  const sql =
    `SELECT row_number() OVER (ORDER BY p_session_id) AS position, ${list}` +
    ` FROM (${of_sessions}) GROUP BY p_session_id`
  return { sql, parameters: parameters.bound, position: 'position', id: 'session_id', time: null }
}
