// Reads tables of PostgreSQL and Redshift back, for verification.
import type { Inspection, InspectionContext } from '../destination.ts'
import { inspectTable, type InspectedTable } from '../warehouse/inspect-table.ts'
import { ATTEMPTS_OF_TESTS, connect, type ServerConfig } from './connect.ts'
import { qualified, type TableName } from './identifiers.ts'
import type { Session } from './session.ts'
import { findTable, type Table } from './table.ts'

/** What the two databases do not share. */
export type SqlInspection = Pick<InspectedTable, 'dialect' | 'fold' | 'spellJson'> & {
  /** Where keys of tables are enforced. */
  hasOneRowForUuid?(session: Session, table: Table, columns: readonly string[]): Promise<boolean>
}

export async function inspectSqlTable(
  context: InspectionContext<ServerConfig>,
  name: TableName,
  inspection: SqlInspection,
): Promise<Inspection> {
  const session = await connect(context, ATTEMPTS_OF_TESTS)
  try {
    // Whoever asks has a limit of time; moments without a zone are UTC.
    await session.run('SET statement_timeout TO 0')
    await session.run(`SET timezone TO 'UTC'`)
    const table = await findTable(session, name)
    const types = table?.types ?? new Map<string, string>()
    const { hasOneRowForUuid, ...rest } = inspection
    const names = context.columns.map(({ name }) => name)
    const has_one_row_for_uuid = table !== null && (await hasOneRowForUuid?.(session, table, names)) === true
    const found = { ...rest, name: qualified(name), types, has_one_row_for_uuid, ask: asking(session) }
    return { table: inspectTable(found, context.columns), close: () => session.close() }
  } catch (error) {
    await session.close()
    throw error
  }
}

function asking(session: Session): InspectedTable['ask'] {
  return async (statement, bucket) => {
    const rows = await session.rows<Record<string, string | null>>(statement, bucket === null ? [] : [bucket])
    return rows.map((row) => Object.values(row))
  }
}
