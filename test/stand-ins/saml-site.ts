// The site of an identity provider: its metadata, and a page that signs in at once whoever the test says is there.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inflateRawSync } from 'node:zlib'
import { saying } from '../attacks/saml/hostile-answer.ts'
import { encode, mintAnswer, openIdentityProvider, type IdentityProvider } from './identity-provider.ts'

export type SamlSite = {
  idp: IdentityProvider
  metadata_url: string
  /** The link on the provider's own page, which nobody asked for. */
  tileOf(domainId: string): string
  /** Whom the provider vouches for from now on. */
  signsIn(email: string): void
  close(): void
}

export async function startSamlSite(site_url: string): Promise<SamlSite> {
  const made = openIdentityProvider('idp.example')
  let email = ''
  const answer = async ({ url }: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(url!, 'http://idp.example')
    if (pathname === '/metadata') return response.setHeader('content-type', 'text/xml').end(metadataOf(idp))
    if (pathname !== '/sso') return response.writeHead(204).end()
    const request_id = requestIn(searchParams)
    const xml = await mintAnswer(
      saying({ idp, site_url, request_id: '', victim: '', mallory: email }, { request_id }),
    )
    return response.setHeader('content-type', 'text/html').end(
      `<body onload="document.forms[0].submit()"><form method="post" action="${site_url}/complete/saml/">
      <input name="SAMLResponse" value="${encode(xml)}">
      <input name="RelayState" value="${searchParams.get('RelayState')}"></form>`,
    )
  }
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const idp = { ...made, sso_url: `${address}/sso` }
  return {
    idp,
    metadata_url: `${address}/metadata`,
    tileOf: (domainId) => `${address}/sso?RelayState=${domainId}`,
    signsIn: (who) => void (email = who),
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Null where the provider begins. */
function requestIn(parameters: URLSearchParams): string | null {
  const sent = parameters.get('SAMLRequest')
  if (sent === null) return null
  return / ID="([^"]+)"/.exec(inflateRawSync(Buffer.from(sent, 'base64')).toString())![1]!
}

function metadataOf({ entity_id, sso_url, certificate }: IdentityProvider): string {
  const base64 = certificate.pem.replaceAll(/-----[^-]+-----|\s/g, '')
  return `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${entity_id}">
    <IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
      <KeyDescriptor use="signing"><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#">
        <X509Data><X509Certificate>${base64}</X509Certificate></X509Data></KeyInfo></KeyDescriptor>
      <SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${sso_url}"/>
    </IDPSSODescriptor></EntityDescriptor>`
}
