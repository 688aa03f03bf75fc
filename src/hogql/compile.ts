// From tree to SQL: one project, one engine, every literal a bound parameter.
import type { AskedProperty, Parameter } from '../platform/event-store/event-store.ts'
import type { Expr, Query } from './ast.ts'
import { clickhouse } from './engines/clickhouse.ts'
import { duckdb } from './engines/duckdb.ts'
import type { Engine } from './engines/dialect.ts'
import { printHogql } from './print-hogql.ts'
import { resolveCondition, resolveExpression } from './resolve/expressions.ts'
import { fillPlaceholders } from './resolve/placeholders.ts'
import type { Compilation } from './resolve/scope.ts'
import { selectSql } from './resolve/select.ts'
import { setSql } from './resolve/sets.ts'
import type { Type } from './value.ts'

export type QueryContext = {
  project_id: number
  timezone: string
  now: Date
  /** What `{name}` and `{variables.name}` stand for, by the text between the braces. */
  placeholders: ReadonlyMap<string, Expr>
  /** Events have `seq`, their position, besides what queries of users can name. Few are read, so properties come out of the JSON. */
  by_position?: boolean
  /** Set for exports, whose only table is that of the events, each with its person as of when it was stored. */
  exported?: {
    /** What every row of the table must meet. Names in it are fields, whatever the query calls by the same name. */
    where: Expr
  }
}

export type CompiledQuery = {
  sql: string
  parameters: readonly Parameter[]
  /** Names of the result's columns: aliases, else the expression as HogQL text. */
  columns: readonly string[]
  /** The same columns as the SQL names them, with their types. */
  outputs: readonly { column: string; type: Type }[]
  /** Properties of events that the SQL reads by name: those that the store finds, … */
  properties: readonly AskedProperty[]
  /** … those that always have a column, … */
  hot: readonly string[]
  /** … and those that the SQL takes out of the JSON by itself. */
  in_json: readonly string[]
  /** The query as normalised HogQL. */
  hogql: string
}

const ENGINES: Readonly<Record<'duckdb' | 'clickhouse', Engine>> = { duckdb, clickhouse }

export function compileQuery(
  query: Query,
  context: QueryContext,
  engine: 'duckdb' | 'clickhouse',
): CompiledQuery {
  const { bind, bound } = newParameters(ENGINES[engine])
  const counts = { t: 0, c: 0, q: 0, asked: 0 }
  const asked = new Map<string, AskedProperty>()
  const hot = new Set<string>()
  const in_json = new Set<string>()
  const compilation: Compilation = {
    context,
    dialect: ENGINES[engine].dialect({ ...context, bind }),
    made: { total: 0 },
    expansion: { steps: 0 },
    fresh: (prefix) => `${prefix}${++counts[prefix]}`,
    hot,
    in_json,
    askFor(property, values) {
      // The same property is the same column, so that an expression written twice is the same SQL twice.
      const key = JSON.stringify([property, values])
      const known = asked.get(key)
      const column = known?.column ?? compilation.fresh('asked')
      if (!known) asked.set(key, { property, column, ...(values ? { values } : {}) })
      return column
    },
    resolve: resolveExpression,
    condition: resolveCondition,
    subquery: (inner, outer, row = null) =>
      inner.node === 'SelectQuery'
        ? selectSql(inner, outer, row, compilation)
        : setSql(inner, outer, row, compilation),
    view: (inner) =>
      selectSql(inner, null, null, { ...compilation, context: { ...context, by_position: true } }),
  }
  const filled = fillPlaceholders(query, context.placeholders)
  const { sql, columns } = compilation.subquery(filled, null)
  return {
    ...withoutUnused(sql, bound, ENGINES[engine]),
    columns: columns.map(({ title }) => title),
    outputs: columns.map(({ column, type }) => ({ column, type })),
    properties: usedOf([...asked.values()], sql),
    hot: [...hot],
    in_json: [...in_json],
    hogql: printHogql(filled),
  }
}

/**
 * The same value is the same parameter, so that an expression written twice is the same SQL twice: engines compare what
 * is selected with what is grouped by.
 */
function newParameters({ placeholder }: Engine) {
  const bound: Parameter[] = []
  const known = new Map<Parameter, string>()
  const bind = (value: Parameter) => {
    const written = known.get(value) ?? placeholder(bound.push(value), value)
    known.set(value, written)
    return written
  }
  return { bind, bound }
}

/** Names were looked up that are not in the SQL in the end. No text of users is in it. */
function usedOf(asked: readonly AskedProperty[], sql: string): AskedProperty[] {
  const used = new Set(sql.match(/\basked\d+\b/g))
  return asked.filter(({ column }) => used.has(column))
}

/** Not everything that was bound is in the SQL in the end, and DuckDB refuses a value it has no place for. */
function withoutUnused(sql: string, bound: readonly Parameter[], { placeholder, placeholders }: Engine) {
  const numbers = new Map<string, number>()
  const renumbered = sql.replaceAll(placeholders, (_, number: string) => {
    if (!numbers.has(number)) numbers.set(number, numbers.size + 1)
    return placeholder(numbers.get(number) ?? 0, bound[Number(number) - 1] ?? '')
  })
  return { sql: renumbered, parameters: [...numbers.keys()].map((number) => bound[Number(number) - 1] ?? '') }
}
