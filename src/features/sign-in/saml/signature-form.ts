// What a signature may look like: one reference, to the element it stands in, by algorithms that are still sound. Forged
// answers live from everything else that XML signatures allow.
import { childrenOf, everyElement, type XmlElement } from '../../../lib/strict-xml.ts'
import { AnswerFault } from './fault.ts'
import { SIGNATURE } from './names.ts'

const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#'
const ENVELOPED = `${SIGNATURE}enveloped-signature`
const CANONICAL = [EXCLUSIVE, 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315']
const SIGNING = ['rsa-sha256', 'rsa-sha512'].map((name) => `http://www.w3.org/2001/04/xmldsig-more#${name}`)
const DIGESTS = ['sha256', 'sha512'].map((name) => `http://www.w3.org/2001/04/xmlenc#${name}`)
const PARTS = ['SignedInfo', 'SignatureValue', 'KeyInfo']

export function assertSignatureForm(signature: XmlElement, signed: XmlElement): void {
  if (signature.children.some((child) => child.namespace !== SIGNATURE || !PARTS.includes(child.name)))
    throw fault('holds parts that are not accepted')
  const info = only(signature, 'SignedInfo')
  only(signature, 'SignatureValue')
  const reference = only(info, 'Reference')
  // The library looks for these by name, wherever they stand.
  for (const name of ['CanonicalizationMethod', 'SignatureMethod', 'SignedInfo', 'Reference', 'DigestValue'])
    if ([...everyElement(signature)].filter((element) => element.name === name).length !== 1)
      throw fault(`has not exactly one ${name}`)
  const id = signed.attributes.get('ID')
  if (!id || reference.attributes.get('URI') !== `#${id}`)
    throw fault('is not about the element it stands in')
  assertAlgorithm(only(info, 'CanonicalizationMethod'), CANONICAL)
  assertAlgorithm(only(info, 'SignatureMethod'), SIGNING)
  assertAlgorithm(only(reference, 'DigestMethod'), DIGESTS)
  const transforms = childrenOf(only(reference, 'Transforms'), SIGNATURE, 'Transform')
  for (const transform of transforms) assertAlgorithm(transform, [ENVELOPED, ...CANONICAL])
  const algorithms = transforms.map(({ attributes }) => attributes.get('Algorithm'))
  if (algorithms[0] !== ENVELOPED || algorithms.length > 2 || algorithms[1] === ENVELOPED)
    throw fault('has transforms that are not accepted')
}

function only(parent: XmlElement, name: string): XmlElement {
  const [child, ...more] = childrenOf(parent, SIGNATURE, name)
  if (!child || more.length > 0) throw fault(`has not exactly one ${name}`)
  return child
}

function assertAlgorithm({ attributes }: XmlElement, accepted: readonly string[]): void {
  const algorithm = attributes.get('Algorithm') ?? ''
  if (accepted.includes(algorithm)) return
  const name = algorithm.split('#').at(-1)?.slice(0, 60) || algorithm.slice(0, 100)
  const hint = name.endsWith('sha1') ? ' Switch the identity provider to SHA-256.' : ''
  throw new AnswerFault('signature', `The signature uses an algorithm that is not accepted: ${name}.${hint}`)
}

function fault(what: string): AnswerFault {
  return new AnswerFault('signature', `The signature ${what}.`)
}
