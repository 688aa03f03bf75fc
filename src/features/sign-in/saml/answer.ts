// The form of an answer, before its signature is looked at: what it may hold and how often. Nothing that is read here is
// believed; a provider's status and the ids are used to say what is wrong and to find the attempt.
import {
  childrenOf,
  everyElement,
  normalXml,
  parseXml,
  XmlFault,
  type XmlElement,
} from '../../../lib/strict-xml.ts'
import { AnswerFault } from './fault.ts'
import { ASSERTION, PROTOCOL, SIGNATURE, SUCCESS } from './names.ts'
import { assertSignatureForm } from './signature-form.ts'

export const MAX_ANSWER_BYTES = 256 * 1024
export const ANSWER_BOUNDS = { max_bytes: MAX_ANSWER_BYTES, max_elements: 1_000, has_comments: false }
/** Elements that no signature covers: status, issuer and a few more. Verification looks at all of them, at some cost. */
const MAX_UNSIGNED = 100
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

export type Answer = {
  xml: string
  response: XmlElement
  assertion: XmlElement
  /** Which of the two are signed; at least one is. */
  is_signed: { response: boolean; assertion: boolean }
}

/** The root alone, for finding the attempt: throws AnswerFault. */
export function readResponse(encoded: string): { xml: string; response: XmlElement } {
  const xml = decode(encoded)
  try {
    const response = parseXml(xml, ANSWER_BOUNDS)
    if (response.namespace !== PROTOCOL || response.name !== 'Response')
      throw new AnswerFault('format', 'The answer is XML, but not a SAML 2.0 Response.')
    return { xml, response }
  } catch (error) {
    throw error instanceof XmlFault
      ? new AnswerFault('format', `The answer cannot be read. ${error.message}`)
      : error
  }
}

export function readAnswer(encoded: string): Answer {
  const { xml, response } = readResponse(encoded)
  assertSuccess(response)
  const assertion = onlyAssertion(response)
  assertUniqueIds(response)
  const is_signed = {
    response: hasSoundSignature(response),
    assertion: hasSoundSignature(assertion),
  }
  assertNoOtherSignature(response, assertion)
  if (!is_signed.response && !is_signed.assertion)
    throw new AnswerFault(
      'signature',
      'Neither the response nor its assertion is signed. Switch on signing of assertions at the identity provider.',
    )
  const unsigned = count(response) - count(is_signed.response ? response : assertion)
  if (unsigned > MAX_UNSIGNED)
    throw new AnswerFault('format', 'The answer has too many elements outside of what is signed.')
  return { xml, response, assertion, is_signed }
}

function count(element: XmlElement): number {
  return [...everyElement(element)].length
}

function decode(encoded: string): string {
  const base64 = encoded.replace(/\s+/g, '')
  if (base64.length > Math.ceil(MAX_ANSWER_BYTES / 3) * 4)
    throw new AnswerFault('format', `The answer is larger than ${MAX_ANSWER_BYTES / 1024} KB.`)
  if (!BASE64.test(base64)) throw new AnswerFault('format', 'The answer is not base64 text.')
  try {
    return normalXml(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(base64, 'base64')))
  } catch {
    throw new AnswerFault('format', 'The answer is not UTF-8 text.')
  }
}

function assertSuccess(response: XmlElement): void {
  const [status] = childrenOf(response, PROTOCOL, 'Status')
  const [code] = childrenOf(status, PROTOCOL, 'StatusCode')
  const value = code?.attributes.get('Value')
  if (value === SUCCESS) return
  const [inner] = childrenOf(code, PROTOCOL, 'StatusCode')
  const [message] = childrenOf(status, PROTOCOL, 'StatusMessage')
  const said = [value, inner?.attributes.get('Value')].map((urn) => urn?.split(':').at(-1) ?? '')
  const words = [said.filter(Boolean).join(' / ') || 'no status', message?.text.trim()]
    .filter(Boolean)
    .join(': ')
  throw new AnswerFault(
    'status',
    `The identity provider did not sign anybody in. It says: ${words.slice(0, 300)}`,
  )
}

/** Counted by name alone, in any namespace and at any depth: whoever hides a second one does not get to say where. */
function onlyAssertion(response: XmlElement): XmlElement {
  const named = [...everyElement(response)].filter(({ name }) => /assertion$/i.test(name))
  if (named.some(({ name }) => /^encrypted/i.test(name)))
    throw new AnswerFault(
      'one_assertion',
      'The assertion is encrypted, which is not supported. Switch encryption off at the identity provider; TLS protects it on its way.',
    )
  const [assertion] = childrenOf(response, ASSERTION, 'Assertion')
  if (!assertion) throw new AnswerFault('one_assertion', 'The answer holds no assertion.')
  if (named.length !== 1)
    throw new AnswerFault(
      'one_assertion',
      `The answer holds ${named.length} assertions; exactly one is accepted.`,
    )
  return assertion
}

/** In every spelling that a signature's reference could mean. */
function assertUniqueIds(response: XmlElement): void {
  const seen = new Set<string>()
  for (const { attributes } of everyElement(response)) {
    for (const [name, value] of attributes) {
      if (!/^(?:.*:)?id$/i.test(name)) continue
      if (seen.has(value)) throw new AnswerFault('format', 'Two elements of the answer have the same ID.')
      seen.add(value)
    }
  }
}

function hasSoundSignature(element: XmlElement): boolean {
  const signatures = childrenOf(element, SIGNATURE, 'Signature')
  if (signatures.length > 1)
    throw new AnswerFault('signature', `The ${element.name} has more than one signature.`)
  for (const signature of signatures) assertSignatureForm(signature, element)
  return signatures.length === 1
}

function assertNoOtherSignature(response: XmlElement, assertion: XmlElement): void {
  const own = new Set([response, assertion].flatMap((element) => childrenOf(element, SIGNATURE, 'Signature')))
  const others = [...everyElement(response)].filter(
    (element) => element.name.toLowerCase() === 'signature' && !own.has(element),
  )
  if (others.length > 0)
    throw new AnswerFault(
      'signature',
      'A signature stands where neither the response nor the assertion has its own.',
    )
}
