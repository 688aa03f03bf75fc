// Rows of sessions, each put together from its events.
import { BOUNCE_S, type RowSource, type SESSION_VALUES } from '../export-rows.ts'
import { tablesOf } from '../layout.ts'
import { areaCondition } from '../area-condition.ts'
import { jsonPath } from './json-path.ts'
import { newParameters } from './parameters.ts'
import { selectList, type RawRows } from '../raw-rows.ts'

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

const VALUES: Readonly<Record<Exclude<keyof typeof SESSION_VALUES, 'team_id'>, string>> = {
  session_id: 'p_session_id',
  session_id_v7: 'try_cast(p_session_id AS UUID)',
  distinct_id: last('distinct_id'),
  start_timestamp: 'min(timestamp)',
  end_timestamp: 'max(timestamp)',
  urls: URLS,
  num_uniq_urls: `len(${URLS})`,
  entry_current_url: first('p_current_url'),
  entry_pathname: first('p_pathname'),
  entry_hostname: first('p_host'),
  end_current_url: last('p_current_url'),
  end_pathname: last('p_pathname'),
  end_hostname: last('p_host'),
  entry_utm_source: first('p_utm_source'),
  entry_utm_campaign: first('p_utm_campaign'),
  entry_utm_medium: first(read('utm_medium')),
  entry_utm_term: first(read('utm_term')),
  entry_utm_content: first(read('utm_content')),
  entry_referring_domain: first('p_referring_domain'),
  entry_gclid: first(read('gclid')),
  entry_fbclid: first(read('fbclid')),
  entry_gad_source: first(read('gad_source')),
  pageview_count: count('$pageview'),
  autocapture_count: count('$autocapture'),
  screen_count: count('$screen'),
  session_duration: SECONDS,
  duration: SECONDS,
  is_bounce: IS_BOUNCE,
  last_external_click_url: last(read('$external_click_url')),
  page_screen_autocapture_count_up_to: `least(${SEEN}, 2)`,
  exit_current_url: last('p_current_url'),
  exit_pathname: last('p_pathname'),
  vitals_lcp: `try_cast(${first(read('$web_vitals_LCP_value'))} AS DOUBLE)`,
}

export function sessionRows(
  project_id: number,
  { own, since }: Extract<RowSource, { model: 'sessions' }>,
): RawRows {
  const { events } = tablesOf(project_id)
  const parameters = newParameters()
  const isOwn = areaCondition(own, { position: 'seq', time: 'timestamp' }, parameters)
  // An event that came late belongs to its session all the same.
  const isLate = since === null ? '' : ` AND (timestamp >= ${parameters.instant(since)} OR (${isOwn}))`
  const paths = READ.map((property) => `'${jsonPath([property])}'`).join(', ')
  const of_sessions =
    `SELECT json_extract_string(properties, [${paths}]) AS properties_read, *` +
    ` FROM ${events} WHERE p_session_id IN (SELECT p_session_id FROM ${events} WHERE ${isOwn})` +
    ` AND p_session_id <> '' AND seq <= ${parameters.whole(own.seq_to)}${isLate}`
  const list = selectList({ team_id: parameters.whole(project_id), ...VALUES })
  const sql =
    `SELECT row_number() OVER (ORDER BY p_session_id) AS position, ${list}` +
    ` FROM (${of_sessions}) GROUP BY p_session_id`
  return { sql, parameters: parameters.bound, position: 'position', id: 'session_id', time: null }
}
