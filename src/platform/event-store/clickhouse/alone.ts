// One process at a time has the store open: the persons of recent events are kept in its memory. A connection to
// PostgreSQL holds a lock for as long as the process lives.
import type { Database } from '../../db/database.ts'
import { StoreTaken } from '../event-store.ts'

/** Any number, the same in every version. */
const LOCK = 5_807_113

export async function holdAlone(
  db: Database,
  onLost?: (error: Error) => void,
): Promise<{ release(): Promise<void> }> {
  const client = await db.pool.connect()
  const { rows } = await client
    .query<{ is_taken: boolean }>('SELECT NOT pg_try_advisory_lock($1) AS is_taken', [LOCK])
    .catch((error: unknown) => {
      client.release(true)
      throw error
    })
  if (rows[0]!.is_taken) {
    client.release()
    throw new StoreTaken('another process has the event store open')
  }
  const lost = (error: Error) => onLost?.(error)
  client.on('error', lost)
  return {
    async release() {
      client.off('error', lost)
      await client.query('SELECT pg_advisory_unlock($1)', [LOCK]).catch(() => undefined) // gone with its connection
      client.release(true)
    },
  }
}
