// The table that the first run makes when there is none.
import type { ColumnKind } from '../../../../platform/event-store/export-rows.ts'
import type { Model, OutputColumn } from '../../definition.ts'
import type { TableFacts } from '../destination.ts'
import type { ClickHouseConfig } from './kind.ts'
import { nameOf, quote } from './names.ts'

const TYPES: Record<ColumnKind, string> = {
  text: 'String',
  json: 'String',
  integer: 'Int64',
  float: 'Float64',
  boolean: 'Bool',
  timestamp: "DateTime64(6, 'UTC')",
}

const UUIDS = new Set(['uuid', 'person_id', 'session_id_v7'])

/** Without Nullable, which costs space and time and cannot be part of an order. */
const NEVER_NULL: Record<Model, ReadonlySet<string>> = {
  events: new Set([
    'uuid',
    'event',
    'properties',
    'distinct_id',
    'team_id',
    'timestamp',
    'elements_chain',
    'person_properties',
    'created_at',
  ]),
  persons: new Set([
    'team_id',
    'distinct_id',
    'person_id',
    'properties',
    'person_distinct_id_version',
    'person_version',
    'created_at',
    'is_deleted',
  ]),
  sessions: new Set(['session_id', 'team_id', 'start_timestamp', 'end_timestamp']),
}

function typeOf({ name, kind }: OutputColumn, { model, has_custom_columns }: TableFacts): string {
  // A query may call anything by any name, except `uuid`.
  const is_known = !has_custom_columns || name === 'uuid'
  const type = is_known && UUIDS.has(name) ? 'UUID' : TYPES[kind]
  return is_known && NEVER_NULL[model].has(name) ? type : `Nullable(${type})`
}

/** Says which run a row came with, where nothing else tells rows apart. Not part of `SELECT *`. */
export const RUN_COLUMN = 'longshore_run_id'
export const RUN_DEFINITION = `\`${RUN_COLUMN}\` UUID MATERIALIZED toUUID('00000000-0000-0000-0000-000000000000')`

/** The later of two rows of a distinct id: it goes from person to person, and each person counts changes anew. */
const VERSION_DEFINITION =
  '`longshore_version` UInt64 MATERIALIZED toUInt64(`person_distinct_id_version`) * 4294967296 + toUInt64(`person_version`)'

export function createTable(
  config: ClickHouseConfig,
  columns: readonly OutputColumn[],
  facts: TableFacts,
): string {
  const names = columns.map(({ name }) => name)
  const { engine, order, added } = layoutOf(names, facts)
  const definitions = columns.map((column) => `${quote(column.name)} ${typeOf(column, facts)}`)
  const key = order.length === 0 ? 'tuple()' : `(${order.map(quote).join(', ')})`
  return `CREATE TABLE IF NOT EXISTS ${nameOf(config, config.table_name)} (${[...definitions, ...added].join(', ')}) ENGINE = ${engine} ORDER BY ${key}`
}

type Layout = { engine: string; order: string[]; added: string[] }

function layoutOf(names: readonly string[], { model, has_custom_columns }: TableFacts): Layout {
  switch (model) {
    case 'persons':
      return {
        engine: 'ReplacingMergeTree(`longshore_version`)',
        order: ['team_id', 'distinct_id'],
        added: [VERSION_DEFINITION],
      }
    case 'sessions':
      return {
        engine: 'ReplacingMergeTree(`end_timestamp`)',
        order: ['team_id', 'session_id'],
        added: [],
      }
    case 'events': {
      // Not partitioned: a run would be spread over as many partitions as its events have months.
      const order = has_custom_columns ? ['uuid'] : ['event', 'timestamp', 'uuid']
      const has_uuid = names.includes('uuid')
      return {
        engine: 'MergeTree',
        order: order.filter((name) => names.includes(name)),
        added: has_uuid ? [] : [RUN_DEFINITION],
      }
    }
  }
}
