// Small questions of the store to itself.
import { BIGINT, type DuckDBConnection } from '@duckdb/node-api'
import { tablesOf } from '../layout.ts'
import { rows } from './statements.ts'

/** Times never run backwards. Older row groups are passed over by their bounds. */
export async function firstFrom(
  connection: DuckDBConnection,
  project_id: number,
  time: bigint,
): Promise<number | null> {
  const [row] = await rows(
    connection,
    `SELECT min(seq) FROM ${tablesOf(project_id).events} WHERE inserted_at >= make_timestamp($1)`,
    [time],
    [BIGINT],
  )
  return row![0] === null ? null : Number(row![0])
}

/** One statement each: a list of positions would be looked for in all files. */
export async function arrivalsOf(
  connection: DuckDBConnection,
  project_id: number,
  positions: readonly number[],
): Promise<(Date | null)[]> {
  const sql = `SELECT epoch_ms(inserted_at) FROM ${tablesOf(project_id).events} WHERE seq = $1`
  const arrivals: (Date | null)[] = []
  for (const position of positions) {
    const [row] = await rows(connection, sql, [BigInt(position)], [BIGINT])
    arrivals.push(row ? new Date(Number(row[0])) : null)
  }
  return arrivals
}
