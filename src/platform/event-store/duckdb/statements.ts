// Statements with bound values, and what their failures mean.
import type { DuckDBConnection, DuckDBType, DuckDBValue } from '@duckdb/node-api'
import duckdb, { type PendingResult } from '@duckdb/node-bindings'
import { setTimeout as sleep } from 'node:timers/promises'
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

const LOOK_EVERY_MS = 2

/**
 * As `rows`, for statements that take long: the engine's threads do all of it. Whoever waits in the usual way looks for
 * something to do without a pause, which takes a third more CPU at an export. Planning must be known to be quick: it may
 * happen in this thread.
 */
export async function rowsByEngine(
  connection: DuckDBConnection,
  sql: string,
  values: DuckDBValue[],
  types: DuckDBType[],
): Promise<DuckDBValue[][]> {
  const pending = await connection.start(sql, values, types)
  // The client has no word for it: what it offers does a part of the work in this thread.
  const { pending_result } = pending as unknown as { pending_result: PendingResult }
  const { PendingState } = duckdb
  const isUnderWay = () => {
    const state = duckdb.pending_execute_check_state(pending_result)
    return state === PendingState.RESULT_NOT_READY || state === PendingState.NO_TASKS_AVAILABLE
  }
  while (isUnderWay()) await sleep(LOOK_EVERY_MS)
  // The state is ERROR for a statement that has come to its end, too.
  const error = duckdb.pending_error(pending_result)
  if (error !== '') throw new Error(error)
  return (await pending.getResult()).getRows()
}

export function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Out of Memory Error')
}
