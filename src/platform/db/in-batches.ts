// Deletes of many rows, a few thousand a statement: none holds locks, or the disk, for long.
import type { Db } from './database.ts'
import type { Statement } from './sql.ts'

const BATCH_SIZE = 10_000

/** `statement` is for at most so many rows, and is repeated while it finds as many. How many went. */
export async function deleteInBatches(db: Db, statement: (batch_size: number) => Statement): Promise<number> {
  for (let deleted = 0; ;) {
    const count = await db.run(statement(BATCH_SIZE))
    deleted += count
    if (count < BATCH_SIZE) return deleted
  }
}
