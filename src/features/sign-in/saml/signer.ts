// Whose key a signature was made with: a look at its few lines, before the whole document is canonicalized and hashed. That
// takes a tenth of a millisecond for each element, and anybody can send an answer; this cannot be got past without a
// signature that the provider really made.
import { parseDomFromString, xpath } from '@node-saml/node-saml/lib/xml.js'
import { verify, type X509Certificate } from 'node:crypto'
import { findAncestorNs, SignedXml } from 'xml-crypto'
import { childrenOf, type XmlElement } from '../../../lib/strict-xml.ts'
import type { Answer } from './answer.ts'
import { SIGNATURE } from './names.ts'

/** The certificate that every signature of the answer was made with. */
export async function findSigner(
  answer: Answer,
  certificates: readonly X509Certificate[],
): Promise<X509Certificate | undefined> {
  const { response, assertion, is_signed } = answer
  const within = [is_signed.response ? [response] : [], is_signed.assertion ? [response, assertion] : []]
  const signatures = await Promise.all(
    within.filter((path) => path.length > 0).map((path) => readSignature(answer.xml, path)),
  )
  return certificates.find((each) => signatures.every((signature) => isBy(each, signature)))
}

type Signature = { hash: string; signed: string; value: Buffer }

/** `path` leads to the element that has the signature. */
async function readSignature(xml: string, path: readonly XmlElement[]): Promise<Signature> {
  const [element] = childrenOf(path.at(-1), SIGNATURE, 'Signature')
  const [info] = childrenOf(element, SIGNATURE, 'SignedInfo')
  const [value] = childrenOf(element, SIGNATURE, 'SignatureValue')
  const algorithmOf = (name: string) => childrenOf(info, SIGNATURE, name)[0]!.attributes.get('Algorithm')!
  // The elements round it say what its prefixes mean.
  const alone = await parseDomFromString(
    [
      ...path.map(({ source }) => source.start_tag),
      xml.slice(element!.source.from, element!.source.to),
      ...path.toReversed().map(({ source }) => `</${/^<([^\s/>]+)/.exec(source.start_tag)![1]}>`),
    ].join(''),
  )
  const place = "//*[local-name(.)='SignedInfo']"
  return {
    hash: algorithmOf('SignatureMethod').split('-').at(-1)!,
    signed: new SignedXml().getCanonXml(
      [algorithmOf('CanonicalizationMethod')],
      xpath.selectElements(alone, place)[0]!,
      { ancestorNamespaces: findAncestorNs(alone, place) },
    ),
    value: Buffer.from(value!.text, 'base64'),
  }
}

function isBy({ publicKey }: X509Certificate, { hash, signed, value }: Signature): boolean {
  return publicKey.asymmetricKeyType === 'rsa' && verify(hash, Buffer.from(signed), publicKey, value)
}
