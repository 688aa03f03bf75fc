// Metadata of identity providers as they publish it, and what is not metadata.
import { describe, expect, it } from 'vitest'
import { makeCertificate } from '../../domains/fixture/certificate.ts'
import { readCertificates } from '../../domains/certificates.ts'
import { MetadataFault, readIdpMetadata } from './idp-metadata.ts'

const NOW = new Date('2026-01-01T00:00:00Z')
const until = (year: number) =>
  makeCertificate({ name: `until ${year}`, until: new Date(`${year}-01-01T00:00:00Z`) })
const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect'
const [long, short, expired] = [until(2040), until(2030), until(2025)]

const key = (base64: string, use = ' use="signing"') =>
  `<KeyDescriptor${use}><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>
  ${base64}
  </ds:X509Certificate></ds:X509Data></ds:KeyInfo></KeyDescriptor>`
const service = (binding = REDIRECT, location = 'https://idp.example/sso?a=1&amp;b=2') =>
  `<SingleSignOnService Binding="${binding}" Location="${location}"/>`
const entity = (inner = key(long.base64) + service(), id = 'https://idp.example/metadata') =>
  `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${id}">
  <IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">${inner}</IDPSSODescriptor></EntityDescriptor>`
const many = (...inner: string[]) =>
  `<EntitiesDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata">${inner.join('')}</EntitiesDescriptor>`
const read = (xml: string) => readIdpMetadata(xml, NOW)
const subjects = (pem: string) => readCertificates(pem)!.map(({ subject }) => subject)

describe('readIdpMetadata', () => {
  it('reads the three settings, comments and all', () => {
    const xml = `<?xml version="1.0"?>\n<!-- of the provider -->${entity(service('urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST', 'https://idp.example/post') + key(long.base64) + service())}`
    expect(read(xml)).toEqual({
      saml_entity_id: 'https://idp.example/metadata',
      saml_acs_url: 'https://idp.example/sso?a=1&b=2',
      saml_x509_cert: long.pem.trim(),
    })
    expect(read(many(entity())).saml_entity_id).toBe('https://idp.example/metadata')
  })

  it('takes certificates that sign, each once, those that last longest first', () => {
    const keys = [key(short.base64), key(long.base64, ''), key(long.base64), key(expired.base64)].join('')
    expect(subjects(read(entity(keys + service())).saml_x509_cert)).toEqual([
      'CN=until 2040',
      'CN=until 2030',
    ])
    expect(subjects(read(entity(key(expired.base64) + service())).saml_x509_cert)).toEqual(['CN=until 2025'])
    const more = Array.from({ length: 7 }, (_, index) => key(until(2030 + index).base64)).join('')
    expect(subjects(read(entity(more + service())).saml_x509_cert)).toHaveLength(5)
  })

  it.each([
    ['a page', '<html><body>Sign in</body></html>', /not the SAML 2.0 metadata/],
    ['no XML', 'hello', /cannot be read/],
    ['a DTD', `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>${entity()}`, /DTD/],
    [
      'a service provider',
      entity().replaceAll('IDPSSODescriptor', 'SPSSODescriptor'),
      /not the SAML 2.0 metadata/,
    ],
    [
      'SAML 1.1 alone',
      entity().replace('SAML:2.0:protocol', 'SAML:1.1:protocol'),
      /not the SAML 2.0 metadata/,
    ],
    ['two providers', many(entity(), entity(undefined, 'https://two.example')), /of 2 identity providers/],
    ['no id', entity().replace(/ entityID="[^"]*"/, ''), /no entityID/],
    ['a very long id', entity(undefined, `https://${'x'.repeat(600)}`), /512/],
    ['no redirect', entity(key(long.base64) + service('urn:other')), /HTTP-Redirect/],
    ['no web address', entity(key(long.base64) + service(REDIRECT, 'javascript:alert(1)')), /not an http/],
    ['no certificate', entity(service()), /no certificate/],
    ['one that only encrypts', entity(key(long.base64, ' use="encryption"') + service()), /no certificate/],
    ['a broken certificate', entity(key('AAAA') + service()), /cannot be read/],
    ['too many bytes', entity(`<!--${'x'.repeat(600_000)}-->`), /larger than 512 KB/],
  ])('refuses %s', (_name, xml, says) => {
    expect(() => read(xml)).toThrow(MetadataFault)
    expect(() => read(xml)).toThrow(says)
  })
})
