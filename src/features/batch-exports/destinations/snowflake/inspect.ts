// Tables of Snowflake as verification reads them back.
import type { ColumnKind } from '../../../../platform/event-store/export-rows.ts'
import type { Inspection, InspectionContext } from '../destination.ts'
import { quoted } from '../sql-table/identifiers.ts'
import type { Dialect } from '../warehouse/digest-sql.ts'
import { inspectTable } from '../warehouse/inspect-table.ts'
import { sortedJson } from '../warehouse/spell.ts'
import { columnTypes } from './delivery.ts'
import type { SnowflakeConfig } from './kind.ts'
import { connect, type AccessUrl, type Session } from './session.ts'
import { tableName } from './statements.ts'

const KINDS: Record<string, ColumnKind> = {
  TEXT: 'text',
  VARIANT: 'json',
  NUMBER: 'integer',
  FLOAT: 'float',
  BOOLEAN: 'boolean',
}
/** Those of fewer digits cut values. */
const TIMES = /^TIMESTAMP_(NTZ|LTZ|TZ)\([6-9]\)$/

const dialect: Dialect = {
  quote: quoted,
  text_type: 'VARCHAR',
  integer_type: 'NUMBER(38, 0)',
  bucket_parameter: '?',
  kindOf: (type) => (TIMES.test(type) ? 'timestamp' : (KINDS[type] ?? null)),
  micros: (value) => `DATE_PART(EPOCH_MICROSECOND, ${value})`,
  json: (value) => `TO_JSON(${value})`,
  md5: (text) => `MD5(${text})`,
  numberOf: (digits) => `TO_NUMBER(${digits}, 'XXXXXXXX')`,
  // For a type without a zone the offset is left out, as it was when the rows were brought.
  moment: (text, type) => `CAST('${text}' AS ${type})`,
}

export async function inspectSnowflake(
  accessUrl: AccessUrl,
  context: InspectionContext<SnowflakeConfig>,
): Promise<Inspection> {
  const { config, columns } = context
  const session = await connect(accessUrl, context)
  try {
    const table = {
      dialect,
      name: tableName(config, config.table_name),
      types: await columnTypes(session, config),
      fold: (name: string) => name,
      // Also where the table has texts: they are made of JSON at the end of the way (statements.ts).
      spellJson: sortedJson,
      ask: (statement: string, bucket: string | null) => ask(session, statement, bucket),
    }
    return { table: inspectTable(table, columns), close: () => session.close() }
  } catch (error) {
    await session.close()
    throw error
  }
}

async function ask(session: Session, statement: string, bucket: string | null): Promise<(string | null)[][]> {
  const rows = await session.run(statement, bucket === null ? [] : [bucket])
  return rows.map((row) => Object.values(row) as (string | null)[])
}
