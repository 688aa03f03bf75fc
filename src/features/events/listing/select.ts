// `select`: HogQL expressions over the listing's events. The list route and the query endpoint's EventsQuery ask here.
import type { Expr, OrderExpr, SelectQuery } from '../../../hogql/ast.ts'
import { hasAggregate } from '../../../hogql/aggregation.ts'
import { parseExpression, parseOrder } from '../../../hogql/parser.ts'
import { printHogql } from '../../../hogql/print-hogql.ts'
import type { StoreValue } from '../../../platform/event-store/event-store.ts'
import { invalid } from '../../../platform/http/errors.ts'
import type { Services } from '../../../platform/services.ts'
import { filterExpression, readPropertyFilters } from '../property-filters.ts'
import {
  compiledFor,
  explained,
  namingField,
  runQuery,
  type AskedProject,
  type Asking,
} from '../run-query.ts'
import { filterConditions, type EventFilters } from './filters.ts'
import { defaultBefore, readMicros } from './parameters.ts'
import { readColumn, type Column } from './select-columns.ts'
import { slicesOf } from './slices.ts'
import { allOf, ascending, constant, descending, eventField, field } from '../tree.ts'
import { rangeCondition, type Range } from './window.ts'

/** Which rows and what of them; texts are HogQL. */
export type EventsSelection = {
  select: readonly string[]
  where: readonly string[]
  orderBy: readonly string[]
  limit: number
  offset: number
  /** Stands before the names of these fields in errors: the query endpoint has them inside another field. */
  attr_prefix: '' | `${string}__`
  /** Aborted when nobody wants the answer any more. */
  signal?: AbortSignal | undefined
}

export type EventsSelectRequest = EventsSelection &
  Pick<EventFilters, 'event' | 'distinct_id' | 'person_id'> & {
    after: string | null
    before: string | null
    /** Property filters as parsed JSON. */
    properties: unknown
  }

export type SelectedEvents = {
  columns: string[]
  types: string[]
  results: unknown[][]
  hasMore: boolean
  limit: number
  offset: number
  /** The same question as a statement. */
  hogql: string
}

const MAX_EXPRESSIONS = 500

export async function runEventsSelect(
  services: Asking & Pick<Services, 'db'>,
  project: AskedProject,
  request: EventsSelectRequest,
): Promise<SelectedEvents> {
  const clock = { now: services.now(), timezone: project.timezone }
  const { after, before, properties: given, ...rest } = request
  const attrOf = (name: string) => rest.attr_prefix + name
  const properties = filterExpression(readPropertyFilters(given ?? [], attrOf('properties')), clock)
  const bound = (text: string, name: string) => ({ micros: readMicros(text, attrOf(name), clock), id: null })
  const range = {
    after: after === null ? null : bound(after, 'after'),
    before: before === null ? { micros: defaultBefore(clock.now), id: null } : bound(before, 'before'),
  }
  return selectEvents(services, project, range, { ...rest, properties }, rest)
}

export async function selectEvents(
  services: Asking & Pick<Services, 'db'>,
  project: AskedProject,
  range: Range,
  filters: EventFilters,
  selection: EventsSelection,
): Promise<SelectedEvents> {
  const { limit, offset, attr_prefix, signal } = selection
  const columns = readColumns(selection.select, `${attr_prefix}select`)
  const conditions = [rangeCondition(range), ...(await filterConditions(services.db, project.id, filters))]
  const query = selectQuery(columns, conditions, selection)
  const { rows, columns: found } = await namingField(
    () => runQuery(services, project, { query, max_rows: limit + 1, signal }),
    () => assertFields(services, project, columns, selection),
  )
  const types = found.map(({ type }) => type)
  return {
    columns: columns.map(({ title }) => title),
    types: spread(columns, types).map((own, index) => columns[index]!.typeOf(own)),
    results: await build(columns, rows.slice(0, limit)),
    hasMore: rows.length > limit,
    limit,
    offset,
    hogql: printHogql({ ...query, limit: constant(limit) }),
  }
}

/** One field more at a time. */
function assertFields(
  services: Asking,
  project: AskedProject,
  columns: readonly Column[],
  selection: EventsSelection,
): void {
  const { select, where, orderBy, attr_prefix } = selection
  const parts = [
    { name: 'select', texts: select, asked: { where: [], orderBy: [] } },
    { name: 'where', texts: where, asked: { where, orderBy: [] } },
    { name: 'orderBy', texts: orderBy, asked: { where, orderBy } },
  ]
  for (const { name, texts, asked } of parts) {
    if (texts.length === 0) continue
    const query = selectQuery(columns, [constant(true)], { ...selection, ...asked })
    compiledFor(services, project, { query, attr: attr_prefix + name })
  }
}

function readColumns(select: readonly string[], attr: string): Column[] {
  assertFew(select, attr)
  const texts = select.length === 0 ? ['*'] : select
  return texts.map((text) => explained(attr, () => readColumn(text)))
}

function selectQuery(
  columns: readonly Column[],
  conditions: readonly Expr[],
  selection: EventsSelection,
): SelectQuery {
  const { attr_prefix, orderBy } = selection
  const where = readExpressions(selection.where, `${attr_prefix}where`)
  const having = allOf(where.filter(hasAggregate))
  const exprs = columns.flatMap((column) => column.exprs)
  const keys = exprs.map(withoutAlias).filter((expr) => !hasAggregate(expr) && expr.node !== 'Constant')
  const isGrouped = having !== undefined || exprs.some(hasAggregate)
  const asked =
    orderBy.length > 0 ? readOrder(orderBy, `${attr_prefix}orderBy`) : defaultOrder(columns, exprs)
  // Pages are cut by offset, so the order must be total.
  const rest = isGrouped ? keys.map(ascending) : [descending(eventField('uuid'))]
  return {
    node: 'SelectQuery',
    select: exprs,
    select_from: { node: 'JoinExpr', table: field('events') },
    where: allOf([...conditions, ...where.filter((expr) => !hasAggregate(expr))])!,
    ...(isGrouped && keys.length > 0 ? { group_by: keys } : {}),
    ...(having ? { having } : {}),
    order_by: [...asked, ...rest],
    limit: constant(selection.limit + 1),
    ...(selection.offset > 0 ? { offset: constant(selection.offset) } : {}),
  }
}

function readExpressions(texts: readonly string[], attr: string): Expr[] {
  assertFew(texts, attr)
  return texts.map((text) => explained(attr, () => parseExpression(text)))
}

/** `-x`, `x DESC`, `x ASC` or `x`. */
function readOrder(texts: readonly string[], attr: string): OrderExpr[] {
  assertFew(texts, attr)
  return texts.map((text) => {
    const minus = /^\s*-(?!-)/.exec(text)
    const order = explained(attr, () => parseOrder(minus ? text.slice(minus[0].length) : text))
    return minus ? descending(order.expr) : order
  })
}

function defaultOrder(columns: readonly Column[], exprs: readonly Expr[]): OrderExpr[] {
  if (columns.some(({ has_timestamp }) => has_timestamp)) return [descending(eventField('timestamp'))]
  const aggregate = exprs.find(hasAggregate)
  return aggregate ? [descending(withoutAlias(aggregate))] : [ascending(withoutAlias(exprs[0]!))]
}

function withoutAlias(expr: Expr): Expr {
  return expr.node === 'Alias' ? expr.expr : expr
}

function assertFew(texts: readonly string[], attr: string): void {
  if (texts.length <= MAX_EXPRESSIONS) return
  throw invalid(attr, 'invalid_input', `At most ${MAX_EXPRESSIONS} expressions are allowed.`)
}

async function build(
  columns: readonly Column[],
  rows: readonly (readonly StoreValue[])[],
): Promise<unknown[][]> {
  const results: unknown[][] = []
  for await (const slice of slicesOf(rows, weightOfValues)) {
    for (const row of slice) {
      results.push(spread(columns, row).map((values, index) => columns[index]!.build(values)))
    }
  }
  return results
}

export function weightOfValues(values: readonly unknown[]): number {
  return values.reduce<number>((sum, value) => sum + weightOfValue(value), 0)
}

/** Whole events and people are guessed: counting them would be half the work. */
function weightOfValue(value: unknown): number {
  if (typeof value === 'string') return value.length
  return typeof value === 'object' && value !== null ? 1000 : 20
}

/** The values of a row, given back to the columns that asked for them. */
function spread<T>(columns: readonly Column[], values: readonly T[]): T[][] {
  let at = 0
  return columns.map(({ exprs }) => values.slice(at, (at += exprs.length)))
}
