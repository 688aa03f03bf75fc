// Properties of a person or a group: what `$set_once`, `$set` and `$unset` change about them. No I/O.

import { isObject } from '../../lib/json-object.ts'
import { eachObserved } from './observed.ts'

export type Properties = Record<string, unknown>

/** Properties and the length of their JSON text, which is kept up to date rather than measured again. */
export type Sized = { properties: Properties; properties_size: number }

export type PropertyUpdate = {
  set_once: Properties
  set: Properties
  unset: readonly string[]
  /** Properties of the event itself, some of which tell of the person (observed.ts); what is set above wins. */
  observed?: Properties
}

/** Key to new value, or to UNSET. */
type Changes = Map<string, unknown>

const UNSET = Symbol('unset')

// A person is read and written whole, so one that grows without end would slow down everybody's events.
const MAX_PROPERTIES_SIZE = 1024 * 1024

const NOTHING: Properties = {}
const NO_NAMES: readonly string[] = []

/** What an event says about its person's properties. Wrong shapes count as absent. */
export function readUpdate(event: Properties): PropertyUpdate {
  const { $set_once, $set, $unset } = event
  return {
    set_once: isObject($set_once) ? $set_once : NOTHING,
    set: isObject($set) ? $set : NOTHING,
    unset: namesIn($unset),
    observed: event,
  }
}

function namesIn(unset: unknown): readonly string[] {
  if (Array.isArray(unset)) return unset.filter((name) => typeof name === 'string')
  return isObject(unset) ? Object.keys(unset) : NO_NAMES
}

/**
 * Fills absent keys, then overwrites, then deletes. False when that comes to nothing: all was so before, or the result
 * would be over the limit, in which case none of it is done.
 */
export function update(target: Sized, { set_once, set, unset, observed }: PropertyUpdate): boolean {
  const { properties } = target
  const changes: Changes = new Map()
  if (observed) observe(properties, observed, changes)
  for (const key of Object.keys(set_once)) {
    if (!Object.hasOwn(properties, key)) changes.set(key, set_once[key])
  }
  for (const key of Object.keys(set)) {
    const isSame = Object.hasOwn(properties, key) && isSameValue(properties[key], set[key])
    if (isSame) changes.delete(key)
    else changes.set(key, set[key])
  }
  for (const key of unset) {
    if (Object.hasOwn(properties, key)) changes.set(key, UNSET)
    else changes.delete(key)
  }
  return changes.size > 0 && carryOut(target, changes)
}

function observe(properties: Properties, observed: Properties, changes: Changes): void {
  eachObserved(
    observed,
    (name, value) => {
      if (!Object.hasOwn(properties, name)) changes.set(name, value)
    },
    (name, value) => {
      if (!isSameValue(properties[name], value)) changes.set(name, value)
    },
  )
}

function carryOut(target: Sized, changes: Changes): boolean {
  const { properties } = target
  let size = target.properties_size
  for (const [key, value] of changes) {
    if (Object.hasOwn(properties, key)) size -= sizeOf(key, properties[key])
    if (value !== UNSET) size += sizeOf(key, value)
  }
  if (size > MAX_PROPERTIES_SIZE && size > target.properties_size) return false
  for (const [key, value] of changes) {
    if (value === UNSET) delete properties[key]
    else setOwn(properties, key, value)
  }
  target.properties_size = size
  return true
}

/** An assignment to `__proto__` would change what the object is instead of what it holds. */
function setOwn(properties: Properties, key: string, value: unknown): void {
  if (key !== '__proto__') properties[key] = value
  else Object.defineProperty(properties, key, { value, writable: true, enumerable: true, configurable: true })
}

/** With the colon and the comma. */
function sizeOf(key: string, value: unknown): number {
  return key.length + 4 + JSON.stringify(value).length
}

/** As JSON: the order of keys does not matter, and a number beyond all doubles is null. */
export function isSameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) {
    return isJsonNull(a) && isJsonNull(b)
  }
  const keys = Object.keys(a)
  if (Array.isArray(a) !== Array.isArray(b) || keys.length !== Object.keys(b).length) return false
  return keys.every(
    (key) => Object.hasOwn(b, key) && isSameValue((a as Properties)[key], (b as Properties)[key]),
  )
}

function isJsonNull(value: unknown): boolean {
  return value === null || (typeof value === 'number' && !Number.isFinite(value))
}
