// What lists of definitions can be narrowed and ordered by, as conditions on their rows.
import { CAMPAIGN_PROPERTIES } from '../persons/observed.ts'
import { joinSql, sql, type Statement } from '../../platform/db/sql.ts'
import { invalid } from '../../platform/http/errors.ts'
import type { EventDefinitionQuery, PropertyDefinitionQuery } from './schema.ts'

const STALE_MS = 30 * 24 * 3_600_000

/** What ingestion and old SDKs leave on events: not what anybody would ask for. */
const NEVER_LISTED = [
  'distinct_id',
  '$initial_referrer',
  '$initial_referring_domain',
  '$group_type',
  '$group_key',
  '$group_set',
]

/** Properties without a `$` that SDKs add by themselves: campaigns and click ids. */
const CORE_PROPERTIES = [
  ...CAMPAIGN_PROPERTIES,
  'token',
  'rdt_cid',
  'epik',
  'qclid',
  'sccid',
  'irclid',
  '_kx',
]

/** Words of a search; more than these are not looked for. */
const MAX_WORDS = 10

export function eventConditions(projectId: number, query: EventDefinitionQuery, now: Date): Statement {
  const { event_type, names, verified, exclude_stale } = query
  const stale = new Date(now.getTime() - STALE_MS)
  return joinSql(
    [
      sql`project_id = ${projectId}`,
      ...commonConditions(query),
      ...(event_type === 'event_custom' ? [sql`NOT starts_with(name, '$')`] : []),
      ...(event_type === 'event_posthog' ? [sql`starts_with(name, '$')`] : []),
      ...(names && names.length > 0 ? [sql`name = ANY(${names}::text[])`] : []),
      ...(verified === undefined ? [] : [sql`verified = ${verified}`]),
      ...(exclude_stale ? [sql`(last_seen_at IS NULL OR last_seen_at > ${stale})`] : []),
    ],
    ' AND ',
  )
}

const ORDERS: Readonly<Record<string, { up: Statement; down: Statement }>> = {
  name: { up: sql`name`, down: sql`name DESC` },
  last_seen_at: { up: sql`last_seen_at NULLS FIRST`, down: sql`last_seen_at DESC NULLS LAST` },
  'last_seen_at::date': {
    up: sql`last_seen_at::date NULLS FIRST`,
    down: sql`last_seen_at::date DESC NULLS LAST`,
  },
  created_at: { up: sql`created_at`, down: sql`created_at DESC` },
  'created_at::date': { up: sql`created_at::date`, down: sql`created_at::date DESC` },
  volume: { up: sql`volume`, down: sql`volume DESC` },
}

/** What nobody can order by is passed over. The name comes last, so that pages neither repeat nor miss anything. */
export function eventOrder({ ordering, search }: EventDefinitionQuery): Statement {
  const asked = (ordering ?? []).flatMap((text) => {
    const order = ORDERS[text.replace(/^-/, '')]
    return order ? [text.startsWith('-') ? order.down : order.up] : []
  })
  const usual = [
    ...(search === undefined ? [] : [sql`length(name)`]),
    sql`last_seen_at::date DESC NULLS LAST`,
  ]
  return joinSql([...(asked.length > 0 ? asked : usual), sql`name`], ', ')
}

export function propertyConditions(projectId: number, query: PropertyDefinitionQuery): Statement {
  const { properties, is_numerical, is_feature_flag, verified } = query
  return joinSql(
    [
      sql`project_id = ${projectId}`,
      ...ownerConditions(query),
      ...commonConditions(query),
      ...(properties && properties.length > 0 ? [sql`name = ANY(${properties}::text[])`] : []),
      ...(is_numerical ? [sql`property_type = 'Numeric'`] : []),
      ...(is_feature_flag === undefined ? [] : [sql`starts_with(name, '$feature/') = ${is_feature_flag}`]),
      ...(verified === undefined ? [] : [sql`verified = ${verified}`]),
      ...coreConditions(query),
      ...(isFilteredByEvents(query) ? [isSeenOn(projectId, query.event_names ?? null)] : []),
    ],
    ' AND ',
  )
}

/** Whether one of these events has had the property; of any event where null. */
export function isSeenOn(projectId: number, events: readonly string[] | null): Statement {
  return sql`name IN (SELECT unnest(seen.properties) FROM event_definition AS seen
    WHERE seen.project_id = ${projectId} AND (${events}::text[] IS NULL OR seen.name = ANY(${events}::text[])))`
}

function isFilteredByEvents(query: PropertyDefinitionQuery): boolean {
  return query.filter_by_event_names === true || query.filter_properties_by_event_names === true
}

function ownerConditions(query: PropertyDefinitionQuery): Statement[] {
  const { type = 'event', group_type_index, event_names } = query
  if (type === 'group' && group_type_index === undefined)
    throw invalid('group_type_index', 'required', 'Name the type of groups with `group_type_index`.')
  if (type !== 'group' && group_type_index !== undefined)
    throw invalid('group_type_index', 'invalid_input', 'Only properties of groups have a type of groups.')
  if (type !== 'event' && (event_names !== undefined || isFilteredByEvents(query)))
    throw invalid('event_names', 'invalid_input', 'Only properties of events are seen on events.')
  return [sql`type = ${type}`, sql`group_type_index = ${group_type_index ?? -1}`]
}

function coreConditions({ type = 'event', exclude_core_properties }: PropertyDefinitionQuery): Statement[] {
  if (type !== 'event') return []
  if (!exclude_core_properties) return [sql`name <> ALL(${NEVER_LISTED}::text[])`]
  return [sql`NOT starts_with(name, '$')`, sql`name <> ALL(${[...NEVER_LISTED, ...CORE_PROPERTIES]}::text[])`]
}

function commonConditions({
  search,
  tags,
  exclude_hidden,
  excluded_properties,
}: Pick<PropertyDefinitionQuery, 'search' | 'tags' | 'exclude_hidden' | 'excluded_properties'>): Statement[] {
  const words = (search ?? '').split(/\s+/).filter((word) => word !== '')
  return [
    ...words.slice(0, MAX_WORDS).map((word) => sql`name ILIKE ${containing(word)}::text`),
    ...(tags === undefined ? [] : [sql`tags && ${tags}::text[]`]),
    ...(exclude_hidden ? [sql`NOT hidden`] : []),
    ...(excluded_properties === undefined ? [] : [sql`name <> ALL(${excluded_properties}::text[])`]),
  ]
}

function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`
}
