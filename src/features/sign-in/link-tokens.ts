// Tokens of mailed links (password reset, e-mail verification). Nothing is stored: a token is a keyed fingerprint of the
// user's present state, so it dies by being used, by age, and by any change it was not made for.
import type { Services } from '../../platform/services.ts'
import type { UserRow } from '../users/schema.ts'

const LIFETIME_MS = 24 * 60 * 60 * 1000

export type LinkPurpose = 'password reset' | 'e-mail verification'

export function newLinkToken(services: Services, purpose: LinkPurpose, user: UserRow, now: Date): string {
  const made = Math.floor(now.getTime() / 1000).toString(36)
  return `${made}-${services.secrets.fingerprint(purpose, made, ...stateOf(purpose, user))}`
}

export function isLinkTokenGood(services: Services, purpose: LinkPurpose, user: UserRow, token: string, now: Date): boolean {
  const [made = '', ...rest] = token.split('-')
  if (!/^[0-9a-z]{1,10}$/.test(made)) return false
  const age_ms = now.getTime() - Number.parseInt(made, 36) * 1000
  if (age_ms > LIFETIME_MS || age_ms < -LIFETIME_MS) return false
  return services.secrets.matches(rest.join('-'), purpose, made, ...stateOf(purpose, user))
}

function stateOf(purpose: LinkPurpose, user: UserRow): string[] {
  return purpose === 'password reset'
    ? [user.uuid, user.email, user.password_hash ?? '']
    : [user.uuid, user.email, user.pending_email ?? '', String(user.is_email_verified)]
}
