// The statements that a run to Snowflake consists of. Names are quoted and case-sensitive, values are bound.
import type { ColumnKind } from '../../../../platform/event-store/export-rows.ts'
import type { OutputColumn } from '../../definition.ts'
import type { RunFacts } from '../destination.ts'
import { quoted } from '../sql-table/identifiers.ts'
import { LEDGER_TABLE } from '../ledger-name.ts'
import { mergeKey, takeRows } from '../warehouse/merge.ts'
import type { SnowflakeConfig } from './kind.ts'

type Place = Pick<SnowflakeConfig, 'database' | 'schema'>

const TYPES: Record<ColumnKind, string> = {
  text: 'STRING',
  json: 'VARIANT',
  integer: 'INTEGER',
  float: 'FLOAT',
  boolean: 'BOOLEAN',
  timestamp: 'TIMESTAMP',
}

export function tableName({ database, schema }: Place, table: string): string {
  return `${quoted(database)}.${quoted(schema)}.${quoted(table)}`
}

export function createTable(place: Place, table: string, columns: readonly OutputColumn[]): string {
  const definitions = columns.map(({ name, kind, type }) => `${quoted(name)} ${type ?? TYPES[kind]}`)
  return `CREATE TABLE IF NOT EXISTS ${tableName(place, table)} (${definitions.join(', ')})`
}

export function createLedger(place: Place): string {
  return `CREATE TABLE IF NOT EXISTS ${tableName(place, LEDGER_TABLE)} ("run_id" STRING, "batch_export_id" STRING, "table_name" STRING, "rows" INTEGER, "finished_at" TIMESTAMP)`
}

/** Binds the run's id. */
export function findInLedger(place: Place): string {
  return `SELECT "rows" FROM ${tableName(place, LEDGER_TABLE)} WHERE "run_id" = ?`
}

/**
 * Binds the run's id, the export's, the table's name and the number of rows. MERGE locks the ledger until the end of the
 * transaction: of two workers at one run the second waits, and finds the entry of the first. A repair renews it.
 */
export function claimInLedger(place: Place, { is_repair }: Pick<RunFacts, 'is_repair'>): string {
  const renewed = 'WHEN MATCHED THEN UPDATE SET "rows" = s.row_count, "finished_at" = CURRENT_TIMESTAMP() '
  return `MERGE INTO ${tableName(place, LEDGER_TABLE)} AS t USING (SELECT ? AS run_id, ? AS batch_export_id, ? AS table_name, ? AS row_count) AS s ON t."run_id" = s.run_id ${is_repair ? renewed : ''}WHEN NOT MATCHED THEN INSERT ("run_id", "batch_export_id", "table_name", "rows", "finished_at") VALUES (s.run_id, s.batch_export_id, s.table_name, s.row_count, CURRENT_TIMESTAMP())`
}

/** Binds the schema and the table. */
export function listColumns({ database }: Place): string {
  return `SELECT COLUMN_NAME AS "name", DATA_TYPE AS "type" FROM ${quoted(database)}.INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?`
}

/** Only this says the digits of times: in the schema's own view they are not applicable, by Snowflake's documentation. */
export function describeTable(place: Place, table: string): string {
  return `DESCRIBE TABLE ${tableName(place, table)}`
}

/** Binds the schema and the tables. */
export function listTables({ database }: Place, count: number): string {
  const marks = Array.from({ length: count }, () => '?').join(', ')
  return `SELECT TABLE_NAME AS "name" FROM ${quoted(database)}.INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME IN (${marks})`
}

/** Each line of the files as it is: a table's own stage does not let files be transformed on their way in. */
export function createStage(place: Place, stage: string): string {
  return `CREATE OR REPLACE TRANSIENT TABLE ${tableName(place, stage)} (record VARIANT) DATA_RETENTION_TIME_IN_DAYS = 0`
}

export function dropTable(place: Place, table: string): string {
  return `DROP TABLE IF EXISTS ${tableName(place, table)}`
}

export function putFile(place: Place, stage: string, path: string, index: number): string {
  return `PUT ${literal(`file://${path}`)} ${ownStage(place, stage)}/${index}/ SOURCE_COMPRESSION = GZIP AUTO_COMPRESS = FALSE OVERWRITE = TRUE`
}

export function copyFiles(place: Place, stage: string): string {
  return `COPY INTO ${tableName(place, stage)} FROM ${ownStage(place, stage)} FILE_FORMAT = (TYPE = JSON COMPRESSION = GZIP) ON_ERROR = ABORT_STATEMENT`
}

function ownStage({ database, schema }: Place, stage: string): string {
  return `@${quoted(database)}.${quoted(schema)}.%${quoted(stage)}`
}

/** From the stage into the table. `types` are those of the table's columns. */
export function takeOver(
  config: SnowflakeConfig,
  run: Pick<RunFacts, 'model' | 'is_repair' | 'told_apart_by'>,
  columns: readonly OutputColumn[],
  types: ReadonlyMap<string, string>,
  stage: string,
): string {
  const names = columns.map(({ name }) => name)
  const values = columns.map(
    (column) => `${valueOf(column, types.get(column.name)!)} AS ${quoted(column.name)}`,
  )
  const merge = {
    table: tableName(config, config.table_name),
    source: `(SELECT ${values.join(', ')} FROM ${tableName(config, stage)})`,
    columns: names,
    key: mergeKey(run, names, () => true),
    quote: quoted,
  }
  return takeRows(run, merge)
}

function valueOf({ name, kind }: OutputColumn, type: string): string {
  const value = `GET(record, ${literal(name)})`
  if (type === 'VARIANT') return `STRIP_NULL_VALUE(${value})`
  return kind === 'json' ? `TO_JSON(STRIP_NULL_VALUE(${value}))` : `${value}::${type}`
}

/** Texts know the escapes of C. */
function literal(text: string): string {
  return `'${text.replaceAll('\\', String.raw`\\`).replaceAll("'", String.raw`\'`)}'`
}
