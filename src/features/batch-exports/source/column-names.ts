// The names of a custom query's columns: `*` is spelled out, and what has no name gets one (batch-exports.md, section 5).
import { field } from '../../events/tree.ts'
import { partsOf } from '../../../hogql/aggregation.ts'
import type { Alias, Expr, SelectQuery } from '../../../hogql/ast.ts'
import { queryError } from '../../../hogql/errors.ts'
import { printHogql } from '../../../hogql/print-hogql.ts'
import { EXPORTABLE_FIELDS } from '../../../hogql/resolve/tables.ts'

/** As long as BigQuery's may be, the longest of all. */
const MAX_NAME = 300

type NamedSelect = Omit<SelectQuery, 'select'> & { select: readonly Alias[] }

export function nameColumns(query: SelectQuery): NamedSelect {
  const table = query.select_from?.alias ?? 'events'
  const select = query.select.flatMap((expr) => namedColumns(expr, table))
  assertDistinct(select)
  assertOwnUuid(select, table)
  const isGiven = (column: Alias) => query.select.includes(column)
  for (const column of select) {
    if (!isGiven(column) && !isField(column.expr, table)) assertNotCaught(column, select, query.where)
  }
  return { ...query, select }
}

function namedColumns(expr: Expr, table: string): Alias[] {
  if (expr.node === 'Alias') return [expr]
  const { start, end } = expr
  const place = start === undefined || end === undefined ? {} : { start, end }
  const named = (alias: string, value: Expr): Alias => ({ node: 'Alias', alias, expr: value, ...place })
  const isStar = expr.node === 'Field' && expr.chain.at(-1) === '*'
  if (!isStar) return [named(nameOf(expr), expr)]
  if (expr.chain.length > 2 || (expr.chain.length === 2 && expr.chain[0] !== table)) {
    throw queryError(`'${expr.chain.join('.')}' stands for no columns: there is no such table here`, expr)
  }
  return EXPORTABLE_FIELDS.map((name) => named(name, { ...field(name), ...place }))
}

/** A field's own name, the last key of a property, else the expression itself. */
function nameOf(expr: Expr): string {
  if (expr.node === 'Field') return String(expr.chain.at(-1))
  const isKey = expr.node === 'ArrayAccess' && expr.property.node === 'Constant'
  return isKey ? String((expr.property as Extract<Expr, { node: 'Constant' }>).value) : printHogql(expr)
}

/** Warehouses do not tell names apart by case. */
function assertDistinct(select: readonly Alias[]): void {
  const names = new Set<string>()
  for (const column of select) {
    const name = column.alias.toLowerCase()
    if (name === '' || name.length > MAX_NAME) {
      throw queryError(`The name of a column has 1 to ${MAX_NAME} characters: give it one with AS`, column)
    }
    if (names.has(name)) throw queryError(`There are two columns '${column.alias}'`, column)
    names.add(name)
  }
}

/** Functions that give another form of the same uuid, in the spelling of the catalogue or in any other case. */
const UUID_FORMS = new Set([
  'tostring',
  'touuid',
  'touuidornull',
  'lower',
  'upper',
  'assumenotnull',
  'tonullable',
])

/** Whether the uuid is given in capitals: as a text it is another. */
export function hasUpperUuid(select: readonly Expr[]): boolean {
  return select.some((column) => column.node === 'Alias' && isUuid(column) && callsUpper(column.expr))
}

const isUuid = ({ alias }: Alias) => alias.toLowerCase() === 'uuid'

function callsUpper(expr: Expr): boolean {
  return expr.node === 'Call' && (expr.name.toLowerCase() === 'upper' || expr.args.some(callsUpper))
}

/**
 * Tables tell by its text which events they have: in capitals, an event that is there would be brought again. Not asked of
 * queries that are stored: those go on as they are.
 */
export function assertNoUpperUuid({ select }: NamedSelect): void {
  if (!hasUpperUuid(select)) return
  throw queryError(
    "A column named 'uuid' must be the event's own uuid as it is, not in capitals: leave out `upper`",
    select.find(isUuid)!,
  )
}

/** By a column of that name tables tell which events they have: anything else there would lose rows. */
function assertOwnUuid(select: readonly Alias[], table: string): void {
  const column = select.find(isUuid)
  if (!column || isOwnUuid(column.expr, table)) return
  throw queryError(
    "A column named 'uuid' must be the event's own uuid: `uuid`, `toString(uuid)` and the like",
    column,
  )
}

function isOwnUuid(expr: Expr, table: string): boolean {
  if (expr.node === 'Field') return isField(expr, table) && expr.chain.at(-1) === 'uuid'
  if (expr.node !== 'Call' || !UUID_FORMS.has(expr.name.toLowerCase())) return false
  const [only, ...others] = expr.args
  return only !== undefined && others.length === 0 && isOwnUuid(only, table)
}

const isField = (expr: Expr, table: string) =>
  expr.node === 'Field' && (expr.chain.length === 1 || (expr.chain.length === 2 && expr.chain[0] === table))

/**
 * A name that a column got by itself must not change what the rest of the query means: in `properties.timestamp,
 * toDate(timestamp)` the second means the field.
 */
function assertNotCaught(column: Alias, select: readonly Alias[], where: Expr | undefined): void {
  const others = select.filter((other) => other !== column).map(({ expr }) => expr)
  const used = [...others, ...(where ? [where] : [])].some((expr) => namesIn(expr).has(column.alias))
  if (used) throw queryError(`'${column.alias}' is also a field here: name the column with AS`, column)
}

function namesIn(expr: Expr): Set<string> {
  if (expr.node === 'Field') return new Set([String(expr.chain[0])])
  if (expr.node === 'SelectQuery' || expr.node === 'SelectSetQuery') return new Set()
  return new Set(partsOf(expr).flatMap((part) => [...namesIn(part)]))
}
