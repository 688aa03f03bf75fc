// `hogql_query`: the columns of an export and a condition on its events, chosen by a SELECT. It is kept as it was sent, for
// its readers, and in a normal form, which runs read.
import { field, constant } from '../../events/tree.ts'
import { explained } from '../../events/run-query.ts'
import { partsOf } from '../../../hogql/aggregation.ts'
import type { Alias, Expr, Query, SelectQuery } from '../../../hogql/ast.ts'
import { queryError } from '../../../hogql/errors.ts'
import { parseSelect } from '../../../hogql/parser.ts'
import { assertPerRow } from '../../../hogql/per-row.ts'
import { printHogql } from '../../../hogql/print-hogql.ts'
import type { ExportSchema } from '../rows.ts'
import { compileEvents, type AskedEvents } from './compile-events.ts'
import { assertNoUpperUuid, nameColumns } from './column-names.ts'
import type { ExportedProject } from './source-rows.ts'

const REFUSED = {
  ctes: 'WITH',
  distinct: 'DISTINCT',
  array_join_list: 'ARRAY JOIN',
  prewhere: 'PREWHERE',
  group_by: 'GROUP BY',
  group_by_mode: 'GROUP BY',
  having: 'HAVING',
  qualify: 'QUALIFY',
  window_exprs: 'WINDOW',
  order_by: 'ORDER BY',
  limit_by: 'LIMIT BY',
  limit: 'LIMIT',
  offset: 'OFFSET',
} as const

/** Conversions by ClickHouse's names. PostHog refuses them in exports, and a query should mean the same on both. */
const NATIVE = /^to(U?Int(8|16|32|64)|Float(32|64))(Or(Null|Zero|Default))?$/i

/** Texts under these names are read as JSON, as PostHog does. */
const JSON_NAMES: ReadonlySet<string> = new Set(['properties', 'set', 'set_once', 'person_properties'])

/** Throws what the API answers. */
export function readCustomQuery(
  text: string,
  project: ExportedProject,
  now: Date,
): { hogql_query: string; schema: ExportSchema } {
  return explained('hogql_query', () => {
    const query = nameColumns(plainSelect(parseSelect(text)))
    assertNoUpperUuid(query)
    compileEvents(project, query, constant(true), now)
    const normal = printHogql(query)
    if (/\p{Cc}/u.test(normal)) throw queryError('Names and texts may hold no control characters')
    // Compiled again as runs will do it: a normal form that is too long for a query must not be kept.
    compileEvents(project, customColumns(normal).query, constant(true), now)
    return { hogql_query: text, schema: schemaOf(query.select, normal) }
  })
}

/** Columns of a query in its normal form. Throws a HogqlError. */
export function customColumns(hogql_query: string): AskedEvents {
  const query = nameColumns(plainSelect(parseSelect(hogql_query)))
  const columns = query.select.map(({ alias }) => ({
    name: alias,
    ...(JSON_NAMES.has(alias) ? ({ hint: 'json' } as const) : {}),
  }))
  return { query, columns }
}

/** One SELECT over events that gives each of them one row. */
function plainSelect(query: Query): SelectQuery {
  if (query.node === 'SelectSetQuery') throw queryError('An export takes one SELECT', query)
  for (const [clause, name] of Object.entries(REFUSED)) {
    if (query[clause as keyof typeof REFUSED] !== undefined) {
      throw queryError(`${name} cannot be used in an export`, query)
    }
  }
  const { select_from: from } = query
  if (!from) throw queryError('An export selects FROM events', query)
  if (from.sample) throw queryError('SAMPLE cannot be used in an export', from.sample)
  if (from.table.node !== 'Field' || from.table.chain.join('.') !== 'events' || from.table_args) {
    throw queryError('A query can only be given for the model events: it selects FROM events', from.table)
  }
  if (from.next_join) throw queryError('An export takes no JOIN', from.next_join)
  for (const expr of [...query.select, ...(query.where ? [query.where] : [])]) {
    assertPerRow(expr)
    assertPortable(expr)
  }
  return query
}

function assertPortable(expr: Expr): void {
  if (expr.node === 'SelectQuery' || expr.node === 'SelectSetQuery') return
  if (expr.node === 'Call' && NATIVE.test(expr.name)) {
    throw queryError(`Unknown function '${expr.name}': use toInt or toFloat`, expr)
  }
  for (const part of partsOf(expr)) assertPortable(part)
}

function schemaOf(select: readonly Alias[], hogql_query: string): ExportSchema {
  const values: ExportSchema['values'] = {}
  const fields = select.map(({ alias, expr }) => ({
    expression: printHogql(withoutLiterals(expr, values)),
    alias,
  }))
  return { fields, values, hogql_query }
}

/** Replaces literals with placeholders and adds their values to `values`. */
function withoutLiterals<Tree>(tree: Tree, values: ExportSchema['values']): Tree {
  if (typeof tree !== 'object' || tree === null) return tree
  if (Array.isArray(tree)) return tree.map((part: unknown) => withoutLiterals(part, values)) as Tree
  if (isConstant(tree)) {
    const name = `hogql_val_${Object.keys(values).length}`
    values[name] = tree.value
    return { node: 'Placeholder', expr: field(name) } as Tree
  }
  return Object.fromEntries(
    Object.entries(tree).map(([key, part]) => [key, withoutLiterals(part as unknown, values)]),
  ) as Tree
}

const isConstant = (tree: object): tree is Extract<Expr, { node: 'Constant' }> =>
  'node' in tree && tree.node === 'Constant'
