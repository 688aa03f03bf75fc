// Whether anybody works with the events in ClickHouse: servers share a lock in PostgreSQL, any number of them, and a move has it
// alone. It goes with the connection, so a process that was killed holds nothing.
import { setTimeout as sleep } from 'node:timers/promises'
import type { PoolClient } from 'pg'
import type { Database } from '../../db/database.ts'
import { StoreTaken, type EventStore } from '../event-store.ts'

/** Any number, the same in every version. */
const LOCK = 5_807_115
const RETRY_MS = 5_000

export type StoreLock = { release(): Promise<void> }

/** Throws StoreTaken while events are being moved. `onLost` hears that a move has begun after the connection was cut. */
async function shareStore(db: Database, onLost?: (error: Error) => void): Promise<StoreLock> {
  let is_released = false
  let client: PoolClient | null = await lockedClient(db, 'shared')
  const watch = () => client?.once('error', () => void again())
  const again = async () => {
    client?.release(true)
    client = null
    while (!is_released && client === null) {
      try {
        client = await lockedClient(db, 'shared')
        watch()
      } catch (error) {
        if (error instanceof StoreTaken) return onLost?.(error)
        await sleep(RETRY_MS, undefined, { ref: false })
      }
    }
    if (is_released) client?.release(true)
  }
  watch()
  return {
    async release() {
      is_released = true
      client?.release(true)
    },
  }
}

/** The store that `open` gives, for as long as no move has it alone. */
export async function openShared(
  db: Database,
  open: () => Promise<EventStore>,
  onLost?: (error: Error) => void,
): Promise<EventStore> {
  const lock = await shareStore(db, onLost)
  try {
    const store = await open()
    return {
      ...store,
      async close() {
        await store.close()
        await lock.release()
      },
    }
  } catch (error) {
    await lock.release()
    throw error
  }
}

/** Throws StoreTaken while a server works with the events, or another move. */
export async function takeStore(db: Database): Promise<StoreLock> {
  const client = await lockedClient(db, 'alone')
  // The next statement of the move says that PostgreSQL is gone.
  client.on('error', () => undefined)
  return { release: async () => client.release(true) }
}

async function lockedClient(db: Database, way: 'shared' | 'alone'): Promise<PoolClient> {
  const take = way === 'shared' ? 'pg_try_advisory_lock_shared' : 'pg_try_advisory_lock'
  const client = await db.pool.connect()
  try {
    const { rows } = await client.query<{ is_taken: boolean }>(`SELECT NOT ${take}($1) AS is_taken`, [LOCK])
    if (!rows[0]!.is_taken) return client
  } catch (error) {
    client.release(true)
    throw error
  }
  client.release()
  throw new StoreTaken(
    way === 'shared' ? 'events are being moved' : 'a process works with the events in ClickHouse',
  )
}
