// Estimates, before a query runs, how much it makes out of each row. DuckDB's memory limit does not cover the contents
// of its vectors, so a few nested generators could take all the memory there is.
import type { Span } from './ast.ts'
import { queryError } from './errors.ts'
import type { Type, Value } from './value.ts'

/**
 * A size in items or characters. An array has its count and the size of an item apart, to estimate what runs over its
 * items.
 */
export type Growth = number | { count: number; item: Growth }

/** A vector holds 2,048 rows, an item takes some 8 bytes: 30,000 × 2,048 × 8 bytes are half a gigabyte. */
const MAX_GROWTH = 30_000

/** This many characters of a constant count as one. */
const CHARACTERS = 10

/** A stored text counts as 1 where it is used once, and as this much where it is inserted again and again. */
const STORED_TEXT = 10
/** All properties together are long wherever they are used; a single one read out of them is a text like any other. */
const STORED_JSON = 100

/** A guess for arrays that are collected from rows: nothing is known about their size. */
const COLLECTED_ITEMS = 30

export const sizeOf = (growth: Growth | undefined): number => {
  if (growth === undefined) return 1
  return typeof growth === 'number' ? growth : growth.count * sizeOf(growth.item)
}

const SIZED: ReadonlySet<Type['kind']> = new Set(['text', 'property', 'json', 'array', 'tuple', 'unknown'])

/** Numbers, times and the like count as one, whatever they were made from. */
export const isSized = ({ kind }: Type): boolean => SIZED.has(kind)

type Items = Exclude<Growth, number>

/** Items of a value read as an array. Where only its size is known, it may be many items or one large one. */
export const itemsOf = (value: Value | undefined): Items => {
  if (!value) return { count: 1, item: 1 }
  const { type, growth = 1 } = value
  if (typeof growth !== 'number') return growth
  return { count: growth, item: type.kind === 'array' && !isSized(type.item) ? 1 : growth }
}

export const sumOf = (values: readonly Value[]): number =>
  Math.max(
    1,
    values.reduce((sum, value) => sum + sizeOf(value.growth), 0),
  )

/** The larger of two, level by level. */
const larger = (left: Growth, right: Growth): Growth =>
  typeof left === 'number' || typeof right === 'number'
    ? Math.max(sizeOf(left), sizeOf(right))
    : { count: Math.max(left.count, right.count), item: larger(left.item, right.item) }

/** Growth of a value that may be any of these. */
export const largestOf = (values: readonly Pick<Value, 'growth'>[]): Growth =>
  values.map(({ growth = 1 }) => growth).reduce((left, right) => larger(left, right), 1)

const largestItem = (arrays: readonly Items[]): Growth =>
  arrays.map(({ item }) => item).reduce((left, right) => larger(left, right))

/** One array with all items of several. */
export const joinedItems = (arrays: readonly Value[]): Growth => {
  const all = arrays.map(itemsOf)
  return { count: all.reduce((sum, { count }) => sum + count, 0), item: largestItem(all) }
}

export const withOneMore = (array: Value | undefined, added: Value | undefined): Growth => {
  const { count, item } = itemsOf(array)
  return { count: count + 1, item: larger(item, added?.growth ?? 1) }
}

/** An array literal. */
export const writtenItems = (values: readonly Value[]): Items => ({
  count: values.length,
  item: values.length === 0 ? 1 : values.map(({ growth = 1 }) => growth).reduce(larger),
})

/** An array flattened by one level. */
export const flattened = (value: Value | undefined): Growth => {
  const { count, item } = itemsOf(value)
  return typeof item === 'number' ? count * item : { count: count * item.count, item: item.item }
}

/** Growth of an array with as many items as the longest of these. */
export const asManyAs = (arrays: readonly Value[], item: Growth): Growth => ({
  count: Math.max(...arrays.map((array) => itemsOf(array).count)),
  item,
})

export const collected = (item: Growth = 1): Growth => ({ count: COLLECTED_ITEMS, item })

export const growthOfColumn = ({ kind }: Type): Growth => (kind === 'json' ? STORED_JSON : 1)

/** Growth of a value read out of JSON. */
export const partOf = (json: Value | undefined): number =>
  Math.max(1, sizeOf(json?.growth) / (json?.type.kind === 'json' ? STORED_JSON / STORED_TEXT : 1))

export const growthOfConstant = (text: string): number => text.length / CHARACTERS

/** Growth of a text in which matches are replaced, each becoming `longer` times as long. */
export const replacedIn = (text: Value | undefined, longer: number): number =>
  longer <= 1 ? sizeOf(text?.growth) : Math.max(sizeOf(text?.growth), STORED_TEXT) * longer

/** How many characters this value adds each time it is inserted. */
export const charactersOf = (value: Value | undefined): number => {
  if (!value) return 0
  if (value.constant !== undefined) return String(value.constant ?? '').length
  return isSized(value.type) ? sizeOf(value.growth) * STORED_TEXT : STORED_TEXT
}

/** Growth of what a lambda takes from the row: it is copied for every item. */
export const growthInLambda = (growth: Growth = 1, type: Type): Growth => {
  if (!isSized(type)) return growth
  if (typeof growth === 'number') return type.kind === 'json' ? growth : growth * STORED_TEXT
  const item = type.kind === 'array' ? growthInLambda(growth.item, type.item) : growth.item
  return { ...growth, item }
}

const isListOfConstants = ({ items }: Value) =>
  items?.every(({ constant }) => constant !== undefined) === true

/** What all expressions of one query together make out of a row. */
export type Made = { total: number }

/**
 * The value with its growth, which is added to the query's total. What is made of it later may be small, but by then it
 * has been built.
 */
export function grown(value: Value, growth: Growth, made: Made, span: Span, copies = 1): Value {
  if (!isSized(value.type)) return value
  // A list of constants exists once for all rows.
  if (!isListOfConstants(value)) made.total += Math.max(0, sizeOf(growth) - 1) * copies
  assertGrowth(made.total, span)
  return { ...value, growth }
}

export function assertGrowth(size: number, span: Span) {
  if (size <= MAX_GROWTH) return
  throw queryError(
    `The query would make too much out of each row: more than ${MAX_GROWTH} items or characters`,
    span,
  )
}
