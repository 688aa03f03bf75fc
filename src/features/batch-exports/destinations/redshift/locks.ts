// Waiting for locks in Redshift, which has no limit for that alone: the statement that asks for one gets a short one.
import { Locked } from '../destination.ts'
import { sqlstateOf } from '../sql-table/failures.ts'
import { quotedList } from '../sql-table/identifiers.ts'
import { STATEMENT_TIMEOUT_MS } from '../sql-table/locks.ts'
import type { TablePlace } from '../sql-table/place.ts'
import type { Session } from '../sql-table/session.ts'

const CANCELLED = '57014'

export async function limitStatements(session: Session, limit_ms: number): Promise<void> {
  await session.run(`SET statement_timeout TO ${limit_ms}`)
}

/** Whether rows can be written to the table: an INSERT of none takes the lock that the merge needs. */
export async function askForLock({ session, table, shared }: TablePlace, limit_ms: number): Promise<void> {
  const names = quotedList(shared.map(({ name }) => name))
  await waitForLock(session, table.name, limit_ms, () =>
    session.run(`INSERT INTO ${table.name} (${names}) SELECT ${names} FROM ${table.name} WHERE 1 = 0`),
  )
}

/** `ask` is one statement, which does nothing else that takes long. */
export async function waitForLock(
  session: Session,
  table: string,
  limit_ms: number,
  ask: () => Promise<unknown>,
): Promise<void> {
  await limitStatements(session, limit_ms)
  try {
    await ask()
  } catch (error) {
    throw sqlstateOf(error) === CANCELLED ? new Locked(`a lock on table ${table}`) : error
  }
  await limitStatements(session, STATEMENT_TIMEOUT_MS)
}
