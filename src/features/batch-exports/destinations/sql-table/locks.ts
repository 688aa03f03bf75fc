// Locks that others hold in a user's database: waiting for one has an end, and the run then says what it waits for.
import { Locked, type Delivery, type DestinationSettings } from '../destination.ts'
import { sqlstateOf } from './failures.ts'
import type { Session } from './session.ts'

/** No statement of a run takes longer, unless something is wrong with the server. */
export const STATEMENT_TIMEOUT_MS = 2 * 3_600_000
/** Runs to the same table take turns at its end: what the one before holds is worth waiting for. */
export const TURN_TIMEOUT_MS = 30 * 60_000

const DEFAULT_LOCK_TIMEOUT_MS = 30_000
const LOCK_NOT_AVAILABLE = '55P03'

export function lockTimeoutMs({ lock_timeout_ms = DEFAULT_LOCK_TIMEOUT_MS }: DestinationSettings): number {
  return lock_timeout_ms
}

/** A delivery that fails as Locked of a lock on one of these tables, of which the first is the user's own. */
export async function openNamingLocks(
  session: Session,
  tables: readonly string[],
  open: () => Promise<Delivery>,
): Promise<Delivery> {
  const naming = <T>(work: () => Promise<T>) => namingLocks(session, tables, work)
  const delivery = await naming(open)
  return {
    ...delivery,
    write: (file) => naming(() => delivery.write(file)),
    finish: (confirm) => naming(() => delivery.finish(confirm)),
  }
}

async function namingLocks<T>(
  session: Session,
  tables: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (sqlstateOf(error) !== LOCK_NOT_AVAILABLE) throw error
    // Nothing can be asked in a transaction that has failed.
    await session.run('ROLLBACK')
    throw new Locked(await describeLock(session, tables))
  }
}

/** Modes that keep a writer out. */
const CONFLICTING = ['ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock']

type Holder = { table: string; pid: number; application: string | null }

/** Rows may be locked as well: nobody can look up by whom. */
async function describeLock(session: Session, tables: readonly string[]): Promise<string> {
  const [holder] = await session.rows<Holder>(
    `SELECT wanted.name AS "table", held.pid, activity.application_name AS application
       FROM unnest($1::text[]) WITH ORDINALITY AS wanted (name, place)
       JOIN pg_locks held ON held.relation = to_regclass(wanted.name) AND held.granted AND held.mode = ANY ($2)
        AND held.pid <> pg_backend_pid()
       LEFT JOIN pg_stat_activity activity ON activity.pid = held.pid
      ORDER BY wanted.place, held.pid LIMIT 1`,
    [tables, CONFLICTING],
  )
  if (holder === undefined) return `a lock on table ${tables[0]}`
  const who = holder.application ? `${holder.pid} (${holder.application})` : String(holder.pid)
  return `a lock on table ${holder.table}, held by process ${who}`
}
