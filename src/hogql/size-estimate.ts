// Estimates, before a query runs, how much it makes out of each row. DuckDB's memory limit does not cover the contents
// of its vectors, so a few nested generators could take all the memory there is.
import type { Span } from './ast.ts'
import { queryError } from './errors.ts'
import type { Type, Value } from './value.ts'

/**
 * A size in items or characters. An array has its count and the size of an item apart, to estimate what runs over its
 * items.
 */
export type SizeEstimate = number | { count: number; item: SizeEstimate }

/** A vector holds 2,048 rows, an item takes some 8 bytes: 30,000 × 2,048 × 8 bytes are half a gigabyte. */
const MAX_ESTIMATE = 30_000

/** This many characters of a constant count as one. */
const CHARACTERS = 10

/** A stored text counts as 1 where it is used once, and as this much where it is inserted again and again. */
const STORED_TEXT = 10
/** All properties together are long wherever they are used; a single one read out of them is a text like any other. */
const STORED_JSON = 100

/** A guess for arrays that are collected from rows: nothing is known about their size. */
const COLLECTED_ITEMS = 30

export const sizeOf = (estimate: SizeEstimate | undefined): number => {
  if (estimate === undefined) return 1
  return typeof estimate === 'number' ? estimate : estimate.count * sizeOf(estimate.item)
}

const SIZED: ReadonlySet<Type['kind']> = new Set(['text', 'property', 'json', 'array', 'tuple', 'unknown'])

/** Numbers, times and the like count as one, whatever they were made from. */
export const isSized = ({ kind }: Type): boolean => SIZED.has(kind)

type Items = Exclude<SizeEstimate, number>

/** Items of a value read as an array. Where only its size is known, it may be many items or one large one. */
export const itemsOf = (value: Value | undefined): Items => {
  if (!value) return { count: 1, item: 1 }
  const { type, estimate = 1 } = value
  if (typeof estimate !== 'number') return estimate
  return { count: estimate, item: type.kind === 'array' && !isSized(type.item) ? 1 : estimate }
}

export const sumOf = (values: readonly Value[]): number =>
  Math.max(
    1,
    values.reduce((sum, value) => sum + sizeOf(value.estimate), 0),
  )

/** The larger of two, level by level. */
const larger = (left: SizeEstimate, right: SizeEstimate): SizeEstimate =>
  typeof left === 'number' || typeof right === 'number'
    ? Math.max(sizeOf(left), sizeOf(right))
    : { count: Math.max(left.count, right.count), item: larger(left.item, right.item) }

/** Estimated size of a value that may be any of these. */
export const largestOf = (values: readonly Pick<Value, 'estimate'>[]): SizeEstimate =>
  values.map(({ estimate = 1 }) => estimate).reduce((left, right) => larger(left, right), 1)

const largestItem = (arrays: readonly Items[]): SizeEstimate =>
  arrays.map(({ item }) => item).reduce((left, right) => larger(left, right))

/** One array with all items of several. */
export const joinedItems = (arrays: readonly Value[]): SizeEstimate => {
  const all = arrays.map(itemsOf)
  return { count: all.reduce((sum, { count }) => sum + count, 0), item: largestItem(all) }
}

export const withOneMore = (array: Value | undefined, added: Value | undefined): SizeEstimate => {
  const { count, item } = itemsOf(array)
  return { count: count + 1, item: larger(item, added?.estimate ?? 1) }
}

/** An array literal. */
export const writtenItems = (values: readonly Value[]): Items => ({
  count: values.length,
  item: values.length === 0 ? 1 : values.map(({ estimate = 1 }) => estimate).reduce(larger),
})

/** An array flattened by one level. */
export const flattened = (value: Value | undefined): SizeEstimate => {
  const { count, item } = itemsOf(value)
  return typeof item === 'number' ? count * item : { count: count * item.count, item: item.item }
}

/** Estimated size of an array with as many items as the longest of these. */
export const asManyAs = (arrays: readonly Value[], item: SizeEstimate): SizeEstimate => ({
  count: Math.max(...arrays.map((array) => itemsOf(array).count)),
  item,
})

export const collected = (item: SizeEstimate = 1): SizeEstimate => ({ count: COLLECTED_ITEMS, item })

export const estimateOfColumn = ({ kind }: Type): SizeEstimate => (kind === 'json' ? STORED_JSON : 1)

/** Estimated size of a value read out of JSON. */
export const partOf = (json: Value | undefined): number =>
  Math.max(1, sizeOf(json?.estimate) / (json?.type.kind === 'json' ? STORED_JSON / STORED_TEXT : 1))

export const estimateOfConstant = (text: string): number => text.length / CHARACTERS

/** Estimated size of a text in which matches are replaced, each becoming `longer` times as long. */
export const replacedIn = (text: Value | undefined, longer: number): number =>
  longer <= 1 ? sizeOf(text?.estimate) : Math.max(sizeOf(text?.estimate), STORED_TEXT) * longer

/** How many characters this value adds each time it is inserted. */
export const charactersOf = (value: Value | undefined): number => {
  if (!value) return 0
  if (value.constant !== undefined) return String(value.constant ?? '').length
  return isSized(value.type) ? sizeOf(value.estimate) * STORED_TEXT : STORED_TEXT
}

/** Estimated size of what a lambda takes from the row: it is copied for every item. */
export const estimateInLambda = (estimate: SizeEstimate = 1, type: Type): SizeEstimate => {
  if (!isSized(type)) return estimate
  if (typeof estimate === 'number') return type.kind === 'json' ? estimate : estimate * STORED_TEXT
  const item = type.kind === 'array' ? estimateInLambda(estimate.item, type.item) : estimate.item
  return { ...estimate, item }
}

const isListOfConstants = ({ items }: Value) =>
  items?.every(({ constant }) => constant !== undefined) === true

/** What all expressions of one query together make out of a row. */
export type Made = { total: number }

/**
 * The value with its estimate, which is added to the query's total. What is made of it later may be small, but by then it
 * has been built.
 */
export function estimated(value: Value, estimate: SizeEstimate, made: Made, span: Span, copies = 1): Value {
  if (!isSized(value.type)) return value
  // A list of constants exists once for all rows.
  if (!isListOfConstants(value)) made.total += Math.max(0, sizeOf(estimate) - 1) * copies
  assertBounded(made.total, span)
  return { ...value, estimate }
}

export function assertBounded(size: number, span: Span) {
  if (size <= MAX_ESTIMATE) return
  throw queryError(
    `The query would make too much out of each row: more than ${MAX_ESTIMATE} items or characters`,
    span,
  )
}
