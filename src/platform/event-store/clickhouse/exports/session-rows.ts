// Rows of sessions, each put together from its events.
import { areaCondition } from '../../area-condition.ts'
import { BOUNCE_S, type RowSource, type SESSION_VALUES } from '../../export-rows.ts'
import { selectList, type RawRows } from '../../raw-rows.ts'
import { visibleEvents } from '../visible-sql.ts'
import { SPELLING } from './spelling.ts'

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

const READ_TYPE = `Tuple(${READ.map((property) => `\`${property}\` Nullable(String)`).join(', ')})`

const read = (property: (typeof READ)[number]) =>
  `tupleElement(e.properties_read, ${READ.indexOf(property) + 1})`
// The position settles which of two events of the same instant counts, or two attempts could differ.
const first = (value: string) => `argMin(nullIf(${value}, ''), (e.timestamp, e.seq))`
const last = (value: string) => `argMax(nullIf(${value}, ''), (e.timestamp, e.seq))`
const count = (event: string) => `countIf(e.event = '${event}')`

const SEEN = `countIf(e.event IN ('$pageview', '$screen', '$autocapture'))`
const SECONDS = `dateDiff('second', min(e.timestamp), max(e.timestamp))`
const URLS = `arraySort(groupUniqArrayIf(e.p_current_url, e.p_current_url <> ''))`
const IS_BOUNCE = `if(${SEEN} > 0, ${SEEN} = 1 AND ${SECONDS} < ${BOUNCE_S}, NULL)`

/** Columns are qualified: a bare name would mean the value of that name. */
const VALUES: Readonly<Record<Exclude<keyof typeof SESSION_VALUES, 'team_id'>, string>> = {
  session_id: 'e.p_session_id',
  session_id_v7: 'toUUIDOrNull(e.p_session_id)',
  distinct_id: last('e.distinct_id'),
  start_timestamp: 'min(e.timestamp)',
  end_timestamp: 'max(e.timestamp)',
  urls: URLS,
  num_uniq_urls: `length(${URLS})`,
  entry_current_url: first('e.p_current_url'),
  entry_pathname: first('e.p_pathname'),
  entry_hostname: first('e.p_host'),
  end_current_url: last('e.p_current_url'),
  end_pathname: last('e.p_pathname'),
  end_hostname: last('e.p_host'),
  entry_utm_source: first('e.p_utm_source'),
  entry_utm_campaign: first('e.p_utm_campaign'),
  entry_utm_medium: first(read('utm_medium')),
  entry_utm_term: first(read('utm_term')),
  entry_utm_content: first(read('utm_content')),
  entry_referring_domain: first('e.p_referring_domain'),
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
  exit_current_url: last('e.p_current_url'),
  exit_pathname: last('e.p_pathname'),
  vitals_lcp: `toFloat64OrNull(${first(read('$web_vitals_LCP_value'))})`,
}

export function sessionRows(
  project_id: number,
  { own, since }: Extract<RowSource, { model: 'sessions' }>,
): RawRows {
  const { whole, instant } = SPELLING
  const events = visibleEvents(whole(project_id))
  const isOwn = areaCondition(own, { position: 'seq', time: 'timestamp' }, SPELLING)
  // An event that came late belongs to its session all the same.
  const isLate = since === null ? '' : ` AND (timestamp >= ${instant(since)} OR (${isOwn}))`
  const of_sessions =
    `SELECT JSONExtract(properties, '${READ_TYPE}') AS properties_read, *` +
    ` FROM ${events} WHERE p_session_id IN (SELECT p_session_id FROM ${events} WHERE ${isOwn})` +
    ` AND p_session_id <> '' AND seq <= ${whole(own.seq_to)}${isLate}`
  const list = selectList({ team_id: `toInt64(${whole(project_id)})`, ...VALUES })
  const sql =
    `SELECT toInt64(row_number() OVER (ORDER BY e.p_session_id)) AS position, ${list}` +
    ` FROM (${of_sessions}) AS e GROUP BY e.p_session_id`
  return { sql, parameters: [], position: 'position', id: 'session_id', time: null }
}
