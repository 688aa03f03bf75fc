// What the compiler must know of a function: how many arguments, what comes out, and how each engine says it.
// A name that is in no catalogue of this folder does not exist.
import type { SizeEstimate } from '../size-estimate.ts'
import type { Printing, Type, Value } from '../value.ts'
import { signed } from './unsigned.ts'

type Print = (args: readonly Value[], printing: Printing, params: readonly Value[]) => string

export type HogqlFunction = {
  /** Fewest and most arguments. */
  args: readonly [number, number]
  /** Fewest and most parameters: the first brackets of `quantile(0.9)(x)`. None when left out. */
  params?: readonly [number, number]
  type: Type | ((args: readonly Value[], printing: Printing, params: readonly Value[]) => Type)
  duckdb: Print
  /** Left out: the name and arguments as they are. */
  clickhouse?: Print
  /**
   * The first argument is a lambda over the items of the arrays that follow: they are printed first, and its names get
   * their items' types.
   */
  takes_lambda?: true
  /** The first name of the lambda is the value so far; it begins as the last argument. */
  folds?: true
  /** How much comes out where it is not just the sum of what goes in. Left out for what gives numbers and the like. */
  estimate?: (args: readonly Value[], params: readonly Value[]) => SizeEstimate
  /** Whether what comes out is never NULL. Left out: it may be NULL. */
  certain?: (args: readonly Value[]) => boolean
  /** How many times as much as comes out stands in memory on the way. Once when left out. */
  copies?: (args: readonly Value[]) => number
}

/** `duckdb` prints the plain call; DISTINCT, FILTER, `…If` and OVER are added round it by the compiler. */
export type Aggregate = HogqlFunction & {
  /** DuckDB: what HogQL promises over no rows where the engine has NULL, e.g. `[]`. Printed round the whole. */
  orElse?: string | ((args: readonly Value[], type: Type) => string | null)
  /** DuckDB: what is made of the aggregate once it stands with its FILTER, such as a number out of a list. */
  finish?: (sql: string, args: readonly Value[], params: readonly Value[]) => string
  /** The same on ClickHouse. */
  clickhouse_finish?: (sql: string, args: readonly Value[], params: readonly Value[]) => string
  /** DuckDB: how it is called with OVER where FILTER is not allowed beside it. It must leave NULLs out. */
  duckdb_over?: (sql: string) => string
}

/** Keyed by name in lower case: names are compared without case. `name` is how ClickHouse spells it. */
export type Catalogue<Entry = HogqlFunction> = Readonly<
  Record<string, Entry & { name: string; aliases?: readonly string[] | undefined }>
>

/** An aggregate that stands with its FILTER or OVER, made what HogQL promises. */
export function finished(
  entry: Aggregate & { name: string },
  sql: string,
  args: readonly Value[],
  params: readonly Value[],
  type: Type,
  { engine }: Pick<Printing, 'engine'>,
): string {
  if (engine === 'clickhouse')
    return entry.clickhouse_finish?.(sql, args, params) ?? signed(entry, sql, engine)
  const made = entry.finish ? entry.finish(sql, args, params) : sql
  const { orElse = null } = entry
  const otherwise = typeof orElse === 'function' ? orElse(args, type) : orElse
  return otherwise === null ? made : `coalesce(${made}, ${otherwise})`
}
