// An identity provider that says whatever a test wants: samlp mints its answers, and what samlp would never write is written
// into them before or after they are signed.
import { signXml } from '@node-saml/node-saml/lib/xml.js'
import { createPublicKey } from 'node:crypto'
import { makeCertificate, type TestCertificate } from '../../src/features/domains/fixture/certificate.ts'

export type IdentityProvider = { entity_id: string; sso_url: string; certificate: TestCertificate }

export type Signs = 'assertion' | 'response' | 'both' | 'none'

export type Said = {
  /** Whose answer it claims to be, and who signs it. */
  issuer: string
  certificate: TestCertificate
  audience: string | string[]
  recipient: string
  destination: string
  /** None where the provider begins. */
  request_id: string | null
  attributes: Record<string, string | string[]>
  name_id: string
  name_id_format: string
  lifetime_s: number
  signs: Signs
  algorithm: 'sha256' | 'sha1'
  status: string
  is_encrypted: boolean
  /** On the XML before it is signed. */
  edit(xml: string): string
}

export const PERSISTENT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent'

export function openIdentityProvider(name: string): IdentityProvider {
  return {
    entity_id: `https://${name}/metadata`,
    sso_url: `https://${name}/sso?tenant=1`,
    certificate: makeCertificate({ type: 'rsa', name }),
  }
}

/** As it publishes itself. */
export function metadataOf({ entity_id, sso_url, certificate }: IdentityProvider): string {
  return `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${entity_id}">
    <IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
    <KeyDescriptor><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data>
    <ds:X509Certificate>${certificate.base64}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></KeyDescriptor>
    <SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${sso_url}"/>
    </IDPSSODescriptor></EntityDescriptor>`
}

/** The XML of an answer. */
export async function mintAnswer(said: Said): Promise<string> {
  const { certificate, signs, algorithm } = said
  // It reads its templates from its own folder, so whoever bundles the attacks to count them must not load it.
  const { default: samlp } = await import('samlp')
  const xml = await new Promise<string>((resolve, reject) =>
    samlp.getSamlResponse(
      {
        issuer: said.issuer,
        cert: certificate.pem,
        key: certificate.private_key_pem,
        audience: said.audience,
        recipient: said.recipient,
        destination: said.destination,
        lifetimeInSeconds: said.lifetime_s,
        signAssertion: said.is_encrypted,
        samlStatusCode: said.status,
        ...(said.request_id === null ? {} : { inResponseTo: said.request_id }),
        ...(said.is_encrypted ? encryptedFor(certificate) : {}),
        profileMapper: () => ({
          getClaims: () => said.attributes,
          getNameIdentifier: () => ({
            nameIdentifier: said.name_id,
            nameIdentifierFormat: said.name_id_format,
          }),
        }),
      },
      {},
      (error, minted) => (error ? reject(error) : resolve(minted)),
    ),
  )
  const edited = said.edit(xml)
  const inside =
    signs === 'assertion' || signs === 'both'
      ? signElement(edited, 'Assertion', certificate, algorithm)
      : edited
  return signs === 'response' || signs === 'both'
    ? signElement(inside, 'Response', certificate, algorithm)
    : inside
}

/** Signs the first element of that name, and puts the signature behind its issuer. */
export function signElement(
  xml: string,
  name: 'Assertion' | 'Response',
  { private_key_pem, pem }: TestCertificate,
  algorithm: 'sha256' | 'sha1' = 'sha256',
): string {
  const path = `//*[local-name(.)='${name}']`
  return signXml(
    xml,
    path,
    { reference: `${path}/*[local-name(.)='Issuer']`, action: 'after' },
    {
      privateKey: private_key_pem,
      publicCert: pem,
      signatureAlgorithm: algorithm,
      digestAlgorithm: algorithm,
    },
  )
}

export function encode(xml: string): string {
  return Buffer.from(xml).toString('base64')
}

function encryptedFor({ pem }: TestCertificate) {
  const key = createPublicKey(pem).export({ type: 'spki', format: 'pem' })
  return { encryptionCert: pem, encryptionPublicKey: String(key) }
}
