// Tables of ClickHouse as verification reads them back.
import { stringifyExactly } from '../../../../lib/exact-json.ts'
import type { Inspection, InspectionContext } from '../destination.ts'
import { inspectTable } from '../warehouse/inspect-table.ts'
import { dialect, spellUnfilled } from './dialect.ts'
import type { ClickHouseConfig } from './kind.ts'
import { nameOf } from './names.ts'
import { openSession } from './session.ts'
import { findTable, hasOneRowForUuid } from './target.ts'

/** As a careful reader does it: replaced rows are left out, and a name means the column before it means an alias. */
const SETTINGS = { final: '1', prefer_column_name_to_alias: '1' }

export async function inspectClickHouse(context: InspectionContext<ClickHouseConfig>): Promise<Inspection> {
  const { config, columns } = context
  const session = openSession(context)
  const found = await findTable(session, config)
  const table = {
    dialect,
    name: nameOf(config, config.table_name),
    types: found?.columns ?? new Map<string, string>(),
    has_one_row_for_uuid: found !== null && hasOneRowForUuid(found),
    fold: (name: string) => name,
    // The files have JSON as texts, and those stay as they are.
    spellJson: (value: unknown) => stringifyExactly(value),
    spellUnfilled,
    async ask(statement: string, bucket: string | null) {
      const rows = await session.run(statement, bucket === null ? {} : { bucket }, SETTINGS)
      return rows as (string | null)[][]
    },
  }
  return { table: inspectTable(table, columns), close: async () => {} }
}
