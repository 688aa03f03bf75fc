// The chain of page elements a click went through, as one text: the clicked element first, then its parents.
import { cutText } from './cut-text.ts'
import { isObject, type JsonObject } from '../../../lib/json-object.ts'

const MAX_TEXT = 400
const MAX_HREF = 2048
const ATTRIBUTE = 'attr__'
/** They have places of their own. */
const LIFTED = new Set(['attr__class', 'attr__href', 'attr__id'])

/**
 * Takes `$elements_chain` (text) or `$elements` (a list) out of the properties. What is of another type stays where it is:
 * then it is just a property with that name.
 */
export function takeElementsChain(properties: JsonObject): string {
  const { $elements_chain: chain, $elements: elements } = properties
  if (typeof chain === 'string') delete properties.$elements_chain
  if (Array.isArray(elements)) delete properties.$elements
  if (typeof chain === 'string') return chain
  return Array.isArray(elements) ? elementsChain(elements) : ''
}

function elementsChain(elements: readonly unknown[]): string {
  return elements.filter(isObject).map(describeElement).join(';')
}

function describeElement(element: JsonObject): string {
  const classes = classesOf(element.attr__class).map((name) => `.${name}`)
  const attributes = attributesOf(element).map(([name, value]) => `${name}="${value.replaceAll('"', '\\"')}"`)
  return `${textOf(element.tag_name)}${classes.join('')}:${attributes.join('')}`
}

function attributesOf(element: JsonObject): [string, string][] {
  const own = Object.entries(element).filter(([name]) => name.startsWith(ATTRIBUTE) && !LIFTED.has(name))
  const named: [string, string][] = [
    ['attr_id', textOf(element.attr__id)],
    ['href', cutText(textOf(element.attr__href), MAX_HREF)],
    ['text', cutText(textOf(element.$el_text), MAX_TEXT)],
    ...own.map(([name, value]): [string, string] => [name, textOf(value)]),
  ]
  const numbered: [string, string][] = [
    ['nth-child', textOf(element.nth_child) || '0'],
    ['nth-of-type', textOf(element.nth_of_type) || '0'],
  ]
  return [...named.filter(([, value]) => value !== ''), ...numbered].sort(([a], [b]) => (a < b ? -1 : 1))
}

/** Sorted, so that two pages with the same element give the same chain. Quotes would end the chain's own. */
function classesOf(value: unknown): string[] {
  const names = Array.isArray(value) ? value.map(textOf) : textOf(value).split(/\s+/)
  return names
    .map((name) => name.replaceAll('"', ''))
    .filter((name) => name !== '')
    .sort()
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
