// What a name can mean at one place of a query, as plain data. Collections are shared by everything inside one SELECT;
// flags differ from place to place, so a part of a query gets a copy of the scope with other flags.
import type { Expr, Field, Query, SelectQuery, WindowExpr } from '../ast.ts'
import type { QueryContext } from '../compile.ts'
import type { Dialect } from '../engines/dialect.ts'
import type { SizeEstimate, Made } from '../size-estimate.ts'
import type { Type, Value } from '../value.ts'
import type { TableName } from './tables.ts'

/** Which part of a SELECT is being resolved: not everything is allowed everywhere. */
export type Clause = 'from' | 'on' | 'where' | 'group' | 'select' | 'having' | 'qualify' | 'order'

/** One item of a FROM. */
export type Source = {
  /** What the query calls it; a subquery may have no name. */
  name: string | null
  /** What the SQL calls it. */
  alias: string
  from:
    /**
     * `asked` is set once properties are read as columns of it; `session` holds the columns read of their sessions, `read`
     * the properties of persons and groups that are read where they are joined, by what the SQL calls them.
     */
    | {
        table: TableName
        joined: Set<string>
        asked: { isUsed: boolean }
        sample?: Sample
        session: Set<string>
        read: Map<string, JoinedProperty>
      }
    | { sql: string; columns: ReadonlyMap<string, OutputColumn> }
}

/** `joined` is the column that holds its JSON. */
export type JoinedProperty = { joined: string; key: string }

/** Rows whose share (see dialect.ts) lies in [from, to). */
export type Sample = { from: number; to: number }

/** A column of a subquery: the name in SQL and its type. */
export type OutputColumn = { column: string; type: Type; estimate?: SizeEstimate | undefined }

export type Subquery = {
  sql: string
  /** Names as users refer to them from outside, and as the answer shows them. */
  columns: readonly (OutputColumn & { name: string; title: string })[]
}

export type NamedQuery =
  | {
      kind: 'subquery'
      alias: string
      columns: ReadonlyMap<string, OutputColumn>
      /** How often it stands in a FROM. */
      uses: number
    }
  | { kind: 'column'; expr: Expr }

export type SelectAlias = {
  expr: Expr
  /** Its place in the SELECT list. */
  index: number
  /** Being resolved: a name inside its own definition means the column. */
  busy: boolean
  done?: { value: Value; loose: readonly Field[]; aggregated: boolean; windowed: boolean }
}

export type Scope = {
  compilation: Compilation
  /** The query round this one. */
  outer: Scope | null
  /** The query for each of whose rows this one is asked: its columns can be used. */
  row: Scope | null
  named_queries: Map<string, NamedQuery>
  sources: Source[]
  /** Names that belong to no single source: USING columns and ARRAY JOIN. They hide columns. */
  names: Map<string, Value>
  aliases: Map<string, SelectAlias>
  lambda_names: ReadonlyMap<string, Value>
  windows: ReadonlyMap<string, WindowExpr>
  /** SQL of an array to the item that stands for each of its elements. */
  array_joins: Map<string, string>
  grouping: {
    /** SQL of what the query groups by. */
    keys: Set<string>
    /** Columns met outside aggregates and outside the keys, since the list was last cut. */
    loose: Field[]
    /** Aggregates met so far. */
    aggregates: number
    /** Window functions met so far. */
    windows: number
  }
  place: Clause
  /** Aliases from this place of the SELECT list on are only meant where no column has the name. */
  aliases_before: number
  in_aggregate: boolean
  /** Column CTEs being put in, so that none stands in itself. */
  expanding: ReadonlySet<string>
}

/** One run of the compiler. Handlers call each other through it, so that their files need not import each other. */
export type Compilation = {
  context: QueryContext
  dialect: Dialect
  made: Made
  /** How many expressions were resolved inside of named ones. */
  expansion: { steps: number }
  fresh(prefix: 't' | 'c' | 'q' | 'asked'): string
  /** Properties met that always have a column. */
  hot: Set<string>
  /** Properties met that no column holds: each is read out of the JSON of its event. */
  in_json: Set<string>
  /** The column of a property of events; with `values`, for whoever looks for these alone. */
  askFor(property: string, values: readonly string[] | null): string
  resolve(expr: Expr, scope: Scope): Value
  /** For WHERE and ON, where NULL is as good as false. */
  condition(expr: Expr, scope: Scope): string
  subquery(query: Query, outer: Scope | null, row?: Scope | null): Subquery
  /** A query of ours, which may name what those of users cannot. */
  view(query: SelectQuery): Subquery
}

export const at = (scope: Scope, place: Clause): Scope => ({ ...scope, place })

export function newScope(compilation: Compilation, outer: Scope | null, row: Scope | null): Scope {
  return {
    compilation,
    outer,
    row,
    named_queries: new Map(),
    sources: [],
    names: new Map(),
    aliases: new Map(),
    lambda_names: new Map(),
    windows: new Map(),
    array_joins: new Map(),
    grouping: { keys: new Set(), loose: [], aggregates: 0, windows: 0 },
    place: 'from',
    aliases_before: Infinity,
    in_aggregate: false,
    expanding: outer?.expanding ?? new Set(),
  }
}

export const isQuery = (expr: Expr): expr is Query =>
  expr.node === 'SelectQuery' || expr.node === 'SelectSetQuery'

/** The rows a subquery in an expression can see. In the condition of a join there is no row yet. */
export const rowOf = (scope: Scope): Scope | null => (scope.place === 'on' ? null : scope)

export function findNamedQuery(scope: Scope | null, name: string): NamedQuery | undefined {
  for (let at = scope; at; at = at.outer) {
    const found = at.named_queries.get(name)
    if (found) return found
  }
  return undefined
}
