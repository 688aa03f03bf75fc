// Who is asking: a signed-in person, a person's API key, or an organization's service key.
import { denied } from './errors.ts'

export const LEVELS = { member: 1, admin: 8, owner: 15 } as const
export type LevelName = keyof typeof LEVELS
export type Level = (typeof LEVELS)[LevelName]

export type CallerUser = {
  id: number
  uuid: string
  email: string
  first_name: string
  is_staff: boolean
  has_2fa: boolean
  current_organization_id: string | null
  current_project_id: number | null
}

export type CallerKey = {
  id: string
  label: string
  scopes: string[]
  scoped_organizations: string[]
  scoped_teams: number[]
}

/** Ways to sign in that have a password, a mailed link of an owner, or an identity provider behind them. */
export type SignedInBy = 'password' | 'recovery' | 'google-oauth2' | 'github' | 'gitlab' | 'saml' | 'oidc'

export type CallerSession = {
  token_hash: string
  has_second_factor: boolean
  /** Whether the user's current organization enforces two-factor authentication. */
  is_second_factor_demanded: boolean
  /** How: `password`, `recovery`, or the name of a provider. */
  signed_in_by: SignedInBy
  /** When the user last proved who they are in this session; null when that is not known. */
  confirmed_at: Date | null
}

export type Caller =
  | { kind: 'session'; user: CallerUser; session: CallerSession }
  | { kind: 'personal_key'; user: CallerUser; key: CallerKey }
  | { kind: 'service_key'; user: null; key: CallerKey; organization_id: string; level: Level }

/** The person behind the call; a service key has none and cannot do what only a person can. */
export function personOf(caller: Caller): CallerUser {
  if (caller.user === null) throw denied('A service key belongs to no person and cannot do this.')
  return caller.user
}

/** A key that may go to some organizations or projects only. */
export function isLimited(caller: Caller): boolean {
  if (caller.kind === 'session') return false
  const { scoped_organizations, scoped_teams } = caller.key
  return scoped_organizations.length > 0 || scoped_teams.length > 0
}

/** One short name for logs, limits and idempotency: never the key or session itself. */
export function callerId(caller: Caller | null): string {
  if (caller === null) return 'anonymous'
  return caller.kind === 'session' ? `user:${caller.user.id}` : `key:${caller.key.id}`
}
