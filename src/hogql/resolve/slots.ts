// The columns of a result: what stands in the SELECT list, with asterisks written out.
import { hasAggregate } from '../aggregation.ts'
import type { Alias, Expr, Field, Span } from '../ast.ts'
import { queryError } from '../errors.ts'
import { assertBounded, sizeOf } from '../size-estimate.ts'
import { printHogql } from '../print-hogql.ts'
import type { Value } from '../value.ts'
import { assertAlias, MAX_SQL_LENGTH } from './expressions.ts'
import { sourceColumn, starOf } from './fields.ts'
import type { Scope, Source } from './scope.ts'

const MAX_COLUMNS = 500

/** A column of the result before it is resolved. */
export type Slot = {
  name: string
  title: string
  aggregates: boolean
  span: Span
  resolve(scope: Scope): Value
}
export type Item = { slot: Slot; value: Value; column: string }

/** Names of the SELECT list, which the rest of the query may use. */
export function slotsOf(select: readonly Expr[], span: Span, scope: Scope): Slot[] {
  for (const [index, expr] of select.entries()) {
    if (expr.node === 'Alias' && !scope.aliases.has(expr.alias)) {
      scope.aliases.set(expr.alias, { expr: expr.expr, index, busy: false })
    }
  }
  const slots = select.flatMap((expr, index) => slotOf(expr, index, scope))
  if (slots.length > MAX_COLUMNS) throw queryError(`A query has at most ${MAX_COLUMNS} columns`, span)
  return slots
}

export function resolveSlots(slots: readonly Slot[], span: Span, scope: Scope): Item[] {
  let length = 0
  let estimate = 0
  return slots.map((slot) => {
    const value = slot.resolve(scope)
    length += value.sql.length
    if (length > MAX_SQL_LENGTH) throw queryError('The query is too large', span)
    // Several times the same is made once, but handed out several times.
    estimate += Math.max(0, sizeOf(value.estimate) - 1)
    assertBounded(estimate, slot.span)
    return { slot, value, column: scope.compilation.fresh('c') }
  })
}

/** Exports know `team_id`, and may call it so. */
const isOwnName = ({ alias, expr }: Alias, { compilation: { context } }: Scope) =>
  context.exported !== undefined &&
  expr.node === 'Field' &&
  expr.chain.length === 1 &&
  expr.chain[0] === alias

function slotOf(expr: Expr, index: number, scope: Scope): Slot[] {
  if (expr.node === 'Field' && expr.chain.at(-1) === '*') return starSlots(expr, scope)
  const isAlias = expr.node === 'Alias'
  if (isAlias && !isOwnName(expr, scope)) assertAlias(expr.alias, expr)
  const title = isAlias ? expr.alias : printHogql(expr)
  // Through its alias, so that it is resolved only once.
  const isFirst = isAlias && scope.aliases.get(expr.alias)?.index === index
  const target: Expr = isFirst ? { ...expr, node: 'Field', chain: [expr.alias] } : expr
  const aliases_before = isFirst ? Infinity : index
  return [
    {
      name: expr.node === 'Field' ? String(expr.chain.at(-1)) : title,
      title,
      aggregates: hasAggregate(expr),
      span: expr,
      resolve: (inside) => inside.compilation.resolve(target, { ...inside, aliases_before }),
    },
  ]
}

function starSlots(star: Field, scope: Scope): Slot[] {
  const [qualifier] = star.chain.length > 1 ? star.chain : []
  const sources = scope.sources.filter(({ name }) => qualifier === undefined || name === qualifier)
  if (sources.length === 0 || star.chain.length > 2) {
    throw queryError(`'${star.chain.join('.')}' stands for no columns: there is no such table here`, star)
  }
  return sources.flatMap((source) => [...starOf(source)].map((name) => starSlot(star, source, name)))
}

const starSlot = (star: Field, source: Source, name: string): Slot => ({
  name,
  title: name,
  aggregates: false,
  span: star,
  resolve(scope) {
    const value = sourceColumn(source, name, scope)
    if (!value) throw queryError(`Unknown field '${name}'`, star)
    if (!scope.grouping.keys.has(value.sql)) scope.grouping.loose.push({ ...star, chain: [name] })
    return value
  },
})

/** A whole number means the column with that number. */
export function slotAt(expr: Expr, slots: readonly Slot[]): Slot | null {
  if (expr.node !== 'Constant' || typeof expr.value !== 'number') return null
  const slot = slots[expr.value - 1]
  if (!slot) throw queryError(`There is no column ${expr.value}`, expr)
  return slot
}
