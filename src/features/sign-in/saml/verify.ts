// Checks the signatures of an answer against the pinned certificates, and returns the assertion from the bytes that were
// signed: whatever else the document holds is never read again.
import { getVerifiedXml, parseDomFromString, xpath } from '@node-saml/node-saml/lib/xml.js'
import type { X509Certificate } from 'node:crypto'
import { childrenOf, parseXml, XmlFault, type XmlElement } from '../../../lib/strict-xml.ts'
import { ANSWER_BOUNDS, type Answer } from './answer.ts'
import { AnswerFault } from './fault.ts'
import { ASSERTION } from './names.ts'
import { findSigner } from './signer.ts'

export type Verified = { assertion: XmlElement; certificate: X509Certificate }

/** KeyInfo is never asked: only certificates of the domain count. Throws AnswerFault. */
export async function verify(answer: Answer, certificates: readonly X509Certificate[]): Promise<Verified> {
  if (!certificates.some(({ publicKey }) => publicKey.asymmetricKeyType === 'rsa'))
    throw new AnswerFault(
      'certificate',
      'No certificate of this domain has an RSA key, which signatures are made with.',
    )
  const certificate = await findSigner(answer, certificates).catch(() => undefined)
  if (!certificate) {
    const pinned = certificates.map(({ fingerprint256 }) => fingerprint256.slice(0, 23)).join(', ')
    throw new AnswerFault(
      'signature',
      `The signature was not made with a certificate of this domain (SHA-256 ${pinned} …). Compare it with the one your identity provider shows.`,
    )
  }
  const signed = await signedText(answer, certificate)
  if (signed === null) throw new AnswerFault('signature', 'The answer was changed after it was signed.')
  return { assertion: assertionIn(signed), certificate }
}

/** Every signature that is there has to be right. Null when one is not. */
async function signedText({ xml, is_signed }: Answer, certificate: X509Certificate): Promise<string | null> {
  try {
    const document = await parseDomFromString(xml)
    const textOf = (path: string) =>
      getVerifiedXml(xml, xpath.selectElements(document, path)[0]!, [certificate.toString()])
    const response = is_signed.response ? textOf('/*') : null
    const assertion = is_signed.assertion ? textOf("/*/*[local-name()='Assertion']") : null
    if (is_signed.response && response === null) return null
    return is_signed.assertion ? assertion : response
  } catch {
    return null
  }
}

function assertionIn(signed: string): XmlElement {
  const root = parseSigned(signed)
  const [assertion, ...more] = root.name === 'Response' ? childrenOf(root, ASSERTION, 'Assertion') : [root]
  if (assertion?.namespace !== ASSERTION || assertion.name !== 'Assertion' || more.length > 0)
    throw new AnswerFault('one_assertion', 'What is signed is not exactly one assertion.')
  return assertion
}

/** Namespaces that were declared further out are written where they are used: that may be too much where it was not before. */
function parseSigned(signed: string): XmlElement {
  try {
    return parseXml(signed, ANSWER_BOUNDS)
  } catch (error) {
    throw error instanceof XmlFault ? new AnswerFault('format', error.message) : error
  }
}
