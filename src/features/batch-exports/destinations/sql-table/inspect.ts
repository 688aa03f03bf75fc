// Reads back how often each event is in the table.
import type { Inspection } from '../destination.ts'
import { ATTEMPTS_OF_TESTS, connect, type ConnectContext } from './connect.ts'
import type { TableName } from './identifiers.ts'
import type { Session } from './session.ts'
import { findTable, type Table } from './table.ts'

const AT_ONCE = 10_000

export async function inspectTable(context: ConnectContext, name: TableName): Promise<Inspection> {
  const session = await connect(context, ATTEMPTS_OF_TESTS)
  return {
    async occurrences(uuids) {
      const counts = new Map(uuids.map((uuid) => [uuid, 0]))
      const table = await findTable(session, name)
      if (table === null) return counts
      for (let from = 0; from < uuids.length; from += AT_ONCE) {
        const some = uuids.slice(from, from + AT_ONCE)
        for (const { uuid, count } of await countsOf(session, table, some)) counts.set(uuid, Number(count))
      }
      return counts
    },
    close: () => session.close(),
  }
}

async function countsOf(session: Session, table: Table, uuids: readonly string[]) {
  const marks = uuids.map((_uuid, index) => `$${index + 1}`)
  return await session.rows<{ uuid: string; count: string }>(
    `SELECT CAST("uuid" AS VARCHAR) AS uuid, CAST(count(*) AS VARCHAR) AS count FROM ${table.name}
      WHERE CAST("uuid" AS VARCHAR) IN (${marks.join(', ')}) GROUP BY 1`,
    uuids,
  )
}
