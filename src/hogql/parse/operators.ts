// The operators between two operands, from the weakest to the strongest.
import type { ArithmeticOperation, CompareOperator } from '../ast.ts'
import type { Token } from './lexer.ts'

/** How strongly each binds. An operator takes operands of stronger operators only. */
export const LEVEL = {
  alias: 1,
  ternary: 2,
  or: 3,
  and: 4,
  not: 5,
  between: 6,
  nullish: 7,
  distinct: 8,
  null_check: 9,
  compare: 10,
  add: 11,
  multiply: 12,
  negate: 13,
} as const

export type Operator =
  | {
      level: number
      form:
        | 'alias'
        | 'ternary'
        | 'is_null'
        | 'is_distinct'
        | 'between'
        | 'nullish'
        | 'concat'
        | 'ignore_nulls'
    }
  | { level: number; form: 'chain'; node: 'And' | 'Or' }
  | { level: number; form: 'compare'; op: CompareOperator; negated?: CompareOperator }
  | { level: number; form: 'arithmetic'; op: ArithmeticOperation['op'] }

const compare = (op: CompareOperator, negated?: CompareOperator): Operator => ({
  level: LEVEL.compare,
  form: 'compare',
  op,
  negated,
})

/** IS [NOT] DISTINCT FROM begins like IS [NOT] NULL but binds more weakly. */
export const IS_DISTINCT: Operator = { level: LEVEL.distinct, form: 'is_distinct' }

/** By sign or keyword. */
const OPERATORS: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ['as', { level: LEVEL.alias, form: 'alias' }],
  ['?', { level: LEVEL.ternary, form: 'ternary' }],
  ['or', { level: LEVEL.or, form: 'chain', node: 'Or' }],
  ['and', { level: LEVEL.and, form: 'chain', node: 'And' }],
  ['between', { level: LEVEL.between, form: 'between' }],
  ['??', { level: LEVEL.nullish, form: 'nullish' }],
  ['is', { level: LEVEL.null_check, form: 'is_null' }],
  ['ignore', { level: LEVEL.null_check, form: 'ignore_nulls' }],
  ['=', compare('==')],
  ['==', compare('==')],
  ['!=', compare('!=')],
  ['<', compare('<')],
  ['<=', compare('<=')],
  ['>', compare('>')],
  ['>=', compare('>=')],
  ['in', compare('in', 'not in')],
  ['like', compare('like', 'not like')],
  ['ilike', compare('ilike', 'not ilike')],
  ['~', compare('=~')],
  ['=~', compare('=~')],
  ['!~', compare('!~')],
  ['~*', compare('=~*')],
  ['=~*', compare('=~*')],
  ['!~*', compare('!~*')],
  ['+', { level: LEVEL.add, form: 'arithmetic', op: '+' }],
  ['-', { level: LEVEL.add, form: 'arithmetic', op: '-' }],
  ['||', { level: LEVEL.add, form: 'concat' }],
  ['*', { level: LEVEL.multiply, form: 'arithmetic', op: '*' }],
  ['/', { level: LEVEL.multiply, form: 'arithmetic', op: '/' }],
  ['%', { level: LEVEL.multiply, form: 'arithmetic', op: '%' }],
])

export const operatorOf = (token: Token): Operator | undefined =>
  OPERATORS.get(token.kind === 'name' ? token.word : token.kind)

/** The operator after NOT, if NOT can belong to it: `a not in b`, `a not between b and c`. */
export function negatedOperatorOf(token: Token): Operator | undefined {
  const operator = operatorOf(token)
  if (operator?.form === 'between') return operator
  return operator?.form === 'compare' && operator.negated ? { ...operator, op: operator.negated } : undefined
}
