// A verified assertion, from XML to plain values. Call with what `verify` returned and nothing else.
import { childrenOf, type XmlElement } from '../../../lib/strict-xml.ts'
import { AnswerFault } from './fault.ts'
import { ASSERTION, BEARER } from './names.ts'

export type Confirmation = {
  recipient: string | null
  in_response_to: string | null
  not_before: Date | null
  not_on_or_after: Date | null
}

export type Assertion = {
  id: string
  issuer: string
  issued_at: Date | null
  name_id: { value: string; format: string } | null
  /** Those of the bearer method; others are for protocols that are not spoken here. */
  confirmations: Confirmation[]
  not_before: Date | null
  not_on_or_after: Date | null
  session_not_on_or_after: Date | null
  /** One list for each restriction; all of them must hold. */
  audiences: string[][]
  /** Conditions of other kinds: who does not know one must not accept the assertion. */
  unknown_conditions: string[]
  attributes: Map<string, string[]>
}

const KNOWN_CONDITIONS = ['AudienceRestriction', 'OneTimeUse', 'ProxyRestriction']
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(Z|[+-]\d\d:\d\d)?$/

export function readAssertion(element: XmlElement): Assertion {
  const subject = atMostOne(element, 'Subject')
  const conditions = atMostOne(element, 'Conditions')
  const name = atMostOne(subject, 'NameID')
  return {
    id: element.attributes.get('ID') ?? '',
    issuer: textOf(atMostOne(element, 'Issuer')),
    issued_at: instantOf(element, 'IssueInstant'),
    name_id: name ? { value: textOf(name), format: name.attributes.get('Format') ?? '' } : null,
    confirmations: confirmationsOf(subject),
    not_before: instantOf(conditions, 'NotBefore'),
    not_on_or_after: instantOf(conditions, 'NotOnOrAfter'),
    session_not_on_or_after: instantOf(
      childrenOf(element, ASSERTION, 'AuthnStatement')[0],
      'SessionNotOnOrAfter',
    ),
    audiences: childrenOf(conditions, ASSERTION, 'AudienceRestriction').map((restriction) =>
      childrenOf(restriction, ASSERTION, 'Audience').map(textOf),
    ),
    unknown_conditions: (conditions?.children ?? [])
      .map(({ name }) => name)
      .filter((name) => !KNOWN_CONDITIONS.includes(name)),
    attributes: attributesOf(element),
  }
}

function confirmationsOf(subject: XmlElement | undefined): Confirmation[] {
  return childrenOf(subject, ASSERTION, 'SubjectConfirmation')
    .filter(({ attributes }) => attributes.get('Method') === BEARER)
    .map((confirmation) => {
      const data = atMostOne(confirmation, 'SubjectConfirmationData')
      return {
        recipient: data?.attributes.get('Recipient') ?? null,
        in_response_to: data?.attributes.get('InResponseTo') ?? null,
        not_before: instantOf(data, 'NotBefore'),
        not_on_or_after: instantOf(data, 'NotOnOrAfter'),
      }
    })
}

function attributesOf(element: XmlElement): Map<string, string[]> {
  const attributes = new Map<string, string[]>()
  for (const statement of childrenOf(element, ASSERTION, 'AttributeStatement')) {
    for (const attribute of childrenOf(statement, ASSERTION, 'Attribute')) {
      const name = attribute.attributes.get('Name') ?? ''
      const values = childrenOf(attribute, ASSERTION, 'AttributeValue')
        .filter(({ children }) => children.length === 0)
        .map(textOf)
      attributes.set(name, [...(attributes.get(name) ?? []), ...values])
    }
  }
  return attributes
}

function atMostOne(parent: XmlElement | undefined, name: string): XmlElement | undefined {
  const [first, ...more] = childrenOf(parent, ASSERTION, name)
  if (more.length > 0) throw new AnswerFault('format', `The assertion has more than one ${name}.`)
  return first
}

/** Elements inside would cut the text in two: then it says nothing. */
function textOf(element: XmlElement | undefined): string {
  return element && element.children.length === 0 ? element.text.trim() : ''
}

function instantOf(element: XmlElement | undefined, name: string): Date | null {
  const written = element?.attributes.get(name)
  if (written === undefined) return null
  const zone = INSTANT.exec(written)
  const instant = new Date(zone?.[1] ? written : `${written}Z`)
  if (!zone || Number.isNaN(instant.getTime()))
    throw new AnswerFault('times', `${name} of the assertion is not an instant: ${written.slice(0, 40)}`)
  return instant
}
