// The one place that decides whether a password may be used for an address. Login, reset, sign-up, invite acceptance and
// e-mail verification all ask here.
import type { Db } from '../../platform/db/database.ts'
import { invalid } from '../../platform/http/errors.ts'
import { findVerifiedDomainOf } from './queries.ts'
import { hasSaml } from './rules.ts'
import type { SsoProvider } from './schema.ts'

export type SignInRule = { enforced: Exclude<SsoProvider, ''> | null; has_saml: boolean }

/** Enforcement counts only where its provider can be used: SAML is set up per domain; others per instance, none so far. */
export async function signInRuleOf(db: Db, email: string): Promise<SignInRule> {
  const domain = await findVerifiedDomainOf(db, email)
  if (!domain) return { enforced: null, has_saml: false }
  const isUsable = domain.sso_enforcement === 'saml' && hasSaml(domain)
  return { enforced: isUsable ? 'saml' : null, has_saml: hasSaml(domain) }
}

export async function isPasswordAllowed(db: Db, email: string): Promise<boolean> {
  return (await signInRuleOf(db, email)).enforced === null
}

export async function assertPasswordAllowed(db: Db, email: string): Promise<void> {
  if (await isPasswordAllowed(db, email)) return
  throw invalid(
    null,
    'sso_enforced',
    'This address signs in through its identity provider; passwords are off for it.',
  )
}
