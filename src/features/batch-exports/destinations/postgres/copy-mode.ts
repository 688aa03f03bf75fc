// Which way the rows of a run take into the table, and what keeps runs that go at the same time from bringing a row twice.
//
// Straight: COPY into the table itself, as fast as COPY goes, where no row of the run can be there already. Staged: COPY
// into a temporary table, then insert what is not there yet, which searches the table over the time that the rows span.
//
// Nothing of a run can be in an empty table. Nor, for a scheduled run, in a table that holds scheduled runs of the same
// export alone: they partition the positions of the project, and the ledger knows what else was brought. One lock for a
// table makes that true until the commit: whoever goes straight takes it first, or goes the other way when it is taken;
// whoever is staged takes it before the look. Statements see what was committed before they began (READ COMMITTED), hence
// all that the holder before wrote. The lock is an advisory one: it needs no rights and holds up nobody but exports.
import type { RunFacts } from '../destination.ts'
import { quotedList } from '../sql-table/identifiers.ts'
import { TURN_TIMEOUT_MS } from '../sql-table/locks.ts'
import { isClear, type TablePlace } from '../sql-table/place.ts'
import { STAGE } from './merge.ts'

/** Names the locks of exports among other advisory locks of the database. */
const LOCKS = 0x10_6e_5e

/** Within the transaction. When it says yes, it holds the lock. */
export async function mayGoStraight(place: TablePlace, run: RunFacts): Promise<boolean> {
  // Asked twice: a lock that is of no use would hold up others until the end of the transaction.
  if (!(await isClear(place, run))) return false
  const [lock] = await place.session.rows<{ taken: boolean }>(
    'SELECT pg_try_advisory_xact_lock($1, $2::regclass::oid::int4) AS taken',
    [LOCKS, place.table.name],
  )
  return lock?.taken === true && (await isClear(place, run))
}

/** Until it is our turn, which may take as long as another run's COPY: the limit for locks of others is too short. */
export async function lockTable({ session, table }: TablePlace): Promise<void> {
  const limit = `current_setting('lock_timeout') AS before, set_config('lock_timeout', $1, true)`
  const [was] = await session.rows<{ before: string }>(`SELECT ${limit}`, [String(TURN_TIMEOUT_MS)])
  await session.run('SELECT pg_advisory_xact_lock($1, $2::regclass::oid::int4)', [LOCKS, table.name])
  await session.run(`SELECT set_config('lock_timeout', $1, true)`, [was!.before])
}

/**
 * Before rows are sent to a stage: a table that somebody has locked would turn all of them away in the end. What this
 * locks itself is free again at once.
 */
export async function assertUnlocked({ session, table, shared }: TablePlace): Promise<void> {
  const names = quotedList(shared.map(({ name }) => name))
  await session.run(
    `SAVEPOINT "longshore_unlocked";
     INSERT INTO ${table.name} (${names}) SELECT ${names} FROM ${STAGE};
     ROLLBACK TO SAVEPOINT "longshore_unlocked"`,
  )
}
