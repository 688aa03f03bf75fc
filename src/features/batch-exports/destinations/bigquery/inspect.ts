// Tables of BigQuery as verification reads them back.
import type { ColumnKind } from '../../../../platform/event-store/export-rows.ts'
import type { Inspection, InspectionContext } from '../destination.ts'
import type { Dialect } from '../warehouse/digest-sql.ts'
import { inspectTable } from '../warehouse/inspect-table.ts'
import { sortedJson } from '../warehouse/spell.ts'
import { openApi } from './api.ts'
import { ask } from './jobs.ts'
import type { BigQueryConfig } from './kind.ts'
import { quote, tableName } from './merge-script.ts'
import { findLocation, findTypes } from './tables.ts'

const KINDS: Record<string, ColumnKind> = {
  STRING: 'text',
  JSON: 'json',
  INT64: 'integer',
  FLOAT64: 'float',
  BOOL: 'boolean',
  TIMESTAMP: 'timestamp',
}

const dialect: Dialect = {
  quote,
  text_type: 'STRING',
  integer_type: 'INT64',
  bucket_parameter: '@bucket',
  kindOf: (type) => KINDS[type] ?? null,
  micros: (value) => `UNIX_MICROS(${value})`,
  json: (value) => `TO_JSON_STRING(${value})`,
  md5: (text) => `TO_HEX(MD5(${text}))`,
  numberOf: (digits) => `CAST(CONCAT('0x', ${digits}) AS INT64)`,
  moment: (text) => `CAST('${text}' AS TIMESTAMP)`,
}

export async function inspectBigQuery(
  base_url: string,
  context: InspectionContext<BigQueryConfig>,
): Promise<Inspection> {
  const { config, columns } = context
  const api = openApi(base_url, context)
  const location = await findLocation(api)
  const table = {
    dialect,
    name: tableName(config, config.table_id),
    types: await findTypes(api),
    // Names are the same in any case.
    fold: (name: string) => name.toLowerCase(),
    // Also where the table has texts: they are made of JSON at the end of the way (merge-script.ts).
    spellJson: sortedJson,
    ask: (statement: string, bucket: string | null) =>
      ask(api, location, statement, bucket === null ? {} : { bucket }),
  }
  return { table: inspectTable(table, columns), close: async () => {} }
}
