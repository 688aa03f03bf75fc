// Sessions of a run: those with an event among the run's own, put together from their events of up to three days before.
// A session that goes on later is exported again, as it is then.
import { jsonPath } from '../../../hogql/engines/duckdb.ts'
import type { Type } from '../../../hogql/value.ts'
import { tablesOf } from '../../../platform/event-store/layout.ts'
import type { Bounds } from '../definition.ts'
import { newParameters, type ExportedProject, type Hint, type SourceRows } from './source-rows.ts'

const LOOKBACK = 'to_days(3)'
/** Seconds after which a session with a single page is no bounce. */
const BOUNCE_S = 10

/** Properties that have no column of their own, read all at once. */
const READ = [
  'utm_medium',
  'utm_term',
  'utm_content',
  'gclid',
  'fbclid',
  'gad_source',
  '$external_click_url',
  '$web_vitals_LCP_value',
] as const

const read = (property: (typeof READ)[number]) => `properties_read[${READ.indexOf(property) + 1}]`
// The position settles which of two events of the same instant counts, or two attempts could differ.
const first = (value: string) => `arg_min(nullif(${value}, ''), (timestamp, seq))`
const last = (value: string) => `arg_max(nullif(${value}, ''), (timestamp, seq))`
const count = (event: string) => `count(*) FILTER (WHERE event = '${event}')`

const SEEN = `count(*) FILTER (WHERE event IN ('$pageview', '$screen', '$autocapture'))`
const SECONDS = `date_diff('second', min(timestamp), max(timestamp))`
const URLS = `coalesce(list_sort(list(DISTINCT p_current_url) FILTER (WHERE p_current_url <> '')), [])`
const IS_BOUNCE = `CASE WHEN ${SEEN} > 0 THEN ${SEEN} = 1 AND ${SECONDS} < ${BOUNCE_S} END`

const text: Type = { kind: 'text' }
const integer: Type = { kind: 'integer' }
const datetime: Type = { kind: 'datetime' }

const COLUMNS: readonly (readonly [name: string, type: Type, sql: string, hint?: Hint])[] = [
  ['session_id', text, 'p_session_id'],
  ['session_id_v7', { kind: 'uuid' }, 'try_cast(p_session_id AS UUID)'],
  ['team_id', integer, 'any_value(project_id)', 'int32'],
  ['distinct_id', text, last('distinct_id')],
  ['start_timestamp', datetime, 'min(timestamp)'],
  ['end_timestamp', datetime, 'max(timestamp)'],
  ['urls', { kind: 'array', item: text }, URLS],
  ['num_uniq_urls', integer, `len(${URLS})`],
  ['entry_current_url', text, first('p_current_url')],
  ['entry_pathname', text, first('p_pathname')],
  ['entry_hostname', text, first('p_host')],
  ['end_current_url', text, last('p_current_url')],
  ['end_pathname', text, last('p_pathname')],
  ['end_hostname', text, last('p_host')],
  ['entry_utm_source', text, first('p_utm_source')],
  ['entry_utm_campaign', text, first('p_utm_campaign')],
  ['entry_utm_medium', text, first(read('utm_medium'))],
  ['entry_utm_term', text, first(read('utm_term'))],
  ['entry_utm_content', text, first(read('utm_content'))],
  ['entry_referring_domain', text, first('p_referring_domain')],
  ['entry_gclid', text, first(read('gclid'))],
  ['entry_fbclid', text, first(read('fbclid'))],
  ['entry_gad_source', text, first(read('gad_source'))],
  ['pageview_count', integer, count('$pageview')],
  ['autocapture_count', integer, count('$autocapture')],
  ['screen_count', integer, count('$screen')],
  ['session_duration', integer, SECONDS],
  ['duration', integer, SECONDS],
  ['is_bounce', { kind: 'boolean' }, IS_BOUNCE],
  ['last_external_click_url', text, last(read('$external_click_url'))],
  ['page_screen_autocapture_count_up_to', integer, `least(${SEEN}, 2)`],
  ['exit_current_url', text, last('p_current_url')],
  ['exit_pathname', text, last('p_pathname')],
  ['vitals_lcp', { kind: 'float' }, `try_cast(${first(read('$web_vitals_LCP_value'))} AS DOUBLE)`],
]

export function sessionRows(project: ExportedProject, bounds: Bounds): SourceRows {
  const { events } = tablesOf(project.id)
  const parameters = newParameters()
  const project_id = parameters.whole(project.id)
  const { own, known } = eventsOf(bounds, parameters)
  const paths = READ.map((property) => `'${jsonPath([property])}'`).join(', ')
  const of_sessions =
    `SELECT ${project_id} AS project_id, json_extract_string(properties, [${paths}]) AS properties_read, *` +
    ` FROM ${events} WHERE p_session_id IN (SELECT p_session_id FROM ${events} WHERE ${own})` +
    ` AND p_session_id <> '' AND ${known}`
  const list = COLUMNS.map(([, , sql], index) => `${sql} AS c${index + 3}`).join(', ')
  return {
    sql:
      `SELECT row_number() OVER (ORDER BY p_session_id) AS c1, p_session_id AS c2, ${list}` +
      ` FROM (${of_sessions}) GROUP BY p_session_id ORDER BY c1`,
    parameters: parameters.bound,
    columns: COLUMNS.map(([name, type, , hint]) => ({ name, type, ...(hint ? { hint } : {}) })),
    found_by: 'session id',
  }
}

/** Which events are the run's own, and which of all events its sessions are put together from. */
function eventsOf(
  { selection, interval: { start, end }, seq_from, seq_to }: Bounds,
  { whole, instant }: ReturnType<typeof newParameters>,
): { own: string; known: string } {
  const last = `seq <= ${whole(seq_to)}`
  const since = start === null ? null : instant(start)
  const chosen =
    selection === 'arrival'
      ? [`seq > ${whole(seq_from)}`]
      : [`timestamp < ${instant(end)}`, ...(since === null ? [] : [`timestamp >= ${since}`])]
  const own = [...chosen, last].join(' AND ')
  if (since === null) return { own, known: last }
  // An event that came late belongs to its session all the same.
  return { own, known: `${last} AND (timestamp >= ${since} - ${LOOKBACK} OR (${own}))` }
}
