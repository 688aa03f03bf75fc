// Tables of a dataset: the user's, the ledger of runs beside it, and the stages that runs are loaded into.
import { isObject, type JsonObject } from '../../../../lib/json-object.ts'
import type { ColumnKind } from '../../../../platform/event-store/export-rows.ts'
import type { OutputColumn } from '../../definition.ts'
import { Refused } from '../destination.ts'
import type { BigQueryApi } from './api.ts'
import type { BigQueryConfig } from './kind.ts'
import { LEDGER_TABLE } from '../ledger-name.ts'
import { listIn, objectIn, textIn } from '../warehouse/call.ts'

type Field = { name: string; type: string; mode?: 'REQUIRED' }

const LEDGER_FIELDS: Field[] = [
  { name: 'run_id', type: 'STRING', mode: 'REQUIRED' },
  { name: 'batch_export_id', type: 'STRING' },
  { name: 'table_name', type: 'STRING' },
  { name: 'rows', type: 'INT64' },
  { name: 'finished_at', type: 'TIMESTAMP' },
]

/** As files have them: nested JSON can be loaded into nothing but JSON. */
const STAGE_TYPES: Record<ColumnKind, string> = {
  text: 'STRING',
  json: 'JSON',
  integer: 'INT64',
  float: 'FLOAT64',
  boolean: 'BOOL',
  timestamp: 'TIMESTAMP',
}

export function stageType({ kind }: OutputColumn): string {
  return STAGE_TYPES[kind]
}

const KNOWN_TYPES = new Set(Object.values(STAGE_TYPES))

function tableType(column: OutputColumn, { use_json_type }: BigQueryConfig): string {
  if (column.type !== undefined && KNOWN_TYPES.has(column.type)) return column.type
  return column.kind === 'json' && !use_json_type ? 'STRING' : stageType(column)
}

/** Where the dataset is kept: every job has to be sent there. */
export async function findLocation(api: BigQueryApi): Promise<string> {
  const { dataset_id } = api.context.config
  const { status, body } = await api.call(datasetPath(dataset_id), { expect: [404] })
  if (status === 404)
    throw new Refused(
      `BigQuery: there is no dataset ${dataset_id} in the project. Create it, or correct \`dataset_id\`.`,
    )
  return textIn(body, 'location')
}

/** The types of the user's columns by their names in small letters, once the table is there. */
export async function ensureTable(
  api: BigQueryApi,
  columns: readonly OutputColumn[],
): Promise<ReadonlyMap<string, string>> {
  const { config } = api.context
  const path = tablePath(config.dataset_id, config.table_id)
  const found = await findTypes(api)
  if (found.size > 0) return found
  await insertTable(api, config.table_id, {
    schema: { fields: fieldsOf(columns, config) },
    ...(isByDay(columns) && { timePartitioning: { type: 'DAY', field: 'timestamp' } }),
  })
  const { body } = await api.call(path)
  return typesOf(body)
}

export function fieldsOf(columns: readonly OutputColumn[], config: BigQueryConfig): Field[] {
  return columns.map((column) => ({ name: column.name, type: tableType(column, config) }))
}

/** The same as they are; empty where there is no table. */
export async function findTypes(api: BigQueryApi): Promise<ReadonlyMap<string, string>> {
  const { dataset_id, table_id } = api.context.config
  const { status, body } = await api.call(tablePath(dataset_id, table_id), { expect: [404] })
  return status === 404 ? new Map() : typesOf(body)
}

export function isByDay(columns: readonly OutputColumn[]): boolean {
  return columns.some(({ name, kind }) => name === 'timestamp' && kind === 'timestamp')
}

export async function ensureLedger(api: BigQueryApi): Promise<void> {
  await insertTable(api, LEDGER_TABLE, { schema: { fields: LEDGER_FIELDS } })
}

/** Goes by itself when nobody is left to drop it; no attempt takes as long. */
const STAGE_LIFETIME_MS = 7 * 86_400_000

export async function makeStage(
  api: BigQueryApi,
  name: string,
  columns: readonly OutputColumn[],
): Promise<void> {
  await dropTable(api, name)
  await insertTable(api, name, {
    schema: { fields: columns.map((column) => ({ name: column.name, type: stageType(column) })) },
    expirationTime: String(Date.now() + STAGE_LIFETIME_MS),
  })
}

/** One that is there already is left as it is. */
export async function insertTable(api: BigQueryApi, name: string, table: JsonObject): Promise<void> {
  const { project_id, dataset_id } = api.context.config
  const tableReference = { projectId: project_id, datasetId: dataset_id, tableId: name }
  await api.call(`${datasetPath(dataset_id)}/tables`, {
    method: 'POST',
    body: { tableReference, ...table },
    expect: [409],
  })
}

/** Whether it was there. */
export async function dropTable(api: BigQueryApi, name: string): Promise<boolean> {
  const path = tablePath(api.context.config.dataset_id, name)
  const { status } = await api.call(path, { method: 'DELETE', expect: [404] })
  return status !== 404
}

function datasetPath(dataset_id: string): string {
  return `/datasets/${encodeURIComponent(dataset_id)}`
}

function tablePath(dataset_id: string, name: string): string {
  return `${datasetPath(dataset_id)}/tables/${encodeURIComponent(name)}`
}

/** The API still uses the names of an older dialect. */
const OLD_NAMES: Record<string, string> = { INTEGER: 'INT64', FLOAT: 'FLOAT64', BOOLEAN: 'BOOL' }

function typesOf(table: JsonObject): ReadonlyMap<string, string> {
  const fields = listIn(objectIn(table, 'schema'), 'fields').filter(isObject)
  return new Map(
    fields.map((field) => {
      const type = textIn(field, 'type')
      return [textIn(field, 'name').toLowerCase(), OLD_NAMES[type] ?? type]
    }),
  )
}
