// Page elements as exports have them: the chain as text in `elements_chain`, or in `elements` the chain as JSON text, the
// list that browsers send, or the list that the API answers.
import { invalidPayload } from '../capture/refusal.ts'
import { isObject, type JsonObject } from '../../../lib/json-object.ts'
import { asJson, isGiven } from './field-values.ts'

type ElementProperties = { $elements_chain?: string; $elements?: JsonObject[] }

export function readElements({ elements_chain, elements }: JsonObject): ElementProperties {
  if (typeof elements_chain === 'string' && elements_chain !== '') return { $elements_chain: elements_chain }
  const value = asJson(elements)
  if (!isGiven(value)) return {}
  if (typeof value === 'string') return { $elements_chain: value }
  if (!Array.isArray(value)) throw invalidPayload('`elements` must be a list or a chain of elements as text')
  return value.length === 0 ? {} : { $elements: value.filter(isObject).map(asSent) }
}

/** By the names that browsers use. */
function asSent({ text, href, attr_class, attr_id, attributes, ...element }: JsonObject): JsonObject {
  const renamed = { $el_text: text, attr__href: href, attr__class: attr_class, attr__id: attr_id }
  const given = Object.entries(renamed).filter(([, value]) => isGiven(value))
  return { ...(isObject(attributes) ? attributes : {}), ...Object.fromEntries(given), ...element }
}
