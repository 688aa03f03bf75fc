// What is sent to an identity provider: the signed request of a sign-in, and the metadata that it is set up with.
import { generateServiceProviderMetadata, SAML } from '@node-saml/node-saml'
import type { DomainRow } from '../../domains/schema.ts'
import type { SamlKeys } from './keys.ts'

/** The service provider as providers know it. */
export function acsUrl(site_url: string): string {
  return `${site_url}/complete/saml/`
}

/** The state travels as the id of the request, because the relay state is the domain's. */
export function requestIdOf(state: string): string {
  return `_${state}`
}

export function stateOf(requestId: string): string {
  return requestId.slice(1)
}

type Asking = { site_url: string; keys: SamlKeys; domain: DomainRow; state: string }

/** Where the browser goes: HTTP-Redirect, signed with RSA and SHA-256. */
export function requestUrl({ site_url, keys, domain, state }: Asking): Promise<string> {
  const sender = new SAML({
    issuer: site_url,
    callbackUrl: acsUrl(site_url),
    entryPoint: domain.saml_acs_url!,
    idpCert: domain.saml_x509_cert!,
    privateKey: keys.private_key,
    signatureAlgorithm: 'sha256',
    generateUniqueId: () => requestIdOf(state),
    // How people prove who they are, and what they are called, is the provider's matter.
    disableRequestedAuthnContext: true,
    identifierFormat: null,
  })
  return sender.getAuthorizeUrlAsync(domain.id, undefined, {})
}

export function spMetadata(site_url: string, { private_key, certificates }: SamlKeys): string {
  return generateServiceProviderMetadata({
    issuer: site_url,
    callbackUrl: acsUrl(site_url),
    privateKey: private_key,
    publicCerts: certificates,
    wantAssertionsSigned: true,
    identifierFormat: null,
  })
}
