// `attributes` and `excludedAttributes` (RFC 7644 §3.9): which parts of a resource leave.
import { isObject, type JsonObject } from '../../../lib/json-object.ts'
import type { ResourceType } from './attributes.ts'
import { parsePath } from './filter.ts'
import { extensionNamed, findPlace } from './lookup.ts'
import { refused } from './scim-error.ts'

export type Selection = { attributes: readonly Part[] | null; excluded: readonly Part[] }

/** An attribute, one of its parts, or with `attribute` null a whole extension. */
type Part = { extension: string | null; attribute: string | null; sub: string | null }

const MAX_NAMES = 100
const ALWAYS = ['schemas', 'id']

/** Names that the schema does not know select nothing. */
export function readSelection(type: ResourceType, attributes: unknown, excluded: unknown): Selection {
  const wanted = namesIn(attributes)
  return {
    attributes: wanted.length === 0 ? null : partsOf(type, wanted),
    excluded: partsOf(type, namesIn(excluded)),
  }
}

/** Whether the answer will show an attribute: some are costly to look up. */
export function isSelected({ attributes, excluded }: Selection, name: string): boolean {
  const isNamed = (parts: readonly Part[]) =>
    parts.some(({ extension, attribute }) => extension === null && attribute === name)
  const isExcluded = excluded.some((part) => part.attribute === name && part.sub === null)
  return (attributes === null || isNamed(attributes)) && !isExcluded
}

export function select(resource: JsonObject, { attributes, excluded }: Selection): JsonObject {
  const chosen = attributes === null ? resource : only(resource, attributes)
  return excluded.reduce(without, chosen)
}

function namesIn(given: unknown): string[] {
  const texts = (Array.isArray(given) ? given : [given]).filter((each) => typeof each === 'string')
  const names = texts.flatMap((text) => text.split(',', MAX_NAMES + 1)).map((name) => name.trim())
  if (names.length > MAX_NAMES)
    throw refused('invalidValue', `More than ${MAX_NAMES} attributes are not taken.`)
  return names.filter((name) => name !== '')
}

function partsOf(type: ResourceType, names: readonly string[]): Part[] {
  return names.flatMap((name): Part[] => {
    const extension = extensionNamed(type, name)
    if (extension) return [{ extension: extension.schema, attribute: null, sub: null }]
    const place = findPlace(type, parsePath(name, 'invalidValue'))
    if (!place) return []
    return [{ extension: place.extension, attribute: place.attribute.name, sub: place.sub?.name ?? null }]
  })
}

function only(resource: JsonObject, parts: readonly Part[]): JsonObject {
  const result: JsonObject = {}
  for (const name of ALWAYS) if (resource[name] !== undefined) result[name] = resource[name]
  for (const part of parts) take(resource, result, part)
  return result
}

function take(from: JsonObject, to: JsonObject, { extension, attribute, sub }: Part): void {
  if (extension !== null) {
    const inner = from[extension]
    if (!isObject(inner)) return
    if (attribute === null) to[extension] = inner
    else take(inner, (to[extension] ??= {}) as JsonObject, { extension: null, attribute, sub })
    return
  }
  const value = from[attribute!]
  if (value === undefined) return
  to[attribute!] = sub === null ? value : merged(to[attribute!], value, sub)
}

/** `emails.value,emails.type` asks for two parts of each element. */
function merged(taken: unknown, value: unknown, sub: string): unknown {
  const pick = (element: unknown, before: unknown) => ({
    ...(isObject(before) ? before : {}),
    ...(isObject(element) && element[sub] !== undefined ? { [sub]: element[sub] } : {}),
  })
  if (!Array.isArray(value)) return pick(value, taken)
  return value.map((element, at) => pick(element, Array.isArray(taken) ? taken[at] : undefined))
}

function without(resource: JsonObject, { extension, attribute, sub }: Part): JsonObject {
  const key = extension ?? attribute!
  const { [key]: value, ...rest } = resource
  if (value === undefined || ALWAYS.includes(key)) return resource
  if (extension !== null && attribute !== null && isObject(value))
    return { ...rest, [key]: without(value, { extension: null, attribute, sub }) }
  if (extension !== null || sub === null) return rest
  return { ...rest, [key]: Array.isArray(value) ? value.map((each) => drop(each, sub)) : drop(value, sub) }
}

function drop(element: unknown, sub: string): unknown {
  if (!isObject(element)) return element
  const { [sub]: _, ...rest } = element
  return rest
}
