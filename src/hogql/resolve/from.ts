// FROM: tables, CTEs and subqueries, their joins, ARRAY JOIN. It is resolved first and printed last, because only then
// it is known which other tables the columns need.
import type { Expr, JoinConstraint, JoinExpr, SelectQuery } from '../ast.ts'
import { queryError } from '../errors.ts'
import { itemsOf, largestOf } from '../size-estimate.ts'
import type { Value } from '../value.ts'
import { assertAlias } from './expressions.ts'
import { sourceColumn } from './fields.ts'
import { commonType, together } from './kinds.ts'
import { numbersSource } from './numbers.ts'
import { sampleOf } from './sample.ts'
import { findNamedQuery, type OutputColumn, type Scope, type Source, type Subquery } from './scope.ts'
import { unknownName } from './suggest.ts'
import { tableSql } from './table-sql.ts'
import { namedTables } from './tables.ts'
import { VIEWS } from './views.ts'

type JoinKind = 'INNER' | 'LEFT' | 'RIGHT' | 'FULL' | 'CROSS'
type Join = { kind: JoinKind; source: Source; on: string | null }
export type From = { joins: readonly Join[]; unfolded: string }

const NO_VIEWS: typeof VIEWS = new Map()

const JOIN_KINDS = new Map<string, JoinKind>([
  ['JOIN', 'INNER'],
  ['INNER JOIN', 'INNER'],
  ['LEFT JOIN', 'LEFT'],
  ['LEFT OUTER JOIN', 'LEFT'],
  ['RIGHT JOIN', 'RIGHT'],
  ['RIGHT OUTER JOIN', 'RIGHT'],
  ['FULL JOIN', 'FULL'],
  ['FULL OUTER JOIN', 'FULL'],
  ['CROSS JOIN', 'CROSS'],
])

/** Fills `scope.sources` and `scope.names`. */
export function resolveFrom(query: SelectQuery, scope: Scope): From {
  const joins: Join[] = []
  for (let join = query.select_from; join; join = join.next_join) {
    const kind = joinKind(join, joins.length === 0)
    const source = resolveSource(join, scope)
    if (source.name !== null && scope.sources.some(({ name }) => name === source.name)) {
      throw queryError(`'${source.name}' is joined twice: give each an alias`, join)
    }
    const earlier = [...scope.sources]
    scope.sources.push(source)
    joins.push({ kind, source, on: joinCondition(join, kind, earlier, source, scope) })
  }
  return { joins, unfolded: arrayJoinClause(query, scope) }
}

function joinKind(join: JoinExpr, is_first: boolean): JoinKind {
  if (is_first && join.join_type === undefined) return 'CROSS'
  const kind = JOIN_KINDS.get((join.join_type ?? 'CROSS JOIN').toUpperCase())
  if (!kind) throw queryError(`${join.join_type} is not supported`, join)
  return kind
}

function resolveSource(join: JoinExpr, scope: Scope): Source {
  const source = unsampled(join, scope)
  if (join.sample && !('table' in source.from)) throw queryError('Only events can be sampled', join.sample)
  return source
}

function unsampled(join: JoinExpr, scope: Scope): Source {
  if (join.alias !== undefined) assertAlias(join.alias, join)
  const alias = scope.compilation.fresh('t')
  const { table } = join
  // What was given for a placeholder is in its place by now, and need not be a table.
  const isQuery = table.node === 'SelectQuery' || table.node === 'SelectSetQuery'
  if (table.node !== 'Field' && !isQuery) throw queryError('A placeholder cannot stand here', join)
  if (isQuery) {
    const { sql, columns } = scope.compilation.subquery(table, scope)
    return { name: join.alias ?? null, alias, from: { sql: `(${sql})`, columns: renamed(columns, join) } }
  }
  const name = table.chain.join('.')
  if (join.table_args) return numbersSource(join, join.table_args, name, scope)
  const named = table.chain.length === 1 ? findNamedQuery(scope, name) : undefined
  if (named?.kind === 'subquery') {
    named.uses++
    const columns = [...named.columns].map(([column, output]) => ({ ...output, name: column }))
    return { name: join.alias ?? name, alias, from: { sql: named.alias, columns: renamed(columns, join) } }
  }
  const tables = namedTables(scope.compilation.context)
  const views = scope.compilation.context.exported ? NO_VIEWS : VIEWS
  const view = views.get(name)
  if (view) {
    const { sql, columns } = scope.compilation.view(view)
    return { name: join.alias ?? name, alias, from: { sql: `(${sql})`, columns: renamed(columns, join) } }
  }
  const found = table.chain.length === 1 ? tables.get(name) : undefined
  if (!found) throw unknownName('table', name, [...tables.keys(), ...views.keys()], table)
  if (join.column_aliases) throw queryError('Only the columns of a subquery can be renamed', join)
  return {
    name: join.alias ?? name,
    alias,
    from: {
      table: found,
      joined: new Set(),
      asked: { isUsed: false },
      session: new Set(),
      read: new Map(),
      ...sampleOf(join, found),
    },
  }
}

type Named = Pick<Subquery['columns'][number], 'name' | 'column' | 'type' | 'estimate'>

/** Columns by name; of two with one name the first counts. */
export function renamed(
  columns: readonly Named[],
  { column_aliases: names, ...span }: { column_aliases?: readonly string[]; start?: number; end?: number },
): ReadonlyMap<string, OutputColumn> {
  if (names && names.length !== columns.length) {
    throw queryError(`${names.length} names are given for ${columns.length} columns`, span)
  }
  for (const name of names ?? []) assertAlias(name, span)
  const byName = new Map<string, OutputColumn>()
  for (const [index, { name, column, type, estimate }] of columns.entries()) {
    const called = names?.[index] ?? name
    if (!byName.has(called)) byName.set(called, { column, type, estimate })
  }
  return byName
}

function joinCondition(
  join: JoinExpr,
  kind: JoinKind,
  earlier: Source[],
  source: Source,
  scope: Scope,
): string | null {
  const { constraint } = join
  if (kind === 'CROSS') {
    if (constraint) throw queryError('CROSS JOIN takes no condition', constraint)
    return null
  }
  if (!constraint) throw queryError('The join needs a condition: ON … or USING …', join)
  // Aliases of the SELECT come later; one of them must not hide a column here.
  const inside: Scope = { ...scope, place: 'on', aliases: new Map() }
  return constraint.constraint_type === 'ON'
    ? scope.compilation.condition(constraint.expr, inside)
    : using(constraint, kind, earlier, source, inside)
}

function using(
  constraint: JoinConstraint,
  kind: JoinKind,
  earlier: Source[],
  source: Source,
  scope: Scope,
): string {
  const { dialect, resolve } = scope.compilation
  const columns = constraint.expr.node === 'Tuple' ? constraint.expr.exprs : [constraint.expr]
  const tests = columns.map((expr) => {
    const name = usedName(expr)
    const left = resolve(expr, { ...scope, sources: earlier })
    const right = sourceColumn(source, name, scope)
    if (!right) throw queryError(`The joined table has no column '${name}'`, expr)
    const [a, b] = together(left, right, dialect)
    scope.names.set(name, merged(kind, left, right))
    return `${a} = ${b}`
  })
  return `(${tests.join(' AND ')})`
}

/** The column without a table's name in front: that of the side whose rows are all kept. */
function merged(kind: JoinKind, left: Value, right: Value): Value {
  if (kind === 'RIGHT') return right
  if (kind !== 'FULL') return left
  const type = commonType(left.type, right.type)
  return { sql: `coalesce(${left.sql}, ${right.sql})`, type, estimate: largestOf([left, right]) }
}

function usedName(expr: Expr): string {
  const [name] = expr.node === 'Field' && expr.chain.length === 1 ? expr.chain : []
  if (typeof name !== 'string') throw queryError('USING takes names of columns', expr)
  return name
}

function arrayJoinClause(query: SelectQuery, scope: Scope): string {
  if (!query.array_join_list || !query.array_join_op) return ''
  const { dialect, resolve, fresh } = scope.compilation
  const alias = fresh('t')
  const found = query.array_join_list.map((expr) => {
    const name = expr.node === 'Alias' ? expr.alias : usedName(expr)
    assertAlias(name, expr)
    const array = resolve(expr.node === 'Alias' ? expr.expr : expr, { ...scope, aliases: new Map() })
    const { sql, type } = array
    if (type.kind !== 'array' && type.kind !== 'unknown') throw queryError('ARRAY JOIN needs arrays', expr)
    const item = type.kind === 'array' ? type.item : type
    return { name, column: fresh('c'), sql, type: item, estimate: itemsOf(array).item }
  })
  for (const { name, column, type, estimate } of found)
    scope.names.set(name, { sql: dialect.unfolded(alias, column), type, estimate })
  return dialect.unfold(alias, found, query.array_join_op === 'LEFT ARRAY JOIN')
}

export function fromSql({ joins, unfolded }: From, scope: Scope): string {
  const { dialect, fresh } = scope.compilation
  const printed = joins.map(({ kind, source, on }, index) => {
    const { from, alias } = source
    const table = 'sql' in from ? from.sql : tableSql(from, scope.compilation)
    return `${index === 0 ? '' : ` ${kind} JOIN `}${table} AS ${alias}${on === null ? '' : ` ON ${on}`}`
  })
  const arrays = [...scope.array_joins].map(([sql, alias]) =>
    dialect.unfold(alias, [{ column: 'item', sql }], false),
  )
  const after = unfolded + arrays.join('')
  if (printed.length === 0 && after === '') return ''
  return ` FROM ${printed.join('') || `(SELECT 1) AS ${fresh('t')}`}${after}`
}
