// What only the person may do. Changing how one signs in takes the account over, so it needs a sign-in of the last 15
// minutes, or a key that can do everything already. Changes of an organization need a sign-in of the last two hours.
import type { Db } from '../db/database.ts'
import type { Access } from './access.ts'
import { isLimited, type Caller } from './caller.ts'
import { denied, unauthenticated } from './errors.ts'
import type { Route } from './route.ts'

/** `true`: whatever the request brings. Otherwise any body that gives more than these harmless fields. */
export type AccountChange<Field extends string = string> = true | { unless_only: readonly Field[] }

const MINUTE_MS = 60_000
const ACCOUNT_MINUTES = 15
const ORGANIZATION_MINUTES = 120

export function assertRecentSignIn(route: Route, caller: Caller, now: Date): void {
  if (route.needs_recent_sign_in) assertConfirmedWithin(ORGANIZATION_MINUTES, caller, now)
}

/** Asked before the body is read, and again with it: a route may be sensitive as a whole, or by what it is given. */
export function isAccountChange({ changes_account: change }: Route, body?: unknown): boolean {
  if (change === undefined || change === true) return change === true
  return Object.keys(body ?? {}).some((field) => !change.unless_only.includes(field))
}

export function assertMayChangeAccount(caller: Caller, now: Date): void {
  if (caller.kind !== 'session' && !isAlmighty(caller)) {
    throw denied(
      'Changing how somebody signs in requires a session, or a personal API key with the scope `*` and without limits.',
    )
  }
  assertConfirmedWithin(ACCOUNT_MINUTES, caller, now)
}

/**
 * Sensitive changes of one person happen one after the other, and whoever ends their sessions and keys waits in the same
 * line: a session that was ended meanwhile changes nothing, and what it made just before is ended with it.
 */
export function whileCallerLasts<T>(db: Db, access: Access, caller: Caller, work: (tx: Db) => Promise<T>) {
  return db.transaction(async (tx) => {
    if (!(await access.holdCaller(tx, caller))) throw unauthenticated('not_authenticated')
    return work(tx)
  })
}

/** Whoever changes the address can get a session by it, and by that any key: a key may do so only if it gains nothing. */
function isAlmighty(caller: Exclude<Caller, { kind: 'session' }>): boolean {
  return caller.kind === 'personal_key' && caller.key.scopes.includes('*') && !isLimited(caller)
}

function assertConfirmedWithin(minutes: number, caller: Caller, now: Date): void {
  if (caller.kind !== 'session') return
  const { confirmed_at } = caller.session
  if (confirmed_at && now.getTime() - confirmed_at.getTime() <= minutes * MINUTE_MS) return
  throw denied(
    `This requires a sign-in within the last ${minutes} minutes: send your password to POST /api/login/confirm/, or sign in again.`,
    'recent_sign_in_required',
  )
}
