// From tree to normalised HogQL text. Parsing the text gives the same tree again.
import type {
  Call,
  Constant,
  Cte,
  Expr,
  JoinExpr,
  LimitByExpr,
  OrderExpr,
  Placeholder,
  Query,
  RatioExpr,
  SampleExpr,
  SelectQuery,
  SelectSetQuery,
  WindowExpr,
  WindowFrameExpr,
  WindowFunction,
  WithFillExpr,
} from './ast.ts'
import { printFunction, printName, printNumber, quotedText } from './print-words.ts'

/** How tightly each kind binds. A part that binds less tightly than its place asks for goes into brackets. */
const LOWEST = 0
const LAMBDA = 1
const OR = 2
const AND = 3
const NOT = 4
const COMPARISON = 5
const SUM = 6
const PRODUCT = 7
const POSTFIX = 8
const ATOM = 9

const ARITHMETIC = { '+': SUM, '-': SUM, '*': PRODUCT, '/': PRODUCT, '%': PRODUCT } as const
/** What needs no further brackets after IN. */
const WITH_BRACKETS: ReadonlySet<string> = new Set([
  'Tuple',
  'Array',
  'SelectQuery',
  'SelectSetQuery',
  'Field',
  'Placeholder',
])

type Printed = { text: string; binds: number }
type Printers = { readonly [Node in Expr['node']]: (expr: Extract<Expr, { node: Node }>) => Printed }

const atom = (text: string): Printed => ({ text, binds: ATOM })

const PRINTERS: Printers = {
  Field: ({ chain }) => atom(chain.map((part) => (part === '*' ? '*' : printName(part))).join('.')),
  Constant: printConstant,
  Call: (call) => atom(printCall(call)),
  WindowFunction: (call) => atom(printWindowFunction(call)),
  Lambda: ({ args, expr }) => {
    const names = args.map(printName).join(', ')
    return { text: `${args.length === 1 ? names : `(${names})`} -> ${inside(expr, LAMBDA)}`, binds: LAMBDA }
  },
  Alias: ({ alias, expr }) => ({ text: `${inside(expr, OR)} AS ${printName(alias)}`, binds: LOWEST }),
  And: ({ exprs }) => ({ text: exprs.map((expr) => inside(expr, AND + 1)).join(' AND '), binds: AND }),
  Or: ({ exprs }) => ({ text: exprs.map((expr) => inside(expr, OR + 1)).join(' OR '), binds: OR }),
  // Before a lambda in brackets NOT would be the name of a function.
  Not: ({ expr }) =>
    expr.node === 'Lambda'
      ? { text: `NOT ${inside(expr, LOWEST)}`, binds: LAMBDA }
      : { text: `NOT ${inside(expr, NOT)}`, binds: NOT },
  CompareOperation({ op, left, right, is_null_comparison_style }) {
    if (is_null_comparison_style) {
      return { text: `${inside(left, SUM)} IS ${op === '==' ? '' : 'NOT '}NULL`, binds: COMPARISON }
    }
    const operator = op === '==' ? '=' : op.toUpperCase()
    const isList = op === 'in' || op === 'not in'
    const operand =
      isList && !WITH_BRACKETS.has(right.node) ? `(${inside(right, LOWEST)})` : inside(right, SUM)
    return { text: `${inside(left, SUM)} ${operator} ${operand}`, binds: COMPARISON }
  },
  BetweenExpr: ({ expr, low, high, negated }) => ({
    text: `${inside(expr, SUM)} ${negated ? 'NOT ' : ''}BETWEEN ${inside(low, SUM)} AND ${inside(high, SUM)}`,
    binds: COMPARISON,
  }),
  IsDistinctFrom: ({ left, right, negated }) => ({
    text: `${inside(left, SUM)} IS ${negated ? 'NOT ' : ''}DISTINCT FROM ${inside(right, SUM)}`,
    binds: COMPARISON,
  }),
  ArithmeticOperation: ({ op, left, right }) => {
    const binds = ARITHMETIC[op]
    return { text: `${inside(left, binds)} ${op} ${inside(right, binds + 1)}`, binds }
  },
  Array: ({ exprs }) => atom(`[${list(exprs)}]`),
  Tuple: ({ exprs }) => atom(`(${list(exprs)}${exprs.length === 1 ? ',' : ''})`),
  ArrayAccess: ({ array, property, nullish }) => ({
    text: `${base(array)}${nullish ? '?.' : ''}[${inside(property, LOWEST)}]`,
    binds: POSTFIX,
  }),
  ArraySlice: ({ array, start_expr, end_expr }) => {
    const bound = (expr: Expr | undefined) => (expr ? inside(expr, OR) : '')
    return { text: `${base(array)}[${bound(start_expr)}:${bound(end_expr)}]`, binds: POSTFIX }
  },
  TupleAccess: ({ tuple, index, nullish }) => ({
    text: `${base(tuple)}${nullish ? '?' : ''}.${index}`,
    binds: POSTFIX,
  }),
  Dict: ({ items }) =>
    atom(`{${items.map(([key, value]) => `${inside(key, OR)}: ${inside(value, OR)}`).join(', ')}}`),
  TypeCast: ({ expr, type_name }) => atom(`CAST(${inside(expr, OR)} AS ${type_name})`),
  TryCast: ({ expr, type_name }) => atom(`TRY_CAST(${inside(expr, OR)} AS ${type_name})`),
  Placeholder: ({ expr }) => atom(`{${inside(expr, LOWEST)}}`),
  SelectQuery: (query) => atom(`(${printSelect(query)})`),
  SelectSetQuery: (query) => atom(`(${printSet(query)})`),
}

export function printHogql(tree: Expr): string {
  if (tree.node === 'SelectQuery') return printSelect(tree)
  if (tree.node === 'SelectSetQuery') return printSet(tree)
  return print(tree).text
}

const print = (expr: Expr): Printed => (PRINTERS[expr.node] as (expr: Expr) => Printed)(expr)

function inside(expr: Expr, binds: number): string {
  const printed = print(expr)
  return printed.binds < binds ? `(${printed.text})` : printed.text
}

/** What `.1` or `[1]` comes after. `1.5` would be one number. */
const base = (expr: Expr) => inside(expr, expr.node === 'Constant' ? ATOM + 1 : POSTFIX)

/** A lambda that is not the first would take the names before it for its own. */
const list = (exprs: readonly Expr[]) =>
  exprs.map((expr, index) => inside(expr, expr.node === 'Lambda' && index > 0 ? OR : LOWEST)).join(', ')

function printConstant({ value, value_type }: Constant): Printed {
  if (value === null) return atom('NULL')
  if (typeof value === 'boolean') return atom(String(value))
  if (typeof value === 'string' && value_type !== 'number') return atom(quotedText(value))
  const text = printNumber(value)
  return { text, binds: text.startsWith('-') ? SUM : ATOM }
}

function printCall({ name, args, params, distinct, filter_expr, order_by }: Call): string {
  const parameters = params ? `(${list(params)})` : ''
  const order = order_by ? ` ORDER BY ${printOrder(order_by)}` : ''
  const filter = filter_expr ? ` FILTER (WHERE ${inside(filter_expr, LAMBDA)})` : ''
  return `${printFunction(name)}${parameters}(${distinct ? 'DISTINCT ' : ''}${list(args)}${order})${filter}`
}

function printWindowFunction({ name, args, exprs, over_expr, over_identifier }: WindowFunction): string {
  const call = `${printFunction(name)}(${list(exprs)})${args.length > 0 ? `(${list(args)})` : ''}`
  return `${call} OVER ${over_identifier === undefined ? printWindow(over_expr) : printName(over_identifier)}`
}

function printWindow(window: WindowExpr | undefined): string {
  const { partition_by, order_by, frame_method, frame_start, frame_end } = window ?? {}
  const frame = frame_start && `${frame_method} ${frame_end ? 'BETWEEN ' : ''}${printBound(frame_start)}`
  const parts = [
    partition_by && `PARTITION BY ${list(partition_by)}`,
    order_by && `ORDER BY ${printOrder(order_by)}`,
    frame && `${frame}${frame_end ? ` AND ${printBound(frame_end)}` : ''}`,
  ]
  return `(${parts.filter(Boolean).join(' ')})`
}

function printBound({ frame_type, frame_value }: WindowFrameExpr): string {
  if (frame_type === 'CURRENT ROW' || frame_type === undefined) return 'CURRENT ROW'
  return `${frame_value ?? 'UNBOUNDED'} ${frame_type}`
}

const printOrder = (order: readonly OrderExpr[]) =>
  order
    .map(({ expr, order: direction, with_fill }) => {
      const fill = with_fill ? ` ${printFill(with_fill)}` : ''
      return `${inside(expr, LAMBDA)} ${direction}${fill}`
    })
    .join(', ')

function printFill({ from_value, to_value, step_value }: WithFillExpr): string {
  const parts = [
    'WITH FILL',
    from_value && `FROM ${inside(from_value, LAMBDA)}`,
    to_value && `TO ${inside(to_value, LAMBDA)}`,
    step_value && `STEP ${inside(step_value, LAMBDA)}`,
  ]
  return parts.filter(Boolean).join(' ')
}

function printSample({ sample_value, offset_value }: SampleExpr): string {
  const ratio = (value: RatioExpr | Placeholder) => {
    if (value.node === 'Placeholder') return inside(value, ATOM)
    return `${printHogql(value.left)}${value.right ? `/${printHogql(value.right)}` : ''}`
  }
  return `SAMPLE ${ratio(sample_value)}${offset_value ? ` OFFSET ${ratio(offset_value)}` : ''}`
}

function printCte({ name, expr, cte_type, columns, materialized }: Cte): string {
  if (cte_type === 'column') return `${inside(expr, LAMBDA)} AS ${printName(name)}`
  const names = columns ? `(${columns.map(printName).join(', ')})` : ''
  const hint = materialized === undefined ? '' : materialized ? 'MATERIALIZED ' : 'NOT MATERIALIZED '
  const query =
    expr.node === 'SelectQuery' || expr.node === 'SelectSetQuery'
      ? inside(expr, LOWEST)
      : `(${inside(expr, LOWEST)})`
  return `${printName(name)}${names} AS ${hint}${query}`
}

const printCtes = (ctes: readonly Cte[] | undefined) =>
  ctes && ctes.length > 0
    ? `WITH ${ctes.some(({ recursive }) => recursive) ? 'RECURSIVE ' : ''}${ctes.map(printCte).join(', ')} `
    : ''

function printJoin(join: JoinExpr): string {
  const { table, alias, column_aliases, table_args, table_final, sample, constraint, next_join } = join
  const using = constraint?.constraint_type === 'USING'
  const condition =
    constraint && (using ? `USING ${usingList(constraint.expr)}` : `ON ${inside(constraint.expr, LAMBDA)}`)
  const parts = [
    join.join_type && printJoinType(join.join_type),
    `${inside(table, ATOM)}${table_args ? `(${list(table_args)})` : ''}`,
    alias !== undefined &&
      `AS ${printName(alias)}${column_aliases ? `(${column_aliases.map(printName).join(', ')})` : ''}`,
    table_final && 'FINAL',
    sample && printSample(sample),
    condition,
    next_join && printJoin(next_join),
  ]
  return parts.filter(Boolean).join(' ')
}

/** The parser writes ASOF and its kind last, but reads them first. */
function printJoinType(type: string): string {
  const words = type.split(' ')
  const first = words.includes('ASOF')
    ? ['ASOF', ...words.filter((word) => word === 'SEMI' || word === 'ANTI')]
    : []
  return [...first, ...words.filter((word) => !first.includes(word))].join(' ')
}

const usingList = (expr: Expr) => (expr.node === 'Tuple' ? `(${list(expr.exprs)})` : inside(expr, ATOM))

type Limits = Pick<SelectQuery, 'limit' | 'limit_with_ties' | 'offset'>

const limits = ({ limit, limit_with_ties, offset }: Limits) => [
  limit && `LIMIT ${inside(limit, LAMBDA)}${limit_with_ties ? ' WITH TIES' : ''}`,
  offset && `OFFSET ${inside(offset, LAMBDA)}`,
]

function printLimitBy({ n, offset_value, exprs }: LimitByExpr): string {
  const offset = offset_value ? ` OFFSET ${inside(offset_value, LAMBDA)}` : ''
  return `LIMIT ${inside(n, LAMBDA)}${offset} BY ${list(exprs)}`
}

const GROUPINGS = { cube: 'CUBE', rollup: 'ROLLUP', grouping_sets: 'GROUPING SETS ' } as const

function printGroupBy({ group_by = [], group_by_mode }: SelectQuery): string {
  if (group_by_mode === 'all') return 'GROUP BY ALL'
  const keys = group_by
    .map((key) => (key.node === 'GroupingSet' ? `(${list(key.exprs)})` : list([key])))
    .join(', ')
  if (group_by_mode) return `GROUP BY ${GROUPINGS[group_by_mode]}(${keys})`
  return keys && `GROUP BY ${keys}`
}

function printSelect(query: SelectQuery): string {
  const windows = Object.entries(query.window_exprs ?? {})
  const parts = [
    `SELECT ${query.distinct ? 'DISTINCT ' : ''}${list(query.select)}`,
    query.select_from && `FROM ${printJoin(query.select_from)}`,
    query.array_join_list && `${query.array_join_op} ${list(query.array_join_list)}`,
    query.prewhere && `PREWHERE ${inside(query.prewhere, LAMBDA)}`,
    query.where && `WHERE ${inside(query.where, LAMBDA)}`,
    printGroupBy(query),
    query.having && `HAVING ${inside(query.having, LAMBDA)}`,
    query.qualify && `QUALIFY ${inside(query.qualify, LAMBDA)}`,
    windows.length > 0 &&
      `WINDOW ${windows.map(([name, window]) => `${printName(name)} AS ${printWindow(window)}`).join(', ')}`,
    query.order_by && `ORDER BY ${printOrder(query.order_by)}`,
    query.limit_by && printLimitBy(query.limit_by),
    ...limits(query),
  ]
  return printCtes(query.ctes) + parts.filter(Boolean).join(' ')
}

function printSet(query: SelectSetQuery): string {
  const part = (inner: Query) => `(${printHogql(inner)})`
  const rest = query.subsequent_select_queries.map(
    ({ select_query, set_operator }) => ` ${set_operator} ${part(select_query)}`,
  )
  const after = [query.order_by && `ORDER BY ${printOrder(query.order_by)}`, ...limits(query)].filter(Boolean)
  return [printCtes(query.ctes) + part(query.initial_select_query) + rest.join(''), ...after].join(' ')
}
