// Signatures that are missing, wrong or made by somebody else, and XML that means to hurt whoever reads it.
import { createHmac } from 'node:crypto'
import { makeCertificate } from '../../../src/features/domains/fixture/certificate.ts'
import { signElement } from '../../stand-ins/identity-provider.ts'
import { edited, row, tampered, withoutSignature, wrong, type HostileAnswer } from './hostile-answer.ts'

export const FORGED: readonly HostileAnswer[] = [
  wrong('no signature at all', /Neither the response nor its assertion is signed/, () => ({ signs: 'none' })),
  tampered('the signature cut out', /is signed/, withoutSignature),
  tampered('an empty signature value', /not made with a certificate/, (xml) =>
    xml.replace(/(<(?:ds:)?SignatureValue>)[^<]*/, '$1'),
  ),
  tampered('another digest', /not made with a certificate/, (xml) =>
    xml.replace(/(<(?:ds:)?DigestValue>)[^<]{4}/, '$1AAAA'),
  ),
  tampered('a comment in the digest', /comment/, (xml) =>
    xml.replace(/(<(?:ds:)?DigestValue>)/, '$1<!--x-->'),
  ),
  tampered('the address changed', /changed after it was signed/, (xml, { mallory, victim }) =>
    xml.replaceAll(mallory, victim),
  ),
  tampered('the name id changed', /changed after it was signed/, (xml, { mallory, victim }) =>
    xml.replace(`>${mallory}</saml:NameID>`, `>${victim}</saml:NameID>`),
  ),
  tampered(
    'the assertion changed inside a signed response',
    /changed after it was signed/,
    (xml, { mallory, victim }) => xml.replaceAll(mallory, victim),
    { signs: 'response' },
  ),
  tampered(
    'the response changed round a signed assertion, both being signed',
    /changed after it was signed/,
    (xml) => xml.replace('<samlp:Status>', '<samlp:Extensions/><samlp:Status>'),
    { signs: 'both' },
  ),
  wrong('the key of somebody else', /not made with a certificate/, () => ({
    certificate: makeCertificate({ type: 'rsa', name: 'mallory' }),
  })),
  row(
    'the key of somebody else, with the certificate of the provider',
    /not made with a certificate/,
    async (by) => {
      const own = makeCertificate({ type: 'rsa', name: 'mallory' })
      const xml = await by.mint({
        signs: 'none',
        edit: (unsigned) => unsigned.replaceAll(by.mallory, by.victim),
      })
      return signElement(xml, 'Assertion', { ...own, pem: by.idp.certificate.pem })
    },
  ),
  wrong('SHA-1', /not accepted: .*sha1.*SHA-256/, () => ({ algorithm: 'sha1' })),
  tampered('no algorithm', /algorithm that is not accepted/, (xml) =>
    xml.replace('http://www.w3.org/2001/04/xmldsig-more#rsa-sha256', 'none'),
  ),
  tampered(
    'a keyed hash with the public certificate as its key',
    /not accepted: hmac-sha256/,
    (xml, { idp }) => {
      const value = createHmac('sha256', idp.certificate.pem).update(xml).digest('base64')
      return xml
        .replace('#rsa-sha256', '#hmac-sha256')
        .replace(/(<(?:ds:)?SignatureValue>)[^<]*/, `$1${value}`)
    },
  ),
  tampered('a transform by XSLT', /not accepted/, (xml) =>
    xml.replace(
      'http://www.w3.org/2001/10/xml-exc-c14n#"/></',
      'http://www.w3.org/TR/1999/REC-xslt-19991116"/></',
    ),
  ),
  tampered('a transform by XPath', /not accepted/, (xml) =>
    xml.replace(
      'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
      'http://www.w3.org/TR/1999/REC-xpath-19991116',
    ),
  ),
  tampered('a canonical form with comments', /not accepted/, (xml) =>
    xml.replaceAll(
      'http://www.w3.org/2001/10/xml-exc-c14n#',
      'http://www.w3.org/2001/10/xml-exc-c14n#WithComments',
    ),
  ),
]

export const HOSTILE_XML: readonly HostileAnswer[] = [
  tampered('a comment inside the name id', /comment/, (xml, { mallory }) =>
    xml.replace(`>${mallory}</saml:NameID>`, `>${mallory.replace('@', '<!-- -->@')}</saml:NameID>`),
  ),
  edited('a comment inside the address, signed', /comment/, (xml, { mallory }) =>
    xml.replace(
      `>${mallory}</saml:AttributeValue>`,
      `>${mallory.replace('@', '<!-- -->@')}</saml:AttributeValue>`,
    ),
  ),
  tampered('a CDATA section', /CDATA/, (xml, { mallory }) =>
    xml.replace(`>${mallory}</saml:NameID>`, `><![CDATA[${mallory}]]></saml:NameID>`),
  ),
  tampered('an instruction', /instruction/, (xml) =>
    xml.replace('<samlp:Status>', '<?php x?><samlp:Status>'),
  ),
  tampered('a DTD', /DTD/, (xml) => `<!DOCTYPE Response>${xml}`),
  tampered('an entity', /DTD/, (xml, { victim }) => `<!DOCTYPE r [<!ENTITY v "${victim}">]>${xml}`),
  tampered(
    'an entity from a file',
    /DTD/,
    (xml) => `<!DOCTYPE r [<!ENTITY v SYSTEM "file:///etc/passwd">]>${xml}`,
  ),
  tampered(
    'an entity from an address',
    /DTD/,
    (xml) => `<!DOCTYPE r [<!ENTITY % v SYSTEM "http://127.0.0.1/x"> %v;]>${xml}`,
  ),
  tampered('entities that multiply', /DTD/, (xml) => {
    const lines = Array.from({ length: 9 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`)
    return `<!DOCTYPE r [<!ENTITY l0 "lol">${lines.join('')}]>${xml}`
  }),
  tampered('an entity that nobody defined', /entity/, (xml, { mallory }) =>
    xml.replace(`>${mallory}</saml:NameID>`, '>&victim;</saml:NameID>'),
  ),
  tampered('a NUL in the address', /entity|characters/, (xml, { mallory }) =>
    xml.replace(`>${mallory}</saml:NameID>`, `>${mallory}&#0;</saml:NameID>`),
  ),
  tampered('elements inside the address', /./, (xml, { mallory }) =>
    xml.replace(`>${mallory}</saml:NameID>`, `>${mallory}<x/></saml:NameID>`),
  ),
  tampered('text after the end', /cannot be read/, (xml) => `${xml}<x/>`),
  tampered('an attribute twice', /twice/, (xml) =>
    xml.replace(' Version="2.0"', ' Version="2.0" Version="2.0"'),
  ),
  tampered('a prefix that is not declared', /prefix/, (xml) =>
    xml.replace('<samlp:Status>', '<evil:x/><samlp:Status>'),
  ),
  tampered('more than 256 KB', /larger than 256 KB/, (xml) =>
    xml.replace('<samlp:Status>', `<x>${'a'.repeat(262_144)}</x><samlp:Status>`),
  ),
  tampered('very deep nesting', /nested too deeply/, (xml) =>
    xml.replace('<samlp:Status>', `${'<x>'.repeat(5000)}${'</x>'.repeat(5000)}<samlp:Status>`),
  ),
  tampered('very many elements', /too many elements/, (xml) =>
    xml.replace('<samlp:Status>', `${'<x/>'.repeat(20_000)}<samlp:Status>`),
  ),
  tampered('many elements outside of what is signed', /outside of what is signed/, (xml) =>
    xml.replace('<samlp:Status>', `${'<x/>'.repeat(500)}<samlp:Status>`),
  ),
  tampered('very many attributes', /too many attributes/, (xml) => {
    const many = Array.from({ length: 5000 }, (_, i) => ` a${i}="b"`).join('')
    return xml.replace('<samlp:Status>', `<x${many}/><samlp:Status>`)
  }),
  row('no base64', /not base64/, async () => ({ field: '<samlp:Response/>' })),
  row('no XML', /cannot be read/, async () => 'hello'),
  row('no UTF-8', /not UTF-8/, async () => ({
    field: Buffer.from([0x3c, 0xff, 0xfe, 0x3e]).toString('base64'),
  })),
  row(
    'a request in place of an answer',
    /not a SAML 2.0 Response/,
    async () => '<samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="_1"/>',
  ),
  tampered('an assertion of SAML 1.1', /no assertion/, (xml) =>
    xml.replaceAll('SAML:2.0:assertion', 'SAML:1.0:assertion'),
  ),
]
