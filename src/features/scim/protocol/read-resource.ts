// From what a directory sends to a resource in the spelling and types of its schema. Directories are taken as they are: "False" is a
// boolean, a single value is a list of one, a text is the `value` of a complex attribute. What the schema does not know, and
// what only the server sets, is left out.
import { isObject, type JsonObject } from '../../../lib/json-object.ts'
import { attributeNamed, type Attribute, type ResourceType } from './attributes.ts'
import { extensionNamed } from './lookup.ts'
import { refused } from './scim-error.ts'

const MAX_TEXT = 4_000
const MAX_VALUES = 50
/** Members of a group are many; everything else is said of one person. */
export const MAX_MEMBERS = 20_000
const MAX_RESOURCE = 16 * 1024

export function readResource(type: ResourceType, body: unknown): JsonObject {
  if (!isObject(body)) throw refused('invalidSyntax', 'The body is not a JSON object.')
  const resource: JsonObject = {}
  for (const [key, value] of Object.entries(body)) {
    const extension = extensionNamed(type, key)
    if (extension) setIfAny(resource, extension.schema, readParts(extension.attributes, value, key))
    else setKnown(resource, type.attributes, key, value)
  }
  return resource
}

/** A resource is kept whole, so the sum of its parts has a limit as well. */
export function assertSmall(resource: JsonObject): void {
  if (JSON.stringify(resource).length > MAX_RESOURCE)
    throw refused('invalidValue', `The resource is larger than ${MAX_RESOURCE} bytes.`)
}

/** Undefined for null and for what is empty: there is no such value then. */
export function readValue(attribute: Attribute, value: unknown): unknown {
  if (value === null || value === undefined) return undefined
  return attribute.is_multi ? readList(attribute, value) : readOne(attribute, value)
}

function readList(attribute: Attribute, value: unknown): unknown {
  const list = Array.isArray(value) ? value : [value]
  const max = attribute.name === 'members' ? MAX_MEMBERS : MAX_VALUES
  if (list.length > max) throw refused('invalidValue', `${attribute.name} has more than ${max} values.`)
  const values = list.map((each) => readOne(attribute, each)).filter((each) => each !== undefined)
  return values.length === 0 ? undefined : values
}

export function readOne(attribute: Attribute, value: unknown): unknown {
  if (value === null || value === undefined) return undefined
  switch (attribute.type) {
    case 'complex':
      return readComplex(attribute, value)
    case 'boolean':
      return readBoolean(attribute, value)
    default:
      return readText(attribute, value)
  }
}

function readComplex(attribute: Attribute, value: unknown): JsonObject | undefined {
  const isPlain = typeof value === 'string' && attributeNamed(attribute.subs!, 'value') !== undefined
  return readParts(attribute.subs!, isPlain ? { value } : value, attribute.name)
}

function readParts(attributes: readonly Attribute[], value: unknown, name: string): JsonObject | undefined {
  if (value === null) return undefined
  if (!isObject(value)) throw refused('invalidValue', `${name} has parts: send an object.`)
  const parts: JsonObject = {}
  for (const [key, each] of Object.entries(value)) setKnown(parts, attributes, key, each)
  return Object.keys(parts).length === 0 ? undefined : parts
}

function setKnown(to: JsonObject, attributes: readonly Attribute[], key: string, value: unknown): void {
  const attribute = attributeNamed(attributes, key)
  if (!attribute || isOurs(attribute)) return
  setIfAny(to, attribute.name, readValue(attribute, value))
}

/** What only the server sets, and passwords, which nobody keeps. */
export function isOurs({ mutability }: Attribute): boolean {
  return mutability !== undefined
}

function setIfAny(to: JsonObject, key: string, value: unknown): void {
  if (value === undefined) delete to[key]
  else to[key] = value
}

function readBoolean({ name }: Attribute, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  const text = typeof value === 'string' ? value.trim().toLowerCase() : ''
  if (text === 'true' || text === 'false') return text === 'true'
  throw refused('invalidValue', `${name} is true or false.`)
}

function readText({ name }: Attribute, value: unknown): string {
  const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  if (!isPlain) throw refused('invalidValue', `${name} is a text.`)
  const text = String(value)
  if (text.length > MAX_TEXT) throw refused('invalidValue', `${name} has more than ${MAX_TEXT} characters.`)
  return text
}
