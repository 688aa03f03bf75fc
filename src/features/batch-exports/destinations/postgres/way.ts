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
import { isClear, type Place } from '../sql-table/place.ts'

/** Names the locks of exports among other advisory locks of the database. */
const LOCKS = 0x10_6e_5e

/** Within the transaction. When it says yes, it holds the lock. */
export async function mayGoStraight(place: Place, run: RunFacts): Promise<boolean> {
  // Asked twice: a lock that is of no use would hold up others until the end of the transaction.
  if (!(await isClear(place, run))) return false
  const [lock] = await place.session.rows<{ taken: boolean }>(
    'SELECT pg_try_advisory_xact_lock($1, $2::regclass::oid::int4) AS taken',
    [LOCKS, place.table.name],
  )
  return lock?.taken === true && (await isClear(place, run))
}

export async function lockTable({ session, table }: Place): Promise<void> {
  await session.run('SELECT pg_advisory_xact_lock($1, $2::regclass::oid::int4)', [LOCKS, table.name])
}
