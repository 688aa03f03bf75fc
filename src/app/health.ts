// How the stores are: what `longshore doctor` and the page for staff both tell.
import type { Database } from '../platform/db/database.ts'
import { pendingMigrations } from '../platform/db/migrate.ts'
import { sql } from '../platform/db/sql.ts'
import type { EventStore } from '../platform/event-store/event-store.ts'

export type Finding = { what: string; state: 'ok' | 'note' | 'wrong'; detail: string }

const MINIMUM_POSTGRES = 150_000

export async function checkVersion(db: Database): Promise<Finding> {
  const { number, text } = await db.only<{ number: number; text: string }>(sql`
    SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS text`)
  const isGood = number >= MINIMUM_POSTGRES
  return {
    what: 'database',
    state: isGood ? 'ok' : 'wrong',
    detail: `PostgreSQL ${text}${isGood ? '' : ': 15 or newer is needed'}`,
  }
}

export async function checkMigrations(db: Database): Promise<Finding> {
  const pending = await pendingMigrations(db)
  return pending.length === 0
    ? { what: 'migrations', state: 'ok', detail: 'up to date' }
    : { what: 'migrations', state: 'note', detail: `due at the next start: ${pending.join(', ')}` }
}

/** The health of a store that is open. */
export async function checkOpenStore(store: EventStore): Promise<Finding> {
  await store.ping()
  return { what: 'events', state: 'ok', detail: 'the store answers' }
}
