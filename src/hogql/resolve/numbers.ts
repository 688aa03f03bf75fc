// `numbers(n)` and `numbers(start, n)` as a table.
import type { Expr, JoinExpr } from '../ast.ts'
import { queryError } from '../errors.ts'
import type { Value } from '../value.ts'
import type { Scope, Source } from './scope.ts'

const MAX_NUMBERS = 1_000_000

/** The only table that takes arguments. */
export function numbersSource(join: JoinExpr, args: readonly Expr[], name: string, scope: Scope): Source {
  if (name.toLowerCase() !== 'numbers')
    throw queryError('No table takes arguments but numbers(…)', join.table)
  if (join.column_aliases) throw queryError('Only the columns of a subquery can be renamed', join)
  if (args.length < 1 || args.length > 2)
    throw queryError(`'numbers' takes 1 to 2 arguments, not ${args.length}`, join.table)
  const { dialect, fresh } = scope.compilation
  const [start, count] = args.length === 2 ? args : [null, args[0]]
  const from = start ? wholeNumber(start, scope) : '0'
  const sql = dialect.numbers(from, wholeNumber(count!, scope), MAX_NUMBERS)
  const columns = new Map([['number', { column: 'number', type: { kind: 'integer' } as const }]])
  return { name: join.alias ?? name, alias: fresh('t'), from: { sql, columns } }
}

/** Tables are made before there is a row: no column can stand here. */
function wholeNumber(expr: Expr, scope: Scope): string {
  const { dialect, resolve } = scope.compilation
  const value: Value = resolve(expr, { ...scope, sources: [], names: new Map(), aliases: new Map() })
  const { constant, type } = value
  if (typeof constant === 'number' && constant > MAX_NUMBERS)
    throw queryError(`A number here is at most ${MAX_NUMBERS}`, expr)
  if (type.kind !== 'integer' || (typeof constant === 'number' && constant < 0))
    throw queryError(`'numbers' takes whole numbers from 0 on`, expr)
  return dialect.number(value)
}
