// Who is at work in the store: any number of servers, or one command that carries everything elsewhere. PostgreSQL keeps the lock
// for as long as a connection lives, so whoever was killed holds nothing.
import type { PoolClient } from 'pg'
import type { Database, Db } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { StoreBusy, StoreTaken } from '../event-store.ts'

/** Any number, the same in every version. */
const LOCK = 5_807_114
const TRY_AGAIN_MS = 1_000

export type Held = { release(): Promise<void> }

/**
 * For a server. A lost connection is opened again. If the store was taken by then, `onLost` is called: nothing can be stored any
 * more, and what is stored may be elsewhere soon. Throws StoreTaken.
 */
export async function holdOpen(db: Database, onLost?: (error: Error) => void): Promise<Held> {
  let client: PoolClient | null = null
  let again: NodeJS.Timeout | undefined
  let isReleased = false
  const take = async () => {
    const taken = await takeLock(db, 'pg_try_advisory_lock_shared')
    if (isReleased) return taken.release(true)
    client = taken
    taken.on('error', () => {
      // On its way back already, or told a second time.
      if (client !== taken) return
      client = null
      taken.release(true)
      takeSoon()
    })
  }
  const takeSoon = () => {
    if (isReleased) return
    again = setTimeout(() => {
      take().catch((error: unknown) => {
        if (error instanceof StoreTaken) onLost?.(error)
        else takeSoon()
      })
    }, TRY_AGAIN_MS).unref()
  }
  await take()
  return {
    async release() {
      isReleased = true
      clearTimeout(again)
      const held = client
      client = null
      if (held) await giveBack(held)
    },
  }
}

/** For a move. Throws StoreTaken while a server is at work. */
export async function holdAlone(db: Database): Promise<Held> {
  const client = await takeLock(db, 'pg_try_advisory_lock')
  client.once('error', () => undefined)
  return { release: () => giveBack(client) }
}

/** A server whose connection was lost may not know yet: what it begins to store in this transaction is refused. */
export async function assertNotMoved(tx: Db): Promise<void> {
  const { is_free } = await tx.only<{ is_free: boolean }>(
    sql`SELECT pg_try_advisory_xact_lock_shared(${LOCK}) AS is_free`,
  )
  if (!is_free) throw new StoreBusy('events are being moved to another store')
}

async function takeLock(
  db: Database,
  how: 'pg_try_advisory_lock' | 'pg_try_advisory_lock_shared',
): Promise<PoolClient> {
  const client = await db.pool.connect()
  try {
    const { rows } = await client.query<{ is_ours: boolean }>(`SELECT ${how}($1) AS is_ours`, [LOCK])
    if (rows[0]!.is_ours) return client
  } catch (error) {
    client.release(true)
    throw error
  }
  client.release()
  throw new StoreTaken('another process has the event store open')
}

async function giveBack(client: PoolClient): Promise<void> {
  await client.query('SELECT pg_advisory_unlock_all()').catch(() => undefined) // gone with its connection
  client.release(true)
}
