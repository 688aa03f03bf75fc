// Tokens of mailed links (password reset, e-mail verification, an owner's way back). Nothing is stored: a token is a keyed fingerprint of the
// user's present state, so it dies by being used, by age, and by any change it was not made for.
import { isUuid } from '../../lib/uuid.ts'
import type { Db } from '../../platform/db/database.ts'
import { invalid } from '../../platform/http/errors.ts'
import type { Services } from '../../platform/services.ts'
import { findUserByUuid, lockUser } from '../users/queries.ts'
import type { UserRow } from '../users/schema.ts'

const LIFETIME_MS = 24 * 60 * 60 * 1000

export type LinkPurpose = 'password reset' | 'e-mail verification' | 'owner recovery'

export function newLinkToken(services: Services, purpose: LinkPurpose, user: UserRow, now: Date): string {
  const made = Math.floor(now.getTime() / 1000).toString(36)
  return `${made}-${services.secrets.fingerprint(purpose, made, ...stateOf(purpose, user))}`
}

export type Link = { purpose: LinkPurpose; user_uuid: string; token: string }

/** The user a link belongs to; an unknown user, a dead token and a wrong one look alike. */
export async function getUserByLink(services: Services, db: Db, link: Link, now: Date): Promise<UserRow> {
  const user = isUuid(link.user_uuid) ? await findUserByUuid(db, link.user_uuid) : undefined
  if (!user?.is_active || !isTokenGood(services, link, user, now)) {
    throw invalid('token', 'invalid_token', 'The link is wrong, used or too old.')
  }
  return user
}

/** For whoever is about to change that user: of two requests with one link, the second waits here and then finds it used. */
export async function lockUserByLink(services: Services, tx: Db, link: Link, now: Date): Promise<UserRow> {
  const { id } = await getUserByLink(services, tx, link, now)
  await lockUser(tx, id)
  return getUserByLink(services, tx, link, now)
}

function isTokenGood(services: Services, { purpose, token }: Link, user: UserRow, now: Date): boolean {
  const [made = '', ...rest] = token.split('-')
  if (!/^[0-9a-z]{1,10}$/.test(made)) return false
  const age_ms = now.getTime() - Number.parseInt(made, 36) * 1000
  if (age_ms > LIFETIME_MS || age_ms < -LIFETIME_MS) return false
  return services.secrets.matches(rest.join('-'), purpose, made, ...stateOf(purpose, user))
}

function stateOf(purpose: LinkPurpose, user: UserRow): string[] {
  if (purpose === 'password reset') return [user.uuid, user.email, user.password_hash ?? '']
  // Coming in by any way ends it, this one as well.
  if (purpose === 'owner recovery') return [user.uuid, user.email, user.last_login?.toISOString() ?? '']
  return [user.uuid, user.email, user.pending_email ?? '', String(user.is_email_verified)]
}
