// Whether a resource fulfils a filter. A filter is compiled once, and then asked of thousands of resources.
import { isObject, type JsonObject } from '../../../lib/json-object.ts'
import { attributeNamed, type Attribute, type ResourceType } from './attributes.ts'
import type { Compared, Comparison, Filter, Path } from './filter.ts'
import { findPlace } from './lookup.ts'
import { refused } from './scim-error.ts'

export type Test = (resource: JsonObject) => boolean

/** Reads the values of an attribute: none, one, or all of a list. */
type Values = { attribute: Attribute; read(resource: JsonObject): unknown[] }
type FindValues = (path: Path) => Values | undefined

export function compileFilter(type: ResourceType, filter: Filter): Test {
  return compile(filter, (path) => valuesAt(type, path))
}

/** For the elements of one attribute, as in `emails[…]`. */
export function compileElementFilter(attribute: Attribute, filter: Filter): Test {
  return compile(filter, ({ attribute: name }) => {
    const sub = attributeNamed(attribute.subs ?? [], name)
    return sub && { attribute: sub, read: (element) => listed(element[sub.name]) }
  })
}

/** The first value, for sorting: the primary one of a list where there is one. */
export function readerFor(type: ResourceType, path: Path): (resource: JsonObject) => string {
  const values = valuesAt(type, path)
  if (!values) throw refused('invalidValue', 'sortBy names no attribute of this resource.')
  const isExact = values.attribute.is_case_exact === true
  return (resource) => {
    const value = values.read(resource)[0]
    const text = typeof value === 'string' ? value : typeof value === 'boolean' ? String(value) : ''
    return isExact ? text : text.toLowerCase()
  }
}

function compile(filter: Filter, find: FindValues): Test {
  switch (filter.op) {
    case 'and': {
      const tests = filter.filters.map((each) => compile(each, find))
      return (resource) => tests.every((test) => test(resource))
    }
    case 'or': {
      const tests = filter.filters.map((each) => compile(each, find))
      return (resource) => tests.some((test) => test(resource))
    }
    case 'not': {
      const test = compile(filter.filter, find)
      return (resource) => !test(resource)
    }
    case 'some':
      return someElement(filter, find)
    case 'pr': {
      const values = find(filter.path)
      return (resource) => (values?.read(resource) ?? []).some((value) => value !== '')
    }
    default:
      return comparison(filter.op, filter.value, find(filter.path))
  }
}

function someElement({ path, filter }: Extract<Filter, { op: 'some' }>, find: FindValues): Test {
  const values = find({ ...path, sub: null })
  if (!values?.attribute.subs) throw refused('invalidFilter', `${path.attribute} has no parts to filter by.`)
  const test = compileElementFilter(values.attribute, filter)
  return (resource) => values.read(resource).some((element) => isObject(element) && test(element))
}

/** What nobody has is equal to nothing. A list fulfils a comparison when one of its values does, and `ne` when none is equal. */
function comparison(op: Comparison, wanted: Compared, found: Values | undefined): Test {
  if (!found) return () => op === 'ne'
  if (wanted === null) return nullComparison(op, found)
  const values = found.attribute.type === 'complex' ? innerValues(found) : found
  const compare = comparerFor(op === 'ne' ? 'eq' : op, wanted, values.attribute)
  return op === 'ne'
    ? (resource) => !values.read(resource).some(compare)
    : (resource) => values.read(resource).some(compare)
}

function nullComparison(op: Comparison, found: Values): Test {
  if (op === 'eq') return (resource) => found.read(resource).length === 0
  if (op === 'ne') return (resource) => found.read(resource).length > 0
  throw refused('invalidFilter', 'null can only be compared by eq and ne.')
}

/** `emails eq "…"` means their `value`. */
function innerValues({ attribute, read }: Values): Values {
  const value = attributeNamed(attribute.subs!, 'value')
  if (!value) throw refused('invalidFilter', `${attribute.name} has several parts: name the one to compare.`)
  return {
    attribute: value,
    read: (resource) =>
      read(resource).flatMap((element) => (isObject(element) ? listed(element[value.name]) : [])),
  }
}

function comparerFor(
  op: Exclude<Comparison, 'ne'>,
  wanted: string | number | boolean,
  attribute: Attribute,
): (value: unknown) => boolean {
  if (attribute.type === 'boolean') {
    // Entra ID sends "True".
    const flag = typeof wanted === 'string' ? wanted.toLowerCase() === 'true' : wanted
    if (op !== 'eq') throw refused('invalidFilter', `${attribute.name} can only be compared by eq and ne.`)
    return (value) => value === flag
  }
  if (attribute.type === 'dateTime') {
    const instant = Date.parse(String(wanted))
    if (Number.isNaN(instant))
      throw refused('invalidFilter', `${attribute.name} is compared with an instant.`)
    return (value) => ORDERS[op](Date.parse(String(value)), instant)
  }
  const fold = (text: string) => (attribute.is_case_exact ? text : text.toLowerCase())
  const text = fold(String(wanted))
  return (value) => typeof value === 'string' && ORDERS[op](fold(value), text)
}

const ORDERS: Record<
  Exclude<Comparison, 'ne'>,
  (value: string | number, wanted: string | number) => boolean
> = {
  eq: (value, wanted) => value === wanted,
  co: (value, wanted) => String(value).includes(String(wanted)),
  sw: (value, wanted) => String(value).startsWith(String(wanted)),
  ew: (value, wanted) => String(value).endsWith(String(wanted)),
  gt: (value, wanted) => value > wanted,
  ge: (value, wanted) => value >= wanted,
  lt: (value, wanted) => value < wanted,
  le: (value, wanted) => value <= wanted,
}

function valuesAt(type: ResourceType, path: Path): Values | undefined {
  const place = findPlace(type, path)
  if (!place) return undefined
  const { extension, attribute, sub } = place
  const read = (resource: JsonObject) => {
    const home = extension === null ? resource : resource[extension]
    return isObject(home) ? primaryFirst(listed(home[attribute.name])) : []
  }
  if (!sub) return { attribute, read }
  return {
    attribute: sub,
    read: (resource) =>
      read(resource).flatMap((element) => (isObject(element) ? listed(element[sub.name]) : [])),
  }
}

function listed(value: unknown): unknown[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : [value]
}

function primaryFirst(values: unknown[]): unknown[] {
  const at = values.findIndex((value) => isObject(value) && value.primary === true)
  return at <= 0 ? values : [values[at], ...values.slice(0, at), ...values.slice(at + 1)]
}
