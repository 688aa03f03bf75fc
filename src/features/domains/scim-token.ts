// The token that a directory provisions people of a domain with. Its hash alone is kept; without one, SCIM is off.
import { createHash } from 'node:crypto'
import { randomBase62 } from '../../lib/base62.ts'
import type { Caller } from '../../platform/http/caller.ts'
import { denied } from '../../platform/http/errors.ts'
import { hasScope } from '../../platform/http/scopes.ts'
import type { Services } from '../../platform/services.ts'
import type { DomainRow } from './schema.ts'

const PREFIX = 'lsd_'
const RANDOM_BYTES = 35

type TokenColumns = Pick<DomainRow, 'scim_token_hash' | 'scim_token_mask' | 'scim_token_made_at'>

export const NO_SCIM_TOKEN: TokenColumns = {
  scim_token_hash: null,
  scim_token_mask: null,
  scim_token_made_at: null,
}

export function newScimToken(now: Date): { value: string; columns: TokenColumns } {
  const value = PREFIX + randomBase62(RANDOM_BYTES)
  const columns = {
    scim_token_hash: hashScimToken(value),
    scim_token_mask: `${PREFIX}...${value.slice(-4)}`,
    scim_token_made_at: now,
  }
  return { value, columns }
}

/** What a wish to have SCIM on or off comes to: on makes a token where there is none, off ends the one there is. */
export function switchScim(
  domain: DomainRow,
  wanted: boolean | undefined,
  now: Date,
): { value: string | null; columns: Partial<TokenColumns> } {
  const isOn = domain.scim_token_hash !== null
  if (wanted === undefined || wanted === isOn) return { value: null, columns: {} }
  return wanted ? newScimToken(now) : { value: null, columns: NO_SCIM_TOKEN }
}

/** As with API keys: so many random bits need neither salt nor a slow hash. */
export function hashScimToken(value: string): string {
  return `sha256$${createHash('sha256').update(value).digest('hex')}`
}

export function scimBaseUrl({ settings }: Services, { id }: { id: string }): string {
  return `${settings.site_url}/scim/v2/${id}`
}

/** Whoever has the token adds and removes members: a key that may not do that must not get one. */
export function assertMayProvision(caller: Caller): void {
  if (caller.kind === 'session' || hasScope(caller.key.scopes, 'organization_member:write')) return
  throw denied('The API key lacks the scope `organization_member:write`.')
}
