// What can be written in HogQL, told from the compiler's own lists: for editors that complete names.
import { findAggregate } from './aggregation.ts'
import type { Query } from './ast.ts'
import { compileQuery, type QueryContext } from './compile.ts'
import { aggregates, scalarFunctions, windowFunctions } from './functions/catalogue.ts'
import type { HogqlFunction } from './functions/function.ts'
import { KEYWORDS } from './parse/words.ts'
import { namedTables, TABLES, type TableName } from './resolve/tables.ts'
import { ARRAY_JOIN } from './resolve/unknown-function.ts'
import { VIEWS } from './resolve/views.ts'
import type { Type } from './value.ts'

export type HogqlDescription = {
  tables: { name: string; columns: { name: string; type: string }[] }[]
  functions: FunctionDescription[]
  keywords: string[]
}

type FunctionKind = 'scalar' | 'aggregate' | 'window'

type FunctionDescription = {
  name: string
  aliases: string[]
  kind: FunctionKind
  min_args: number
  /** Null: as many as one likes. */
  max_args: number | null
  /** How many parameters the first brackets of `quantile(0.9)(x)` take. */
  min_params: number
  max_params: number
  takes_lambda: boolean
  /** What it is called with a condition as the last argument: `countIf`. */
  with_condition: string | null
}

type Entry = Pick<HogqlFunction, 'args' | 'params' | 'takes_lambda'> & {
  name: string
  aliases?: readonly string[] | undefined
}

/** Types do not depend on any of it. */
const CONTEXT: QueryContext = { project_id: 0, timezone: 'UTC', now: new Date(0), placeholders: new Map() }

export function describeHogql(): HogqlDescription {
  return {
    tables: [
      ...[...namedTables(CONTEXT)].map(([name, table]) => ({ name, columns: columnsOf(name, table) })),
      ...[...VIEWS].map(([name, view]) => ({ name, columns: columnsOfView(view) })),
    ],
    functions: [
      ...functionsOf([ARRAY_JOIN, ...Object.values(scalarFunctions)], 'scalar'),
      ...functionsOf(Object.values(aggregates), 'aggregate'),
      ...functionsOf(Object.values(windowFunctions), 'window'),
    ],
    keywords: [...KEYWORDS],
  }
}

/** A computed column has the type that comes out when it is asked for. */
function columnsOf(table: string, name: TableName): { name: string; type: string }[] {
  const names = [...TABLES[name].columns.keys()]
  const { outputs } = compileQuery(
    {
      node: 'SelectQuery',
      select: names.map((column) => ({ node: 'Field', chain: column.split('.') })),
      select_from: { node: 'JoinExpr', table: { node: 'Field', chain: [table] } },
    },
    CONTEXT,
    'duckdb',
  )
  return names.map((column, index) => ({ name: column, type: typeName(outputs[index]!.type) }))
}

function columnsOfView(view: Query): { name: string; type: string }[] {
  const { columns, outputs } = compileQuery(view, { ...CONTEXT, by_position: true }, 'duckdb')
  return columns.map((name, index) => ({ name, type: typeName(outputs[index]!.type) }))
}

function typeName(type: Type): string {
  if (type.kind === 'array') return `array(${typeName(type.item)})`
  if (type.kind === 'tuple') return `tuple(${type.items.map(typeName).join(', ')})`
  return type.kind
}

/** Names that begin with an underscore are what the parser makes of other forms. */
function functionsOf(entries: readonly Entry[], kind: FunctionKind): FunctionDescription[] {
  const written = [...new Set(entries)].filter(({ name }) => !name.startsWith('_'))
  return written.map(({ name, aliases, args: [fewest, most], params = [0, 0], takes_lambda }) => ({
    name,
    aliases: [...(aliases ?? [])],
    kind,
    min_args: fewest,
    max_args: most === Infinity ? null : most,
    min_params: params[0],
    max_params: params[1],
    takes_lambda: takes_lambda === true,
    with_condition: kind === 'aggregate' && findAggregate(`${name}If`)?.has_condition ? `${name}If` : null,
  }))
}
