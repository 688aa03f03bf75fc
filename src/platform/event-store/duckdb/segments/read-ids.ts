// Ids of events as the filter takes them: sixteen bytes, as a text of as many characters.
import type { DuckDBConnection, DuckDBUUIDValue } from '@duckdb/node-api'
import { setImmediate as nextTurn } from 'node:timers/promises'

export async function readIds(connection: DuckDBConnection, select: string): Promise<string[]> {
  const result = await connection.stream(select)
  const ids: string[] = []
  for (;;) {
    const chunk = await result.fetchChunk()
    if (chunk === null || chunk.rowCount === 0) return ids
    for (const id of chunk.getColumnValues(0)) ids.push(bytesOf(id as DuckDBUUIDValue))
    await nextTurn()
  }
}

const bytes = Buffer.alloc(16)

function bytesOf(id: DuckDBUUIDValue): string {
  const value = id.toUint128()
  bytes.writeBigUInt64BE(value >> 64n, 0)
  bytes.writeBigUInt64BE(value & 0xffff_ffff_ffff_ffffn, 8)
  return bytes.toString('latin1')
}
