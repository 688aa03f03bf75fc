// Tables of Databricks as verification reads them back.
import { stringifyExactly } from '../../../../lib/exact-json.ts'
import type { ColumnKind } from '../../../../platform/event-store/export-rows.ts'
import type { Inspection, InspectionContext } from '../destination.ts'
import type { Dialect } from '../warehouse/digest-sql.ts'
import { inspectTable } from '../warehouse/inspect-table.ts'
import { sortedJson } from '../warehouse/spell.ts'
import { openApi, type WorkspaceUrl } from './api.ts'
import { columnTypes } from './delivery.ts'
import type { DatabricksConfig } from './kind.ts'
import { openSession } from './session.ts'
import { nameOf, quote } from './statements.ts'

const KINDS: Record<string, ColumnKind> = {
  STRING: 'text',
  VARIANT: 'json',
  INT: 'integer',
  BIGINT: 'integer',
  LONG: 'integer',
  DOUBLE: 'float',
  BOOLEAN: 'boolean',
  TIMESTAMP: 'timestamp',
}

const dialect: Dialect = {
  quote,
  text_type: 'STRING',
  integer_type: 'BIGINT',
  bucket_parameter: ':bucket',
  kindOf: (type) => KINDS[type] ?? null,
  micros: (value) => `unix_micros(${value})`,
  json: (value) => `to_json(${value})`,
  md5: (text) => `md5(${text})`,
  numberOf: (digits) => `CAST(conv(${digits}, 16, 10) AS BIGINT)`,
  moment: (text) => `CAST('${text}' AS TIMESTAMP)`,
}

export async function inspectDatabricks(
  workspaceUrl: WorkspaceUrl,
  context: InspectionContext<DatabricksConfig>,
): Promise<Inspection> {
  const { config, columns } = context
  const session = openSession(openApi(workspaceUrl, context))
  const table = {
    dialect,
    name: nameOf(config, config.table_name),
    types: await columnTypes(session, config),
    // Names are the same in any case.
    fold: (name: string) => name.toLowerCase(),
    // Texts are taken out of the files as they are.
    spellJson: (value: unknown, kind: 'json' | 'text') =>
      kind === 'json' ? sortedJson(value) : stringifyExactly(value),
    ask: (statement: string, bucket: string | null) =>
      session.run(statement, bucket === null ? {} : { bucket }),
  }
  return { table: inspectTable(table, columns), close: async () => {} }
}
