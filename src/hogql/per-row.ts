// Which expressions give each row its one value, and the same one whenever the row is read. Exports take no others.
import { findAggregate, partsOf } from './aggregation.ts'
import type { Expr } from './ast.ts'
import { queryError } from './errors.ts'

const BY_CHANCE: ReadonlySet<string> = new Set(['rand', 'rand32', 'generateuuidv4'])

export function assertPerRow(expr: Expr): void {
  if (expr.node === 'SelectQuery' || expr.node === 'SelectSetQuery') {
    throw queryError('A subquery cannot stand here', expr)
  }
  if (expr.node === 'WindowFunction') throw queryError('A window function cannot stand here', expr)
  if (expr.node === 'Call') assertOrdinary(expr)
  for (const part of partsOf(expr)) assertPerRow(part)
}

function assertOrdinary(call: Extract<Expr, { node: 'Call' }>): void {
  const name = call.name.toLowerCase()
  if (findAggregate(name)) throw queryError(`The aggregate '${call.name}' cannot stand here`, call)
  if (name === 'arrayjoin') throw queryError(`'arrayJoin' would make several rows of one`, call)
  if (BY_CHANCE.has(name)) throw queryError(`'${call.name}' gives something else every time`, call)
}
