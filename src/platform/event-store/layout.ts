// How the tables of a project look, for those who write and those who query them.

/** Properties with a column of their own, because reading JSON for each row costs two hundred times as much. */
export const HOT_PROPERTIES = [
  '$browser',
  '$os',
  '$device_type',
  '$current_url',
  '$pathname',
  '$host',
  '$referring_domain',
  '$session_id',
  '$lib',
  '$ip',
  'utm_source',
  'utm_campaign',
  '$group_0',
  '$group_1',
  '$group_2',
  '$group_3',
  '$group_4',
] as const

/** The column of a hot property: `p_` and its name without the `$`. */
export function hotColumn(property: (typeof HOT_PROPERTIES)[number]): string {
  return `p_${property.replace('$', '')}`
}

/** SQL holds longer names, too, but nobody reads those often. */
const MAX_NAME_LENGTH = 200

/** Others are read out of the JSON: SQL cannot hold the name, or not as it is. */
export function mayHaveColumn(property: string): boolean {
  return property.length <= MAX_NAME_LENGTH && !property.includes('\0') && property.isWellFormed()
}

/**
 * Tables of one project. Times are TIMESTAMP in UTC, ids UUID, the rest as named:
 * - events: seq BIGINT, inserted_at, uuid, event, distinct_id, timestamp, created_at, elements_chain, person_mode
 *   UTINYINT (0 full, 1 without a person profile), person_id and person_properties (JSON text) as of the time of storing,
 *   properties (JSON text), then the hot columns (text, null when absent). Rows lie in order of seq.
 * - persons: id, created_at, is_identified BOOLEAN, properties (JSON text), version BIGINT, changed_at
 * - distinct_ids: distinct_id, person_id, version BIGINT, changed_at; both `changed_at` are times of arrival here
 * - groups: index UTINYINT, key, created_at, properties (JSON text)
 * - asked: the events with the properties that a question or an export asks for by name (AskedProperty), as long as it runs
 */
export function tablesOf(project_id: number) {
  if (!Number.isSafeInteger(project_id) || project_id < 0) throw new Error('not a project id')
  return {
    events: `ev_${project_id}`,
    asked: `as_${project_id}`,
    persons: `pe_${project_id}`,
    distinct_ids: `di_${project_id}`,
    groups: `gr_${project_id}`,
  }
}
