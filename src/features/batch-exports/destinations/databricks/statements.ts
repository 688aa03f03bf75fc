// The statements that a run to Databricks consists of. Each commits by itself: there are no transactions over several.
import type { ColumnKind } from '../../../../platform/event-store/export-rows.ts'
import type { OutputColumn } from '../../definition.ts'
import type { RunFacts } from '../destination.ts'
import { LEDGER_TABLE } from '../ledger-name.ts'
import { mergeKey, mergeRows, replaceRows } from '../warehouse/merge.ts'
import type { DatabricksConfig } from './kind.ts'
import { VOLUME } from './volume.ts'

type Place = Pick<DatabricksConfig, 'catalog' | 'schema'>

export function nameOf({ catalog, schema }: Place, name: string): string {
  return `${quote(catalog)}.${quote(schema)}.${quote(name)}`
}

export function quote(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``
}

function literal(text: string): string {
  return `'${text.replaceAll('\\', String.raw`\\`).replaceAll("'", String.raw`\'`)}'`
}

export function createVolume(place: Place): string {
  return `CREATE VOLUME IF NOT EXISTS ${nameOf(place, VOLUME)}`
}

export function createLedger(place: Place): string {
  return `CREATE TABLE IF NOT EXISTS ${nameOf(place, LEDGER_TABLE)} (\`run_id\` STRING, \`batch_export_id\` STRING, \`table_name\` STRING, \`rows\` BIGINT, \`finished_at\` TIMESTAMP)`
}

/** Takes the parameter run_id. */
export function findInLedger(place: Place): string {
  return `SELECT \`rows\` FROM ${nameOf(place, LEDGER_TABLE)} WHERE \`run_id\` = :run_id`
}

/** Takes the parameters run_id, batch_export_id, table_name and rows. The entry of a repaired run is renewed. */
export function enterInLedger(place: Place, { is_repair }: Pick<RunFacts, 'is_repair'>): string {
  const renewed = 'WHEN MATCHED THEN UPDATE SET `rows` = s.row_count, `finished_at` = current_timestamp() '
  return `MERGE INTO ${nameOf(place, LEDGER_TABLE)} AS t USING (SELECT :run_id AS run_id, :batch_export_id AS batch_export_id, :table_name AS table_name, :rows AS row_count) AS s ON t.\`run_id\` = s.run_id ${is_repair ? renewed : ''}WHEN NOT MATCHED THEN INSERT (\`run_id\`, \`batch_export_id\`, \`table_name\`, \`rows\`, \`finished_at\`) VALUES (s.run_id, s.batch_export_id, s.table_name, s.row_count, current_timestamp())`
}

/** Takes the parameters schema and table; the catalog keeps names in lower case. */
export function listColumns({ catalog }: Place): string {
  return `SELECT column_name, data_type FROM ${quote(catalog)}.information_schema.columns WHERE table_schema = lower(:schema) AND table_name = lower(:table)`
}

function typeOf(
  { kind, type }: OutputColumn,
  { use_variant_type }: Pick<DatabricksConfig, 'use_variant_type'>,
): string {
  return (
    type ?? { ...FILE_TYPES, timestamp: 'TIMESTAMP', json: use_variant_type ? 'VARIANT' : 'STRING' }[kind]
  )
}

/** Names with these characters need column mapping: the data files of the table cannot hold them. */
const ODD_NAME = /[ ,;{}()\n\t=]/

export function createTable(
  config: DatabricksConfig,
  table: string,
  columns: readonly OutputColumn[],
): string {
  const definitions = columns.map((column) => `${quote(column.name)} ${typeOf(column, config)}`)
  const mapped = columns.some(({ name }) => ODD_NAME.test(name))
  const properties = mapped ? " TBLPROPERTIES ('delta.columnMapping.mode' = 'name')" : ''
  return `CREATE TABLE IF NOT EXISTS ${nameOf(config, table)} (${definitions.join(', ')})${properties}`
}

export function addColumns(config: DatabricksConfig, columns: readonly OutputColumn[]): string {
  const definitions = columns.map((column) => `${quote(column.name)} ${typeOf(column, config)}`)
  return `ALTER TABLE ${nameOf(config, config.table_name)} ADD COLUMNS (${definitions.join(', ')})`
}

export function dropTable(place: Place, table: string): string {
  return `DROP TABLE IF EXISTS ${nameOf(place, table)}`
}

/** Types into which a line of a file is parsed: nested JSON as its text, instants as text with their zone. */
const FILE_TYPES: Record<ColumnKind, string> = {
  text: 'STRING',
  json: 'STRING',
  integer: 'BIGINT',
  float: 'DOUBLE',
  boolean: 'BOOLEAN',
  timestamp: 'STRING',
}

export type Taken = {
  config: DatabricksConfig
  run: Pick<RunFacts, 'model' | 'is_repair' | 'told_apart_by'>
  /** Columns that the table has as well. */
  columns: readonly OutputColumn[]
  /** Types of the table's columns, by name in lower case. */
  types: ReadonlyMap<string, string>
}

/**
 * Null when nothing tells rows apart. Repeating the statement changes nothing. There are no transactions over several
 * statements here, so a repair is one statement too: readers see the table as it was before or as it is afterwards.
 */
export function mergeFolder({ config, run, columns, types }: Taken, folder: string): string | null {
  const names = columns.map(({ name }) => name)
  const key = mergeKey(run, names, (name) => name !== 'timestamp' || types.get(name) === 'TIMESTAMP')
  if (key.columns.length === 0 && !run.is_repair) return null
  const line = `from_json(value, ${literal(lineSchema(columns))})`
  const values = columns.map((column) => valueOf(column, `r.${quote(column.name)}`, types))
  const lines = `(SELECT ${line} AS r FROM read_files(${literal(folder)}, format => 'text'))`
  const source = `(SELECT ${values.join(', ')} FROM ${lines})`
  const merge = { table: nameOf(config, config.table_name), source, columns: names, key, quote }
  return run.is_repair ? replaceRows(merge) : mergeRows(merge)
}

/** Databricks loads a file of a given name once, so this may be repeated as well; a file that is gone is an error. */
export function copyFiles(
  { config, columns, types }: Taken,
  folder: string,
  files: readonly string[],
): string {
  const line = `from_json(value, ${literal(lineSchema(columns))})`
  const values = columns.map((column) => valueOf(column, `${line}.${quote(column.name)}`, types))
  return `COPY INTO ${nameOf(config, config.table_name)} FROM (SELECT ${values.join(', ')} FROM ${literal(folder)}) FILEFORMAT = TEXT FILES = (${files.map(literal).join(', ')})`
}

function lineSchema(columns: readonly OutputColumn[]): string {
  return columns.map(({ name, kind }) => `${quote(name)} ${FILE_TYPES[kind]}`).join(', ')
}

function valueOf({ name, kind }: OutputColumn, value: string, types: ReadonlyMap<string, string>): string {
  if (types.get(name.toLowerCase()) === 'VARIANT') return `parse_json(${value}) AS ${quote(name)}`
  return kind === 'timestamp' ? `CAST(${value} AS TIMESTAMP) AS ${quote(name)}` : `${value} AS ${quote(name)}`
}
