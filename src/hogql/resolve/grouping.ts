// GROUP BY: its keys, alone or in several groupings at once.
import type { Expr, GroupingSet, SelectQuery } from '../ast.ts'
import { queryError } from '../errors.ts'
import type { Scope } from './scope.ts'
import { slotAt, type Slot } from './slots.ts'

/** Each of them is one more pass over the rows. */
const MAX_GROUPINGS = 64

/** The keys, and the clause with them. What a grouping leaves out is NULL in its rows. */
export type Grouped = { keys: readonly string[]; sql: string }

export function resolveGrouping(query: SelectQuery, slots: readonly Slot[], scope: Scope): Grouped {
  const keyOf = (expr: Expr) =>
    (slotAt(expr, slots)?.resolve(scope) ?? scope.compilation.resolve(expr, scope)).sql
  if (query.group_by_mode === 'all') {
    const loose = slots.filter(({ aggregates }) => !aggregates)
    return noted({ keys: loose.map((slot) => slot.resolve(scope).sql), print: list }, scope)
  }
  const exprs = query.group_by ?? []
  if (query.group_by_mode === 'grouping_sets') {
    assertGroupings(exprs.length, query)
    const sets = exprs.map((set) => (isSet(set) ? set.exprs : [set]).map(keyOf))
    const print = () => `GROUPING SETS (${sets.map((set) => `(${list(set)})`).join(', ')})`
    return noted({ keys: sets.flat(), print }, scope)
  }
  const keys = exprs.filter((expr) => !isSet(expr)).map(keyOf)
  if (query.group_by_mode === undefined) return noted({ keys, print: list }, scope)
  const isCube = query.group_by_mode === 'cube'
  assertGroupings(isCube ? 2 ** keys.length : keys.length + 1, query)
  return noted({ keys, print: () => `${isCube ? 'CUBE' : 'ROLLUP'}(${list(keys)})` }, scope)
}

const isSet = (key: Expr | GroupingSet) => key.node === 'GroupingSet'
const list = (keys: readonly string[]) => keys.join(', ')

function noted(
  { keys, print }: { keys: readonly string[]; print(keys: readonly string[]): string },
  scope: Scope,
): Grouped {
  for (const key of keys) scope.grouping.keys.add(key)
  return { keys, sql: keys.length > 0 ? ` GROUP BY ${print(keys)}` : '' }
}

function assertGroupings(count: number, query: SelectQuery) {
  if (count <= MAX_GROUPINGS) return
  throw queryError(`GROUP BY would make more than ${MAX_GROUPINGS} groupings`, query.group_by?.[0] ?? query)
}

export function assertGrouped({ grouping: { loose, aggregates } }: Scope, is_grouped: boolean) {
  const [field] = loose
  if (field && (is_grouped || aggregates > 0)) {
    throw queryError(`'${field.chain.join('.')}' must stand in GROUP BY or inside an aggregate`, field)
  }
}
