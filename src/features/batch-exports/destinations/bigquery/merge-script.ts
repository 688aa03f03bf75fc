// The one script that makes a run visible in BigQuery: rows and ledger in one transaction.
import type { OutputColumn } from '../../definition.ts'
import { Refused, type RunFacts } from '../destination.ts'
import type { BigQueryConfig } from './kind.ts'
import { LEDGER_TABLE } from '../ledger-name.ts'
import { mergeKey, takeRows } from '../warehouse/merge.ts'
import { stageType } from './tables.ts'

export type MergeScript = {
  config: BigQueryConfig
  run: Pick<RunFacts, 'model' | 'has_custom_columns' | 'is_repair' | 'told_apart_by'>
  /** Columns that the table has as well. */
  columns: readonly OutputColumn[]
  /** Types of the table's columns, by name in lower case. */
  types: ReadonlyMap<string, string>
  stage: string
}

/** Takes the parameters run_id, batch_export_id, table_name and rows. */
export function mergeScript({ config, run, columns, types, stage }: MergeScript): string {
  const names = columns.map(({ name }) => name)
  const valueFor = (column: OutputColumn) => valueOf(column, types.get(column.name.toLowerCase())!)
  const values = columns.map((column) => {
    const [name, value] = [quote(column.name), valueFor(column)]
    return value === name ? name : `${value} AS ${name}`
  })
  const staged = tableName(config, stage)
  // The time of an event never changes, so the same event is on the same day. Custom columns may call anything a time.
  // A repair looks everywhere: the time may be what somebody changed.
  const time = columns.find(({ name }) => name === 'timestamp')
  const by_day = run.model === 'events' && !run.has_custom_columns && !run.is_repair && time !== undefined
  const ledger = tableName(config, LEDGER_TABLE)
  const merge = {
    table: tableName(config, config.table_id),
    source: `(SELECT ${values.join(', ')} FROM ${staged})`,
    columns: names,
    key: mergeKey(run, names, () => true),
    quote,
    ...(by_day && { within: 't.`timestamp` BETWEEN first_at AND last_at' }),
  }
  return [
    ...(by_day ? [`DECLARE first_at DEFAULT (SELECT MIN(${valueFor(time)}) FROM ${staged})`] : []),
    ...(by_day ? [`DECLARE last_at DEFAULT (SELECT MAX(${valueFor(time)}) FROM ${staged})`] : []),
    'BEGIN TRANSACTION',
    takeRows(run, merge),
    ...(run.is_repair ? [`DELETE FROM ${ledger} WHERE run_id = @run_id`] : []),
    `INSERT INTO ${ledger} (run_id, batch_export_id, table_name, \`rows\`, finished_at) VALUES (@run_id, @batch_export_id, @table_name, @rows, CURRENT_TIMESTAMP())`,
    'COMMIT TRANSACTION',
  ].join(';\n')
}

/** As the table's column has it. */
function valueOf(column: OutputColumn, type: string): string {
  const name = quote(column.name)
  const staged = stageType(column)
  if (staged === type) return name
  // TO_JSON_STRING turns a missing value into the text null.
  if (staged === 'JSON' && type === 'STRING') return `NULLIF(TO_JSON_STRING(${name}), 'null')`
  if (staged === 'STRING' && type === 'JSON') return `PARSE_JSON(${name}, wide_number_mode => 'round')`
  if (!/^[A-Z0-9]+$/.test(type))
    throw new Refused(
      `BigQuery: the column ${column.name} has the type ${type}, which no value can be cast to. Change its type.`,
    )
  return `CAST(${name} AS ${type})`
}

export function tableName({ project_id, dataset_id }: BigQueryConfig, table: string): string {
  return quote(`${project_id}.${dataset_id}.${table}`)
}

/** Quoted names use the escapes of string literals. */
export function quote(name: string): string {
  if (/\p{Cc}/u.test(name))
    throw new Refused('BigQuery: a column name has control characters. Give the column another name with AS.')
  return `\`${name.replaceAll('\\', String.raw`\\`).replaceAll('`', String.raw`\``)}\``
}
