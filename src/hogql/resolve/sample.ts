// SAMPLE: which part of the events is looked at.
import type { Expr, JoinExpr, SampleExpr } from '../ast.ts'
import { queryError } from '../errors.ts'
import type { Sample } from './scope.ts'
import { TABLES, type TableName } from './tables.ts'

export function sampleOf({ sample }: JoinExpr, table: TableName): { sample?: Sample } {
  if (!sample) return {}
  if (TABLES[table].physical !== 'events') throw queryError('Only events can be sampled', sample)
  const size = ratioOf(sample.sample_value)
  const from = sample.offset_value ? ratioOf(sample.offset_value) : 0
  if (!(size > 0 && size <= 1))
    throw queryError('SAMPLE takes a part of the events: a number above 0 up to 1', sample)
  if (!(from >= 0 && from < 1)) throw queryError('OFFSET of SAMPLE is at least 0 and below 1', sample)
  return { sample: { from, to: Math.min(1, from + size) } }
}

function ratioOf(value: SampleExpr['sample_value'] | Expr): number {
  if (value.node !== 'RatioExpr') return numberOf(value)
  return value.right ? numberOf(value.left) / numberOf(value.right) : numberOf(value.left)
}

/** What was given for a placeholder is a constant too. */
const numberOf = (expr: Expr) =>
  expr.node === 'Constant' && typeof expr.value === 'number' ? expr.value : NaN
