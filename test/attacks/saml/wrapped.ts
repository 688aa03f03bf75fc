// Signature wrapping: something signed is there, and something else is meant to be read.
import {
  ASSERTION,
  SIGNATURE,
  tampered,
  withoutSignature,
  type HostileAnswer,
  type SignInUnderWay,
} from './hostile-answer.ts'

const assertionOf = (xml: string) => ASSERTION.exec(xml)![0]
const signatureOf = (xml: string) => SIGNATURE.exec(xml)![0]
const putInto = (signature: string, xml: string) =>
  signature.replace(
    /<\/(ds:)?Signature>$/,
    (_, prefix = '') => `<${prefix}Object>${xml}</${prefix}Object></${prefix}Signature>`,
  )

/** The victim's, under another id and unsigned. */
function evilOf(element: string, { mallory, victim }: SignInUnderWay, id = '_evil'): string {
  return withoutSignature(element)
    .replaceAll(mallory, victim)
    .replace(/ ID="[^"]*"/, ` ID="${id}"`)
}

export const WRAPPED: readonly HostileAnswer[] = [
  tampered(
    'wrapping 1: the signed response inside the signature of a forged one',
    /signature .*parts|assertions/,
    (xml, by) => {
      const signature = signatureOf(xml)
      return evilOf(xml, by).replace(
        '</saml:Issuer>',
        `</saml:Issuer>${putInto(signature, withoutSignature(xml))}`,
      )
    },
    { signs: 'response' },
  ),
  tampered(
    'wrapping 2: the signed response beside the signature in a forged one',
    /assertions/,
    (xml, by) =>
      evilOf(xml, by).replace('</saml:Issuer>', `</saml:Issuer>${withoutSignature(xml)}${signatureOf(xml)}`),
    { signs: 'response' },
  ),
  tampered('wrapping 3: a forged assertion before the signed one', /2 assertions/, (xml, by) =>
    xml.replace(ASSERTION, (signed) => evilOf(signed, by) + signed),
  ),
  tampered('wrapping 4: the signed assertion inside a forged one', /2 assertions/, (xml, by) =>
    xml.replace(ASSERTION, (signed) =>
      evilOf(signed, by).replace('</saml:Assertion>', `${signed}</saml:Assertion>`),
    ),
  ),
  tampered(
    'wrapping 5: the signature in a forged assertion, the original behind it',
    /2 assertions/,
    (xml, by) =>
      xml.replace(
        ASSERTION,
        (signed) =>
          evilOf(signed, by).replace('</saml:Issuer>', `</saml:Issuer>${signatureOf(signed)}`) +
          withoutSignature(signed),
      ),
  ),
  tampered('wrapping 6: the original inside the signature of a forged assertion', /2 assertions/, (xml, by) =>
    xml.replace(ASSERTION, (signed) =>
      evilOf(signed, by).replace(
        '</saml:Issuer>',
        `</saml:Issuer>${signatureOf(signed).replace(/(<\/(?:ds:)?Signature>)$/, `${withoutSignature(signed)}$1`)}`,
      ),
    ),
  ),
  tampered('wrapping 7: a forged assertion of the same id in the extensions', /2 assertions/, (xml, by) => {
    const signed = assertionOf(xml)
    const id = / ID="([^"]*)"/.exec(signed)![1]!
    return xml.replace(
      '<samlp:Status>',
      `<samlp:Extensions>${evilOf(signed, by, id)}</samlp:Extensions><samlp:Status>`,
    )
  }),
  tampered(
    'wrapping 8: the original in an object of the signature of a forged assertion',
    /2 assertions/,
    (xml, by) =>
      xml.replace(ASSERTION, (signed) =>
        evilOf(signed, by).replace(
          '</saml:Issuer>',
          `</saml:Issuer>${putInto(signatureOf(signed), withoutSignature(signed))}`,
        ),
      ),
  ),
  tampered('a forged assertion after the signed one', /2 assertions/, (xml, by) =>
    xml.replace(ASSERTION, (signed) => signed + evilOf(signed, by)),
  ),
  tampered('two signed assertions', /2 assertions/, (xml) =>
    xml.replace(ASSERTION, (signed) => signed + signed.replace(/ ID="/, ' ID="_')),
  ),
  tampered('a forged assertion as advice in the signed one', /2 assertions/, (xml, by) =>
    xml.replace(ASSERTION, (signed) =>
      signed.replace(
        '</saml:Assertion>',
        `<saml:Advice>${evilOf(signed, by)}</saml:Advice></saml:Assertion>`,
      ),
    ),
  ),
  tampered('a forged assertion of another namespace', /2 assertions/, (xml, by) =>
    xml.replace(
      '<samlp:Status>',
      `${evilOf(assertionOf(xml), by).replace('SAML:2.0:assertion', 'SAML:2.0:other')}<samlp:Status>`,
    ),
  ),
  tampered('the signed assertion below another element', /no assertion/, (xml) =>
    xml.replace(ASSERTION, (signed) => `<samlp:Extensions>${signed}</samlp:Extensions>`),
  ),
  tampered('the id of the assertion on another element', /same ID/, (xml) => {
    const id = / ID="([^"]*)"/.exec(assertionOf(xml))![1]!
    return xml.replace('<samlp:Status>', `<samlp:Status ID="${id}">`)
  }),
  tampered('the id of the assertion in another spelling on another element', /same ID/, (xml) => {
    const id = / ID="([^"]*)"/.exec(assertionOf(xml))![1]!
    return xml.replace('<samlp:Status>', `<samlp:Status id="${id}">`)
  }),
  tampered('a signature about another element', /not about the element/, (xml) =>
    xml.replace(/ URI="#[^"]*"/, ' URI="#_elsewhere"'),
  ),
  tampered('a signature about the whole document', /not about the element/, (xml) =>
    xml.replace(/ URI="#[^"]*"/, ' URI=""'),
  ),
  tampered('a signature outside of response and assertion', /signature stands/, (xml) => {
    const signature = signatureOf(xml)
    return withoutSignature(xml).replace('<samlp:Status>', `<samlp:Status>${signature}`)
  }),
  tampered('an object in the signature', /holds parts/, (xml) =>
    xml.replace(SIGNATURE, (signature) => putInto(signature, 'x')),
  ),
  tampered('a second signature', /more than one signature/, (xml) =>
    xml.replace(SIGNATURE, (signature) => signature + signature),
  ),
  tampered('a second reference', /exactly one Reference/, (xml) =>
    xml.replace(
      /<(ds:)?Reference\b[\s\S]*?<\/(ds:)?Reference>/,
      (reference) => reference + reference.replace(/ URI="#/, ' URI="#_'),
    ),
  ),
  tampered('no reference', /exactly one Reference/, (xml) =>
    xml.replace(/<(ds:)?Reference\b[\s\S]*?<\/(ds:)?Reference>/, ''),
  ),
  tampered('two signed infos', /exactly one SignedInfo/, (xml) =>
    xml.replace(/<(ds:)?SignedInfo\b[\s\S]*?<\/(ds:)?SignedInfo>/, (info) => info + info),
  ),
  tampered('a signed info inside the key info', /exactly one/, (xml) => {
    const info = /<(ds:)?SignedInfo\b[\s\S]*?<\/(ds:)?SignedInfo>/.exec(xml)![0]
    return xml.replace(/<(ds:)?KeyInfo>/, (begin) => begin + info)
  }),
]
