// The columns that events have at each kind of destination unless a query chooses others, as PostHog documents them.
import { call, constant, field, moment } from '../../events/tree.ts'
import type { Expr } from '../../../hogql/ast.ts'
import type { ColumnSet } from '../destinations/destination.ts'
import type { Hint } from './source-rows.ts'

type EventColumn = { name: string; expr: Expr; hint?: Hint }

type Value = Omit<EventColumn, 'name'>

const LISTS: Readonly<Record<ColumnSet, string>> = {
  files: `uuid timestamp _inserted_at created_at event properties distinct_id elements_chain person_properties
    person_id`,
  postgres: 'uuid event properties elements set set_once distinct_id team_id ip site_url timestamp',
  redshift: 'uuid event properties elements set set_once distinct_id team_id ip site_url timestamp',
  bigquery: `uuid event properties elements set set_once distinct_id team_id ip site_url timestamp
    bq_ingested_timestamp`,
  snowflake:
    'uuid event properties elements people_set people_set_once distinct_id team_id ip site_url timestamp',
  databricks: `uuid event properties distinct_id team_id timestamp elements_chain person_properties person_id
    databricks_ingested_timestamp`,
  clickhouse: 'uuid event properties distinct_id team_id timestamp elements_chain created_at',
  http: 'uuid distinct_id timestamp event properties elements_chain',
}

/** What `include_person_properties` adds, as the event had them when it came. */
const OF_PERSONS = ['person_properties', 'person_id']

/** Kept for those who read it: the chain as a JSON text. */
const ELEMENTS = call('toJSONString', field('elements_chain'))

/** What is not simply the field of the same name. */
const VALUES: Readonly<Record<string, Value>> = {
  uuid: { expr: field('uuid'), hint: 'varchar200' },
  event: { expr: field('event'), hint: 'varchar200' },
  distinct_id: { expr: field('distinct_id'), hint: 'varchar200' },
  person_id: { expr: field('person_id'), hint: 'varchar200' },
  team_id: { expr: field('team_id'), hint: 'int32' },
  ip: { expr: field('properties', '$ip'), hint: 'varchar200' },
  site_url: { expr: constant(null), hint: 'varchar200' },
  elements: { expr: ELEMENTS, hint: 'json' },
  people_set: { expr: field('set') },
  people_set_once: { expr: field('set_once') },
}

const DIFFERENT: Readonly<Partial<Record<ColumnSet, Readonly<Record<string, Value>>>>> = {
  redshift: { elements: { expr: constant('') } },
  bigquery: { elements: { expr: ELEMENTS } },
}

/** Whether a column tells when the run was, so that rows of two runs differ in it. */
export function dependOnRun(set: ColumnSet): boolean {
  return LISTS[set].includes('_ingested_timestamp')
}

export function eventColumns(
  set: ColumnSet,
  config: Readonly<Record<string, unknown>>,
  interval_end: Date,
): EventColumn[] {
  // The time of the load would be another at every attempt.
  const ingested: Value = { expr: call('toDateTime', moment(BigInt(interval_end.getTime()) * 1000n)) }
  const values: Readonly<Record<string, Value>> = {
    ...VALUES,
    bq_ingested_timestamp: ingested,
    databricks_ingested_timestamp: ingested,
    ...DIFFERENT[set],
  }
  const names = [...LISTS[set].split(/\s+/), ...(config.include_person_properties === true ? OF_PERSONS : [])]
  return names.map((name) => ({ name, ...(values[name] ?? { expr: field(name) }) }))
}
