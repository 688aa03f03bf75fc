// Compares the rows of a table with the rows that should be in it, event by event. Pure.
import { parseExactly } from '../../../../lib/exact-json.ts'
import { groupBy } from '../../../../lib/group-by.ts'
import type { OutputColumn } from '../../definition.ts'
import { readFloat } from '../../destinations/warehouse/spell.ts'
import type { ProblemKind } from '../rows.ts'

/** False where a delivery has not brought the column: whatever the table has there is not its matter. */
export type Values = readonly (string | null | false)[]

/**
 * A row and where it comes from: the table; a delivery that is at the destination; or one that is under way or has
 * failed, whose rows may be there or not.
 */
export type Entry = {
  from: 'table' | 'expected' | 'open'
  /** Position and event time of a row of the store; the time only where the export has it. */
  position: number | null
  at: string | null
  values: Values
}

export type RowProblem = {
  kind: Extract<ProblemKind, 'missing_row' | 'doubled_row' | 'changed_row' | 'stray_row'>
  uuid: string | null
  position: number | null
  at: string | null
  /** Names of the columns that were changed. */
  columns: string[]
}

/** Events are told apart by their uuid, or by that and their time. */
export function compareRows(
  entries: readonly Entry[],
  columns: readonly OutputColumn[],
  is_by_time: boolean,
): RowProblem[] {
  const placeOf = (name: string) => columns.findIndex((column) => column.name === name)
  const [uuid_at, time_at] = [placeOf('uuid'), placeOf('timestamp')]
  const by_uuid = groupBy(entries, ({ values }) => values[uuid_at] || null)
  return [...by_uuid].flatMap(([uuid, rows]) => {
    const events = is_by_time ? groupByTime(rows, time_at) : [rows]
    return events.flatMap((event) => compareOne(uuid, event, columns))
  })
}

/** A row that has lost its time counts for an event of its uuid that has no other row. */
function groupByTime(entries: readonly Entry[], time_at: number): Entry[][] {
  const by_time = groupBy(entries, ({ values }) => values[time_at] ?? null)
  const untimed = by_time.get(null) ?? []
  by_time.delete(null)
  const events = [...by_time.values()]
  const lacking = events.filter((event) => event.every(({ from }) => from !== 'table'))
  for (const [index, row] of untimed.entries()) {
    if (index < lacking.length) lacking[index]!.push(row)
    else events.push([row])
  }
  return events
}

/**
 * Several events may have nothing that tells them apart. A table then has as many rows, or fewer: which run came first
 * decides. At least one row is there, with the values of one of these events.
 */
function compareOne(
  uuid: string | null,
  entries: readonly Entry[],
  columns: readonly OutputColumn[],
): RowProblem[] {
  const of = (from: Entry['from']) => entries.filter((entry) => entry.from === from)
  const [expected, open] = [of('expected'), of('open')]
  const { alone, left } = pairSame(expected, of('table'), columns)
  // Rows with the values of another of these events.
  const [others, unknown] = splitByKnown(left, [...expected, ...open], columns)
  const unmatched = alone.slice(others.length)
  const found = [...others.slice(alone.length), ...unknown]
  const changed = Math.min(unmatched.length, found.length)
  const isThere = unmatched.length < expected.length || changed > 0
  const surplus = Math.max(0, found.length - changed - open.length)
  const isKnown = expected.length + open.length > 0
  const describe = (kind: RowProblem['kind'], row: Entry | undefined): RowProblem => ({
    kind,
    uuid,
    position: row?.position ?? null,
    at: row?.at ?? null,
    columns: [],
  })
  return [
    ...unmatched
      .slice(0, changed)
      .map((row, at) => ({ ...describe('changed_row', row), columns: differing(row, found[at]!, columns) })),
    ...(isThere ? [] : unmatched.map((row) => describe('missing_row', row))),
    ...Array.from({ length: surplus }, () =>
      isKnown ? describe('doubled_row', expected[0] ?? open[0]) : describe('stray_row', undefined),
    ),
  ]
}

/**
 * `alone` are those that no row of the table is the same as, `left` the rows of the table that are over. Somebody may give one uuid
 * to thousands of events: rows that are spelled alike are paired first, without a look at the others.
 */
function pairSame(
  expected: readonly Entry[],
  table: readonly Entry[],
  columns: readonly OutputColumn[],
): { alone: Entry[]; left: Entry[] } {
  const places = [...table.keys()]
  const alike = groupBy(places, (place) => spellingOf(table[place]!))
  const taken = new Set<number>()
  const take = (place: number | undefined) => place !== undefined && taken.add(place).size > 0
  const unlike = expected.filter((row) => !take(alike.get(spellingOf(row))?.pop()))
  const rest = places.filter((place) => !taken.has(place))
  const alone = unlike.filter(
    (row) => !take(rest.find((place) => !taken.has(place) && isSame(row, table[place]!, columns))),
  )
  return { alone, left: table.filter((_, place) => !taken.has(place)) }
}

/** Those that are the same as one of the known, and those that are not. */
function splitByKnown(
  rows: readonly Entry[],
  known: readonly Entry[],
  columns: readonly OutputColumn[],
): [same: Entry[], others: Entry[]] {
  const spellings = new Set(known.map(spellingOf))
  const isOne = (row: Entry) =>
    spellings.has(spellingOf(row)) || known.some((other) => isSame(row, other, columns))
  const same: Entry[] = []
  const others: Entry[] = []
  for (const row of rows) (isOne(row) ? same : others).push(row)
  return [same, others]
}

const spellingOf = ({ values }: Entry) => JSON.stringify(values)

const isSame = (one: Entry, other: Entry, columns: readonly OutputColumn[]) =>
  columns.every((column, at) => !isChanged(one, other, column, at))

const differing = (one: Entry, other: Entry, columns: readonly OutputColumn[]) =>
  columns.filter((column, at) => isChanged(one, other, column, at)).map(({ name }) => name)

function isChanged(one: Entry, other: Entry, column: OutputColumn, at: number): boolean {
  const [left, right] = [one.values[at] ?? null, other.values[at] ?? null]
  return left !== false && right !== false && !isSameValue(left, right, column)
}

/** Databases print JSON and numbers in their own ways, so those are compared by what they mean. */
function isSameValue(one: string | null, other: string | null, { kind }: OutputColumn): boolean {
  if (one === other) return true
  if (one === null || other === null) return false
  if (kind === 'integer') return isSameInteger(one, other)
  if (kind === 'float') return isSameFloat(readFloat(one), readFloat(other))
  return kind === 'json' && isSameJson(one, other)
}

function isSameInteger(one: string, other: string): boolean {
  const areWhole = [one, other].every((text) => /^-?\d+$/.test(text))
  return areWhole ? BigInt(one) === BigInt(other) : Number(one) === Number(other)
}

/** Some databases read the last digit of a float otherwise than it was written. */
const FLOAT_TOLERANCE = 2 ** -50

function isSameFloat(one: number | null, other: number | null): boolean {
  if (one === null || other === null) return false
  return Math.abs(one - other) <= FLOAT_TOLERANCE * Math.max(Math.abs(one), Math.abs(other))
}

function isSameJson(one: string, other: string): boolean {
  try {
    return isSameParsed(parseExactly(one), parseExactly(other))
  } catch {
    return false
  }
}

/** JavaScript tells -0 from 0; a database does not. One that prints a large whole number as a float has rounded it. */
function isSameParsed(one: unknown, other: unknown): boolean {
  if (isNumeric(one) && isNumeric(other)) {
    return typeof one === typeof other ? one === other : Number(one) === Number(other)
  }
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) {
    return one === other
  }
  const [members, others] = [Object.entries(one), new Map<string, unknown>(Object.entries(other))]
  return (
    Array.isArray(one) === Array.isArray(other) &&
    members.length === others.size &&
    members.every(([key, member]) => others.has(key) && isSameParsed(member, others.get(key)))
  )
}

const isNumeric = (value: unknown) => typeof value === 'number' || typeof value === 'bigint'
