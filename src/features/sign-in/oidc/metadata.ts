// What an issuer publishes about itself: where to send people and codes, and how it signs. Kept for a few minutes; its keys
// are not, so that a changed set counts at the next sign-in.
import { z } from 'zod'
import type { Services } from '../../../platform/services.ts'
import { badStatus, toFault } from './explain.ts'
import { providerFetch } from './provider-fetch.ts'
import { shownText } from './shown.ts'
import { Fault } from './steps.ts'

/** Signatures by a key pair. HS256 takes a key that the client knows, and `none` is no signature. */
const ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ')

const FRESH_MS = 5 * 60 * 1000
/** Long enough that a crowd at the door of a dead provider is one call, short enough for whoever mends it. */
const RETRY_MS = 5 * 1000
const MAX_ISSUERS = 1000

const address = z.url().max(2048)
const words = z.array(z.string().max(100)).max(200)

const Published = z.object({
  issuer: address,
  authorization_endpoint: address,
  token_endpoint: address,
  jwks_uri: address,
  userinfo_endpoint: address.optional(),
  // Every provider must have RS256.
  id_token_signing_alg_values_supported: words
    .default(['RS256'])
    .transform((names) => names.filter((name) => ALGORITHMS.includes(name))),
  // This is what no list means.
  token_endpoint_auth_methods_supported: words.default(['client_secret_basic']),
  authorization_response_iss_parameter_supported: z.boolean().default(false),
})

export type Metadata = z.output<typeof Published>

type Kept = { metadata: Promise<Metadata>; until: number }

// By the settings of one application, for as long as it lives.
const copies = new WeakMap<Services['settings'], Map<string, Kept>>()

/** Those who ask while it is fetched wait for the same answer, whoever leaves meanwhile. Throws a Fault. */
export function metadataOf(services: Services, issuer: string): Promise<Metadata> {
  const kept = copies.get(services.settings) ?? new Map<string, Kept>()
  copies.set(services.settings, kept)
  const now = services.now().getTime()
  const last = kept.get(issuer)
  if (last && now < last.until) return last.metadata
  const reading: Kept = { metadata: fetchMetadata(services, issuer), until: now + FRESH_MS }
  reading.metadata.catch(() => (reading.until = now + RETRY_MS))
  kept.delete(issuer)
  kept.set(issuer, reading)
  const [oldest] = kept.keys()
  if (kept.size > MAX_ISSUERS) kept.delete(oldest!)
  return reading.metadata
}

async function fetchMetadata({ outbound }: Services, issuer: string): Promise<Metadata> {
  const fetch = providerFetch(outbound, undefined)
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const headers = { accept: 'application/json' }
  const response = await fetch(url, { method: 'GET', headers, body: undefined, redirect: 'manual' }).catch(
    (error: unknown) => Promise.reject(toFault(error, 'configuration')),
  )
  if (response.status !== 200) throw badStatus(response, 'configuration')
  const read = Published.safeParse(await response.json().catch(() => null))
  if (!read.success) throw notUsable(lackOf(read.error))
  // Exactly this one: Microsoft's `common` answers for everybody's directories, with `{tenantid}` in its issuer.
  if (new URL(read.data.issuer).href === new URL(issuer).href) return read.data
  throw notUsable(`it calls itself ${shownText(read.data.issuer)}, and ${issuer} is set up`)
}

function notUsable(what: string): Fault {
  return new Fault(
    'configuration',
    `/.well-known/openid-configuration of the issuer cannot be used: ${what}.`,
  )
}

function lackOf(error: z.ZodError): string {
  const fields = new Set(error.issues.map(({ path }) => String(path[0] ?? '')).filter((name) => name !== ''))
  return fields.size === 0 ? 'it is not JSON' : `missing or wrong in it: ${[...fields].join(', ')}`
}
