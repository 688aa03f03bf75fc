// The one place that decides by which way an address may sign in. Password, reset, sign-up, invite, change of address,
// linking, every provider and every request with a session ask here (test/house-rules.test.ts finds who does not).
import type { Db } from '../../platform/db/database.ts'
import type { SignedInBy } from '../../platform/http/caller.ts'
import { invalid } from '../../platform/http/errors.ts'
import type { Services, Settings } from '../../platform/services.ts'
import type { Provider } from '../identities/schema.ts'
import { findMembership } from '../members/queries.ts'
import { findVerifiedDomainOf } from './queries.ts'
import { hasOidc, hasSaml } from './rules.ts'
import type { DomainRow } from './schema.ts'

export type SignInRule = {
  enforced: Provider | null
  /** The verified domain of the address. */
  domain_id: string | null
  has_saml: boolean
  has_oidc: boolean
}

type Asking = { services: Pick<Services, 'settings'>; db: Db }

export async function signInRuleOf({ services, db }: Asking, email: string): Promise<SignInRule> {
  const domain = await findVerifiedDomainOf(db, email)
  if (!domain) return { enforced: null, domain_id: null, has_saml: false, has_oidc: false }
  return {
    enforced: enforcedBy(services.settings, domain),
    domain_id: domain.id,
    has_saml: hasSaml(domain),
    has_oidc: hasOidc(domain),
  }
}

/** Enforcement counts only where its provider can be used: else nobody could come in. */
export function enforcedBy(settings: Settings, domain: DomainRow): Provider | null {
  const { sso_enforcement: provider } = domain
  return provider !== '' && isSetUp(settings, domain, provider) ? provider : null
}

/** SAML and OpenID Connect by the domain, the others by whoever runs the server. */
export function isSetUp(settings: Settings, domain: DomainRow, provider: Provider): boolean {
  if (provider === 'saml') return hasSaml(domain)
  if (provider === 'oidc') return hasOidc(domain)
  return settings.social_sign_in[provider] !== null
}

/** Each domain has its own, and that of another says nothing of its people. */
const WAYS_OF_A_DOMAIN: readonly SignedInBy[] = ['saml', 'oidc', 'recovery']

/**
 * `ofDomain` is the domain whose provider it was; null for a password, and for providers of the whole instance. `recovery` is
 * the mailed link of the domain's owner: no enforcement closes it.
 */
export function isOpenTo(
  { enforced, domain_id }: SignInRule,
  way: SignedInBy,
  ofDomain: string | null = null,
): boolean {
  if (enforced === null) return true
  if (WAYS_OF_A_DOMAIN.includes(way) && ofDomain !== domain_id) return false
  return way === enforced || way === 'recovery'
}

type Used = [way: SignedInBy, ofDomain?: string | null]

export async function isAllowed(asking: Asking, email: string, ...used: Used): Promise<boolean> {
  return isOpenTo(await signInRuleOf(asking, email), ...used)
}

export async function assertAllowed(asking: Asking, email: string, ...used: Used): Promise<void> {
  if (await isAllowed(asking, email, ...used)) return
  throw invalid(
    null,
    'sso_enforced',
    'This address signs in through its identity provider; passwords are off for it.',
  )
}

/** Members of an organization whose domain demands its provider do not escape that by giving themselves another address. */
export async function assertMayMove(
  { services, db }: Asking,
  user: { id: number; email: string },
  toEmail: string,
): Promise<void> {
  const from = await findVerifiedDomainOf(db, user.email)
  if (!from || enforcedBy(services.settings, from) === null) return
  if ((await findVerifiedDomainOf(db, toEmail))?.organization_id === from.organization_id) return
  if (!(await findMembership(db, from.organization_id, user.id))) return
  throw invalid(
    'email',
    'sso_enforced',
    'Your organization demands its identity provider. Choose an address in one of its verified domains.',
  )
}
