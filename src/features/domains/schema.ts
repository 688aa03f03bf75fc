// Login domains of an organization, in and out.
import { z } from 'zod'
import { bool, text, timestamp, uuid } from '../../platform/http/fields.ts'
import type { KeyRow } from '../api-keys/schema.ts'
import { PROVIDERS } from '../identities/schema.ts'
import { MAX_CERTIFICATES, readCertificates } from './certificates.ts'

const SSO_PROVIDERS = ['', ...PROVIDERS] as const
type SsoProvider = (typeof SSO_PROVIDERS)[number]

export const Domain = z
  .object({
    id: uuid,
    domain: z.string(),
    is_verified: z.boolean(),
    verified_at: timestamp.nullable(),
    verification_challenge: z.string(),
    verification_record: z.string().describe('Name of the TXT record that the challenge is looked for in.'),
    last_verification_retry: timestamp.nullable().describe('When the record was last looked for on request.'),
    jit_provisioning_enabled: z.boolean(),
    sso_enforcement: z.string(),
    has_saml: z.boolean(),
    saml_entity_id: z.string().nullable(),
    saml_acs_url: z.string().nullable(),
    saml_x509_cert: z.string().nullable(),
    saml_certificates: z
      .array(z.object({ subject: z.string(), expires_at: timestamp }))
      .describe('What `saml_x509_cert` holds. Admins get a mail 30 days before one expires.'),
    saml_allow_idp_initiated: z
      .boolean()
      .describe('Whether an answer counts that the provider sent without being asked.'),
    has_oidc: z.boolean().describe('Whether issuer, client id and secret are all there.'),
    oidc_issuer: z.string().nullable(),
    oidc_client_id: z.string().nullable(),
    oidc_redirect_uris: z
      .array(z.string())
      .describe('Where the OpenID provider sends people back to: register both of them there.'),
    scim_enabled: z.boolean(),
    has_scim: z.boolean(),
    scim_base_url: z
      .string()
      .nullable()
      .describe('What a directory is given as address of the SCIM service.'),
    scim_bearer_token: z.string().nullable().describe('Shown once, to whoever switches SCIM on.'),
  })
  .meta({ id: 'Domain' })

export const FINDINGS = ['published', 'absent', 'unknown'] as const

/** With what the name server said, so that a mistyped record can be told from one that is not there yet. */
export const VerifiedDomain = Domain.extend({
  found: z.object({
    finding: z
      .enum(FINDINGS)
      .describe('`unknown`: our own name server did not answer, which says nothing about the domain.'),
    values: z.array(z.string()).describe('Values of the record: the first ten, each cut to 300 characters.'),
  }),
}).meta({ id: 'VerifiedDomain' })

// Single hyphens inside labels, as host names have them; two in a row only in the `xn--` of a name outside ASCII.
const DOMAIN = /^((xn--)?[a-z0-9]+(-[a-z0-9]+)*\.)+([a-z]{2,}|xn--[a-z0-9]+(-[a-z0-9]+)*)$/

const domainName = z
  .string()
  .trim()
  .min(1)
  .transform((name) => name.toLowerCase().replace(/\.$/, ''))
  .pipe(
    z
      .string()
      .max(128)
      .refine((name) => DOMAIN.test(name), { message: 'A domain is expected here, such as example.com.' }),
  )

const certificate = text({ max: 20_000, blank: true }).refine(
  (value) => value === '' || readCertificates(value) !== null,
  {
    message: `Only X.509 certificates are accepted: up to ${MAX_CERTIFICATES} in PEM, or the base64 text of one.`,
  },
)

const fields = z.object({
  domain: domainName,
  jit_provisioning_enabled: bool(),
  sso_enforcement: z.string().trim().pipe(z.enum(SSO_PROVIDERS)),
  saml_entity_id: text({ max: 512, blank: true }).nullable(),
  saml_acs_url: text({ max: 512, blank: true })
    .refine((value) => value === '' || isWebAddress(value), {
      message: 'This is not an http or https address.',
    })
    .nullable(),
  saml_x509_cert: certificate.nullable(),
  saml_allow_idp_initiated: bool(),
  oidc_issuer: text({ max: 512, blank: true })
    .refine((value) => value === '' || isIssuer(value), {
      message: 'This is not an https address without a question mark.',
    })
    .nullable(),
  oidc_client_id: text({ max: 512, blank: true }).nullable(),
  oidc_client_secret: text({ max: 1000, blank: true }).nullable().meta({ writeOnly: true }),
  scim_enabled: bool(),
})

/** These need a verified domain, so a new one cannot have them: they are ignored. */
export const DomainCreate = fields
  .omit({
    jit_provisioning_enabled: true,
    sso_enforcement: true,
    saml_allow_idp_initiated: true,
    scim_enabled: true,
  })
  .partial()
  .required({ domain: true })
export const DomainUpdate = fields.partial()
export type DomainFields = z.output<typeof DomainUpdate>

export type DomainRow = {
  id: string
  organization_id: string
  domain: string
  verification_challenge: string
  verified_at: Date | null
  last_verification_retry: Date | null
  recheck_failed_at: Date | null
  jit_provisioning_enabled: boolean
  sso_enforcement: SsoProvider
  saml_entity_id: string | null
  saml_acs_url: string | null
  saml_x509_cert: string | null
  scim_token_hash: string | null
  scim_token_mask: string | null
  scim_token_made_at: Date | null
  scim_refused_at: Date | null
  saml_allow_idp_initiated: boolean
  oidc_issuer: string | null
  oidc_client_id: string | null
  /** Sealed. */
  oidc_client_secret: string | null
  provider_changed_at: Date | null
  created_at: Date
  updated_at: Date
}

/** A personal key of somebody of the domain. */
export type DomainKeyRow = KeyRow & { user_id: number; user_uuid: string; email: string }

function isWebAddress(value: string): boolean {
  return URL.canParse(value) && ['http:', 'https:'].includes(new URL(value).protocol)
}

/** What an OpenID provider may call itself (OpenID Connect Discovery §3). */
function isIssuer(value: string): boolean {
  if (!URL.canParse(value) || /[?#]/.test(value)) return false
  const { protocol, username, password } = new URL(value)
  return protocol === 'https:' && username === '' && password === ''
}
