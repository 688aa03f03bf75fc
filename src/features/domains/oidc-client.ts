// The application that a domain's admin has registered at an OpenID provider: where that is, its secret, and where people
// come back to.
import type { Outbound } from '../../platform/outbound/outbound.ts'
import { OutboundRefused } from '../../platform/outbound/errors.ts'
import { invalid } from '../../platform/http/errors.ts'
import type { Services } from '../../platform/services.ts'
import type { DomainFields } from './schema.ts'

type Sealing = Pick<Services, 'secrets'>

const placeOf = (domainId: string) => ({ table: 'domain', row: domainId, column: 'oidc_client_secret' })

/** The fields as they are stored: without its secret in the open. */
export function sealed<Fields extends DomainFields>(
  { secrets }: Sealing,
  domainId: string,
  fields: Fields,
): Fields {
  const { oidc_client_secret: secret } = fields
  if (secret === undefined) return fields
  return { ...fields, oidc_client_secret: secret ? secrets.seal(secret, placeOf(domainId)) : null }
}

export function openClientSecret({ secrets }: Sealing, domainId: string, sealedSecret: string): string {
  return secrets.open(sealedSecret, placeOf(domainId))
}

/** Checked again at every call: a name may lead to another address by then. */
export async function assertIssuerAllowed(outbound: Outbound, { oidc_issuer }: DomainFields): Promise<void> {
  if (!oidc_issuer) return
  try {
    await outbound.checkedAddress(new URL(oidc_issuer).hostname)
  } catch (error) {
    if (!(error instanceof OutboundRefused)) throw error
    throw invalid('oidc_issuer', 'invalid_input', error.message)
  }
}

/**
 * Providers that name themselves in their answers send people to the address that all domains share; others to the domain's
 * own, so that no domain's provider gets a code of another's.
 */
export function oidcRedirectUris({ settings }: Pick<Services, 'settings'>, domainId: string) {
  const shared = `${settings.site_url}/complete/oidc/`
  return { shared, own: `${shared}${domainId}/` }
}
