// Statements with bound values, and what their failures mean.
import type { DuckDBConnection, DuckDBType, DuckDBValue } from '@duckdb/node-api'
import type { Parameter } from '../event-store.ts'

export type Statement = { sql: string; parameters: readonly Parameter[] }

export async function rows(
  connection: DuckDBConnection,
  sql: string,
  values: DuckDBValue[] = [],
  types?: DuckDBType[],
): Promise<DuckDBValue[][]> {
  return (await connection.run(sql, values, types)).getRows()
}

export function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Out of Memory Error')
}
