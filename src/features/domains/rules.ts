// What may be set on a domain, and when (organizations.md §6). No I/O.
import { randomBytes } from 'node:crypto'
import { invalid } from '../../platform/http/errors.ts'
import type { DomainFields, DomainRow } from './schema.ts'
import { NO_SCIM_TOKEN } from './scim-token.ts'

const SAML_FIELDS = ['saml_entity_id', 'saml_acs_url', 'saml_x509_cert'] as const
const OIDC_FIELDS = ['oidc_issuer', 'oidc_client_id', 'oidc_client_secret'] as const

export function newChallenge(): string {
  return randomBytes(32).toString('base64url')
}

export function hasSaml(domain: Pick<DomainRow, (typeof SAML_FIELDS)[number]>): boolean {
  return SAML_FIELDS.every((field) => Boolean(domain[field]))
}

export function hasOidc(domain: Pick<DomainRow, (typeof OIDC_FIELDS)[number]>): boolean {
  return OIDC_FIELDS.every((field) => Boolean(domain[field]))
}

/** The columns a PATCH writes. Another name is another domain: whatever the old one had proved is void. */
export function changesFor(before: DomainRow, { scim_enabled, ...fields }: DomainFields): Partial<DomainRow> {
  const isRenamed = fields.domain !== undefined && fields.domain !== before.domain
  const isVerified = before.verified_at !== null && !isRenamed
  assertVerifiedFor(isVerified, { ...fields, scim_enabled: scim_enabled || undefined })
  const changes: Partial<DomainRow> = Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  )
  const reset = {
    verified_at: null,
    last_verification_retry: null,
    recheck_failed_at: null,
    verification_challenge: newChallenge(),
    jit_provisioning_enabled: false,
    sso_enforcement: '' as const,
    ...NO_SCIM_TOKEN,
  }
  const result = isRenamed ? { ...changes, ...reset } : changes
  assertSamlWhole({ ...before, ...result }, fields)
  assertOidcWhole({ ...before, ...result }, fields)
  assertSecretSent(before, fields)
  return result
}

function assertVerifiedFor(isVerified: boolean, fields: DomainFields): void {
  if (isVerified) return
  for (const field of ['jit_provisioning_enabled', 'sso_enforcement', 'scim_enabled'] as const) {
    if (fields[field] !== undefined) {
      throw invalid(field, 'verification_required', 'Verify the domain before you set this.')
    }
  }
}

/** Enforcing SAML without its settings, or taking them away while enforced, would lock everybody out. */
function assertSamlWhole(after: DomainRow, fields: DomainFields): void {
  if (after.sso_enforcement !== 'saml' || hasSaml(after)) return
  const cleared = SAML_FIELDS.find((field) => fields[field] !== undefined && !fields[field])
  if (cleared && fields.sso_enforcement === undefined) {
    throw invalid(cleared, 'invalid_input', 'SAML is enforced for this domain: lift the enforcement first.')
  }
  throw invalid(
    'sso_enforcement',
    'invalid_input',
    'SAML can be enforced once its three settings are filled in.',
  )
}

function assertOidcWhole(after: DomainRow, fields: DomainFields): void {
  if (after.sso_enforcement !== 'oidc' || hasOidc(after)) return
  const cleared = OIDC_FIELDS.find((field) => fields[field] !== undefined && !fields[field])
  if (cleared && fields.sso_enforcement === undefined) {
    throw invalid(
      cleared,
      'invalid_input',
      'OpenID Connect is enforced for this domain: lift the enforcement first.',
    )
  }
  throw invalid(
    'sso_enforcement',
    'invalid_input',
    'OpenID Connect can be enforced once issuer, client id and secret are filled in.',
  )
}

/** Nobody can read the secret, and nobody can have it sent to a server of their own. */
function assertSecretSent(before: DomainRow, { oidc_issuer, oidc_client_secret }: DomainFields): void {
  const isElsewhere = Boolean(oidc_issuer) && oidc_issuer !== before.oidc_issuer
  if (!isElsewhere || !before.oidc_client_secret || oidc_client_secret !== undefined) return
  throw invalid(
    'oidc_client_secret',
    'required',
    'Send the secret again: the change would send the stored one to another provider.',
  )
}
