// PATCH (RFC 7644 §3.5.2): operations on a resource, one after the other; the result is a new resource, or an error and nothing
// has changed. Entra ID's way is taken too: operations with a capital, names with dots as keys of a value without path,
// `remove` with the values to remove, and `replace` of an element that is not there yet.
import { isObject, type JsonObject } from '../../../lib/json-object.ts'
import type { Attribute, ResourceType } from './attributes.ts'
import { countTerms, parsePatchPath, type Filter, type PatchPath } from './filter.ts'
import { extensionNamed, findPlace, type AttributePlace } from './lookup.ts'
import { compileElementFilter } from './match.ts'
import { isOurs, MAX_MEMBERS, readOne, readResource, readValue } from './read-resource.ts'
import { refused } from './scim-error.ts'

const MAX_OPERATIONS = 1_000
const MAX_KEYS = 200
/** Looks at elements of lists, by all operations together: some tenths of a second. */
const MAX_LOOKS = 1_000_000

type Operation = { op: 'add' | 'replace' | 'remove'; path: string | null; value: unknown }
type Target = AttributePlace & { filter: Filter | null }

export function applyPatch(type: ResourceType, resource: JsonObject, body: unknown): JsonObject {
  const patched = structuredClone(resource)
  let looks = 0
  for (const operation of readOperations(body)) {
    looks += looksOf(patched, operation)
    if (looks > MAX_LOOKS) throw refused('tooMany', 'The operations are too many for lists of this length.')
    applyOne(type, patched, operation)
  }
  return patched
}

function looksOf(resource: JsonObject, { path, value }: Operation): number {
  const lengths = Object.values(resource).map((each) => (Array.isArray(each) ? each.length : 1))
  const paths = path === null && isObject(value) ? Object.keys(value) : [path ?? '']
  if (paths.length > MAX_KEYS)
    throw refused('invalidValue', `More than ${MAX_KEYS} attributes are not taken.`)
  const terms = paths.map((each) => (each.includes('[') ? countTerms(parsePatchPath(each).filter) : 1))
  return Math.max(1, ...lengths) * terms.reduce((sum, each) => sum + each, 0)
}

function readOperations(body: unknown): Operation[] {
  const list = isObject(body) ? fieldOf(body, 'operations') : undefined
  if (!Array.isArray(list) || list.length === 0)
    throw refused('invalidSyntax', 'Operations is missing, or is not a list.')
  if (list.length > MAX_OPERATIONS)
    throw refused('invalidValue', `More than ${MAX_OPERATIONS} operations are not taken.`)
  return list.map(readOperation)
}

function readOperation(given: unknown): Operation {
  if (!isObject(given)) throw refused('invalidSyntax', 'An operation is not an object.')
  const op = String(fieldOf(given, 'op')).toLowerCase()
  if (op !== 'add' && op !== 'replace' && op !== 'remove')
    throw refused('invalidSyntax', 'op is add, replace or remove.')
  const path = fieldOf(given, 'path') ?? null
  if (path !== null && typeof path !== 'string') throw refused('invalidPath', 'path is a text.')
  return { op, path: path === '' ? null : path, value: fieldOf(given, 'value') }
}

function fieldOf(object: JsonObject, name: string): unknown {
  return Object.entries(object).find(([key]) => key.toLowerCase() === name)?.[1]
}

function applyOne(type: ResourceType, resource: JsonObject, { op, path, value }: Operation): void {
  if (path === null) return applyEach(type, resource, op, value)
  const extension = extensionNamed(type, path)
  if (extension) return applyExtension(type, resource, op, extension.schema, value)
  const target = targetOf(type, parsePatchPath(path))
  if (!target)
    throw refused('invalidPath', `${type.name} has no attribute ${JSON.stringify(path.slice(0, 60))}.`)
  // A password is taken, and forgotten.
  if (target.attribute.mutability === 'writeOnly') return
  if (isOurs(target.attribute) || (target.sub && isOurs(target.sub)))
    throw refused('mutability', `${target.attribute.name} is set by the server.`)
  applyTo(resource, op, target, value)
}

/** Without a path each key of the value is one. Those that are not ours to keep are left out, as in a whole resource. */
function applyEach(type: ResourceType, resource: JsonObject, op: Operation['op'], value: unknown): void {
  if (op === 'remove') throw refused('noTarget', 'remove takes a path.')
  if (!isObject(value)) throw refused('invalidValue', 'Without a path, value is an object.')
  for (const [key, each] of Object.entries(value)) {
    const extension = extensionNamed(type, key)
    if (extension) applyExtension(type, resource, op, extension.schema, each)
    else {
      const target = targetOf(type, parsePatchPath(key))
      if (target && !isOurs(target.attribute)) applyTo(resource, op, target, each)
    }
  }
}

function applyExtension(
  type: ResourceType,
  resource: JsonObject,
  op: Operation['op'],
  schema: string,
  value: unknown,
): void {
  if (op === 'remove') delete resource[schema]
  else {
    const read = readResource(type, { [schema]: value })[schema]
    const kept = resource[schema]
    if (isObject(read)) resource[schema] = { ...(isObject(kept) ? kept : {}), ...read }
  }
}

function targetOf(type: ResourceType, path: PatchPath): Target | undefined {
  const place = findPlace(type, path)
  return place && { ...place, filter: path.filter }
}

function applyTo(resource: JsonObject, op: Operation['op'], target: Target, value: unknown): void {
  const home = homeOf(resource, target.extension)
  if (target.filter && !target.attribute.is_multi)
    throw refused('invalidPath', `${target.attribute.name} is not a list.`)
  if (op === 'remove') removeFrom(home, target, value)
  else if (target.attribute.is_multi) writeList(home, op, target, value)
  else writeOne(home, target, value)
  if (target.extension !== null && Object.keys(home).length === 0) delete resource[target.extension]
}

function homeOf(resource: JsonObject, extension: string | null): JsonObject {
  if (extension === null) return resource
  const home = resource[extension]
  return isObject(home) ? home : (resource[extension] = {})
}

/** An object is laid over the one that is there, for `replace` too: what it does not name stays. */
function writeOne(home: JsonObject, { attribute, sub }: Target, value: unknown): void {
  const kept = home[attribute.name]
  const parts = isObject(kept) ? kept : {}
  if (sub) setOrDelete(home, attribute.name, withPart(parts, sub.name, readValue(sub, value)))
  else {
    const read = readValue(attribute, value)
    setOrDelete(home, attribute.name, isObject(read) ? { ...parts, ...read } : read)
  }
}

function writeList(home: JsonObject, op: 'add' | 'replace', target: Target, value: unknown): void {
  const { attribute, sub, filter } = target
  const list = listOf(home, attribute.name)
  if (!filter && !sub) {
    const read = (readValue(attribute, value) as JsonObject[] | undefined) ?? []
    return setList(home, attribute.name, op === 'replace' ? read : joined(list, read), read)
  }
  const test = filter ? compileElementFilter(attribute, filter) : () => true
  const write = (element: JsonObject) =>
    sub
      ? withPart(element, sub.name, readValue(sub, value))
      : { ...element, ...(readOne(attribute, value) as JsonObject | undefined) }
  if (list.some(test)) {
    const written: JsonObject[] = []
    const changed = list.map((element) => {
      if (!test(element)) return element
      written.push(write(element))
      return written.at(-1)!
    })
    return setList(home, attribute.name, changed, written)
  }
  const made = write(elementFrom(filter, attribute))
  setList(home, attribute.name, [...list, made], [made])
}

/** What `emails[type eq "work"]` says of an element that is not there yet. */
function elementFrom(filter: Filter | null, attribute: Attribute): JsonObject {
  const terms = filter?.op === 'and' ? filter.filters : filter ? [filter] : []
  const parts = terms.map((term) => {
    if (term.op !== 'eq') throw refused('noTarget', `No element of ${attribute.name} fits the filter.`)
    return [term.path.attribute, term.value] as const
  })
  return (readOne(attribute, Object.fromEntries(parts)) as JsonObject | undefined) ?? {}
}

function removeFrom(home: JsonObject, { attribute, sub, filter }: Target, value: unknown): void {
  if (attribute.is_required && !sub) throw refused('mutability', `${attribute.name} is required.`)
  if (!attribute.is_multi) {
    const kept = home[attribute.name]
    if (!sub) delete home[attribute.name]
    else if (isObject(kept)) setOrDelete(home, attribute.name, withPart(kept, sub.name, undefined))
    return
  }
  const list = listOf(home, attribute.name)
  const test = filter ? compileElementFilter(attribute, filter) : isAmong(readValue(attribute, value))
  const rest = sub
    ? list.map((element) => (test(element) ? withPart(element, sub.name, undefined) : element))
    : list.filter((element) => !test(element))
  setList(home, attribute.name, rest, [])
}

/** Entra ID names what to remove in the value; without one, everything goes. */
function isAmong(values: unknown): (element: JsonObject) => boolean {
  if (!Array.isArray(values)) return () => true
  const named = new Set((values as JsonObject[]).map(({ value }) => value))
  return ({ value }) => named.has(value)
}

/** An element that is there already is not there twice. */
function joined(list: readonly JsonObject[], added: readonly JsonObject[]): JsonObject[] {
  const known = new Set(list.map(identity))
  return [...list, ...added.filter((element) => !known.has(identity(element)))]
}

function identity(element: JsonObject): string {
  const { value, type } = element
  return typeof value === 'string' ? `${value}\n${String(type)}` : JSON.stringify(element)
}

/** When several elements are primary, the one that was written last is meant. */
function setList(home: JsonObject, name: string, list: JsonObject[], written: readonly JsonObject[]): void {
  if (list.length > MAX_MEMBERS) throw refused('invalidValue', `${name} has too many values.`)
  const primary = written.find((element) => element.primary === true)
  const result = list
    .filter((element) => Object.keys(element).length > 0)
    .map((element) =>
      primary && element !== primary && element.primary === true ? { ...element, primary: false } : element,
    )
  setOrDelete(home, name, result)
}

function listOf(home: JsonObject, name: string): JsonObject[] {
  const list = home[name]
  return Array.isArray(list) ? (list as JsonObject[]) : []
}

function withPart(parts: JsonObject, name: string, value: unknown): JsonObject {
  const { [name]: _, ...rest } = parts
  return value === undefined ? rest : { ...rest, [name]: value }
}

function setOrDelete(home: JsonObject, name: string, value: unknown): void {
  const isEmpty =
    value === undefined ||
    (Array.isArray(value) && value.length === 0) ||
    (isObject(value) && Object.keys(value).length === 0)
  if (isEmpty) delete home[name]
  else home[name] = value
}
