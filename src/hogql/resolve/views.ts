// Tables that are made of others when they are asked for. What they hold is HogQL, so that every engine has them.
import type { Query } from '../ast.ts'
import { parseSelect } from '../parser.ts'

const first = (property: string) =>
  `argMinIf(events.properties.${property}, events.timestamp, isNotNull(events.properties.${property}))`
const last = (property: string) =>
  `argMaxIf(events.properties.${property}, events.timestamp, isNotNull(events.properties.${property}))`

/** One row per `$session_id`, in one pass over the events. Columns are called as PostHog calls them. */
const SESSIONS = `
select
  events.$session_id as session_id,
  argMin(events.distinct_id, events.timestamp) as distinct_id,
  min(events.timestamp) as $start_timestamp,
  max(events.timestamp) as $end_timestamp,
  dateDiff('second', min(events.timestamp), max(events.timestamp)) as $session_duration,
  countIf(events.event = '$pageview') as $pageview_count,
  countIf(events.event = '$screen') as $screen_count,
  countIf(events.event = '$autocapture') as $autocapture_count,
  ${first('$current_url')} as $entry_current_url,
  ${last('$current_url')} as $end_current_url,
  ${first('$pathname')} as $entry_pathname,
  ${last('$pathname')} as $end_pathname,
  ${first('$referring_domain')} as $entry_referring_domain,
  ${first('utm_source')} as $entry_utm_source,
  ${first('utm_campaign')} as $entry_utm_campaign
from events where isNotNull(events.$session_id) and events.$session_id != ''
group by events.$session_id`

export const VIEWS: ReadonlyMap<string, Query> = new Map([['sessions', parseSelect(SESSIONS)]])
