// The metadata of an identity provider: the three settings of a domain, taken from the document that every provider offers.
import { X509Certificate } from 'node:crypto'
import { childrenOf, everyElement, parseXml, XmlFault, type XmlElement } from '../../../lib/strict-xml.ts'
import { MAX_CERTIFICATES, expiryOf } from '../../domains/certificates.ts'
import { METADATA, PROTOCOL, REDIRECT, SIGNATURE } from './names.ts'

export const MAX_METADATA_BYTES = 512 * 1024
const BOUNDS = { max_bytes: MAX_METADATA_BYTES, max_elements: 10_000, has_comments: true }
const MAX_ADDRESS = 512

/** The message is a sentence for whoever gave the document. */
export class MetadataFault extends Error {
  override readonly name = 'MetadataFault'
}

export type IdpMetadata = { saml_entity_id: string; saml_acs_url: string; saml_x509_cert: string }

export function readIdpMetadata(xml: string, now: Date): IdpMetadata {
  const entity = onlyProvider(parse(xml))
  const [descriptor] = childrenOf(entity, METADATA, 'IDPSSODescriptor')
  const saml_entity_id = entity.attributes.get('entityID')?.trim() ?? ''
  if (saml_entity_id === '' || saml_entity_id.length > MAX_ADDRESS)
    throw new MetadataFault('The metadata has no entityID, or it is longer than 512 characters.')
  return {
    saml_entity_id,
    saml_acs_url: signOnAddress(descriptor!),
    saml_x509_cert: signingCertificates(descriptor!, now).join('\n'),
  }
}

function parse(xml: string): XmlElement {
  try {
    return parseXml(xml, BOUNDS)
  } catch (error) {
    if (!(error instanceof XmlFault)) throw error
    throw new MetadataFault(`The metadata cannot be read. ${error.message}`)
  }
}

function onlyProvider(root: XmlElement): XmlElement {
  const providers = [...everyElement(root)].filter(
    (element) =>
      element.namespace === METADATA &&
      element.name === 'EntityDescriptor' &&
      childrenOf(element, METADATA, 'IDPSSODescriptor').some(({ attributes }) =>
        (attributes.get('protocolSupportEnumeration') ?? '').split(/\s+/).includes(PROTOCOL),
      ),
  )
  if (providers.length === 1) return providers[0]!
  throw new MetadataFault(
    providers.length === 0
      ? 'The document is not the SAML 2.0 metadata of an identity provider.'
      : `The metadata is of ${providers.length} identity providers; give that of one.`,
  )
}

function signOnAddress(descriptor: XmlElement): string {
  const address = childrenOf(descriptor, METADATA, 'SingleSignOnService')
    .find(({ attributes }) => attributes.get('Binding') === REDIRECT)
    ?.attributes.get('Location')
  if (address === undefined)
    throw new MetadataFault('The identity provider offers no sign-on address for the HTTP-Redirect binding.')
  const isWeb = URL.canParse(address) && ['http:', 'https:'].includes(new URL(address).protocol)
  if (!isWeb || address.length > MAX_ADDRESS)
    throw new MetadataFault('The sign-on address of the metadata is not an http or https address.')
  return address
}

/** In PEM, those that last longest first: expired ones are left out unless there is no other. */
function signingCertificates(descriptor: XmlElement, now: Date): string[] {
  const found = childrenOf(descriptor, METADATA, 'KeyDescriptor')
    .filter(({ attributes }) => (attributes.get('use') ?? 'signing') === 'signing')
    .flatMap((key) => [...everyElement(key)])
    .filter(({ namespace, name }) => namespace === SIGNATURE && name === 'X509Certificate')
    .map(({ text }) => certificateOf(text))
  const distinct = [...new Map(found.map((each) => [each.fingerprint256, each])).values()]
  const valid = distinct.filter((each) => expiryOf(each) > now)
  const kept = (valid.length > 0 ? valid : distinct)
    .sort((a, b) => expiryOf(b).getTime() - expiryOf(a).getTime())
    .slice(0, MAX_CERTIFICATES)
  if (kept.length === 0)
    throw new MetadataFault('The metadata holds no certificate to check signatures with.')
  return kept.map((each) => each.toString().trim())
}

function certificateOf(base64: string): X509Certificate {
  try {
    return new X509Certificate(Buffer.from(base64, 'base64'))
  } catch {
    throw new MetadataFault('A certificate of the metadata cannot be read.')
  }
}
