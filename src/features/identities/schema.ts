// Who providers say somebody is, in and out.
import { z } from 'zod'
import { timestamp, uuid } from '../../platform/http/fields.ts'

/** Who can vouch for people: the first three for the whole instance, the others for a domain each. */
export const PROVIDERS = ['google-oauth2', 'github', 'gitlab', 'saml', 'oidc'] as const
export type Provider = (typeof PROVIDERS)[number]

/** Who a provider says is there. */
export type Vouched = {
  provider: Provider
  /** A SAML provider's issuer is its entity id. */
  issuer: string
  subject: string
  email: string | null
  /** Whether the provider stands by the address. */
  is_email_vouched: boolean
  first_name: string
  last_name: string
  /** The domain whose settings were used; null for providers of the whole instance. */
  domain_id: string | null
}

export type IdentityRow = {
  id: string
  user_id: number
  provider: Provider
  issuer: string
  subject: string
  domain_id: string | null
  email: string | null
  created_at: Date
  last_used_at: Date
}

export const Identity = z
  .object({
    id: uuid,
    provider: z.string(),
    issuer: z.string().describe('Who vouches: the address or entity id of the provider.'),
    email: z.string().nullable().describe('The address as the provider last said it.'),
    created_at: timestamp,
    last_used_at: timestamp,
  })
  .meta({ id: 'Identity' })
