// The tree HogQL text becomes: the same node and field names as PostHog's own parser gives, so that trees can be compared.
// A field that is absent is written by leaving it out, never as null or false.

/** Offsets into the text, in UTF-16 units; absent on trees that were built rather than parsed. */
export type Span = { start?: number; end?: number }

type Node<Name extends string, Fields> = Span & { node: Name } & Fields

export type Field = Node<'Field', { chain: readonly (string | number)[] }>
/** `value_type: 'number'` marks what JSON cannot hold: "Infinity", "-Infinity", "NaN" and integers beyond 2^53. */
export type Constant = Node<'Constant', { value: string | number | boolean | null; value_type?: 'number' }>
export type Call = Node<
  'Call',
  {
    name: string
    args: readonly Expr[]
    /** The first pair of brackets of `quantile(0.9)(x)`. */
    params?: readonly Expr[]
    distinct?: true
    filter_expr?: Expr
    order_by?: readonly OrderExpr[]
  }
>
export type Lambda = Node<'Lambda', { args: readonly string[]; expr: Expr }>
export type Alias = Node<'Alias', { alias: string; expr: Expr }>
export type And = Node<'And', { exprs: readonly Expr[] }>
export type Or = Node<'Or', { exprs: readonly Expr[] }>
export type Not = Node<'Not', { expr: Expr }>
export type CompareOperator =
  | '=='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='
  | 'in'
  | 'not in'
  | 'in cohort'
  | 'not in cohort'
  | 'like'
  | 'not like'
  | 'ilike'
  | 'not ilike'
  | '=~'
  | '!~'
  | '=~*'
  | '!~*'
export type CompareOperation = Node<
  'CompareOperation',
  { op: CompareOperator; left: Expr; right: Expr; is_null_comparison_style?: true }
>
export type BetweenExpr = Node<'BetweenExpr', { expr: Expr; low: Expr; high: Expr; negated?: true }>
export type IsDistinctFrom = Node<'IsDistinctFrom', { left: Expr; right: Expr; negated?: true }>
export type ArithmeticOperation = Node<
  'ArithmeticOperation',
  { op: '+' | '-' | '*' | '/' | '%'; left: Expr; right: Expr }
>
export type ArrayExpr = Node<'Array', { exprs: readonly Expr[] }>
export type ArrayAccess = Node<'ArrayAccess', { array: Expr; property: Expr; nullish?: true }>
export type ArraySlice = Node<'ArraySlice', { array: Expr; start_expr?: Expr; end_expr?: Expr }>
export type Tuple = Node<'Tuple', { exprs: readonly Expr[] }>
export type TupleAccess = Node<'TupleAccess', { tuple: Expr; index: number; nullish?: true }>
export type Dict = Node<'Dict', { items: readonly (readonly [Expr, Expr])[] }>
export type TypeCast = Node<'TypeCast', { expr: Expr; type_name: string }>
export type TryCast = Node<'TryCast', { expr: Expr; type_name: string }>
export type Placeholder = Node<'Placeholder', { expr: Expr }>
export type WindowFrameExpr = Node<
  'WindowFrameExpr',
  { frame_type?: 'CURRENT ROW' | 'PRECEDING' | 'FOLLOWING'; frame_value?: number }
>
export type WindowExpr = Node<
  'WindowExpr',
  {
    partition_by?: readonly Expr[]
    order_by?: readonly OrderExpr[]
    frame_method?: 'ROWS' | 'RANGE'
    frame_start?: WindowFrameExpr
    frame_end?: WindowFrameExpr
  }
>
/** `exprs` holds the arguments, `args` the first pair of brackets of `quantile(0.9)(x) over …`. */
export type WindowFunction = Node<
  'WindowFunction',
  {
    name: string
    exprs: readonly Expr[]
    args: readonly Expr[]
    over_expr?: WindowExpr
    over_identifier?: string
  }
>

export type Expr =
  | Field
  | Constant
  | Call
  | Lambda
  | Alias
  | And
  | Or
  | Not
  | CompareOperation
  | BetweenExpr
  | IsDistinctFrom
  | ArithmeticOperation
  | ArrayExpr
  | ArrayAccess
  | ArraySlice
  | Tuple
  | TupleAccess
  | Dict
  | TypeCast
  | TryCast
  | Placeholder
  | WindowFunction
  | Query

/** Rows that are missing between two are made: `from` counts, `to` does not. */
export type WithFillExpr = Node<'WithFillExpr', { from_value?: Expr; to_value?: Expr; step_value?: Expr }>
export type OrderExpr = Node<'OrderExpr', { expr: Expr; order: 'ASC' | 'DESC'; with_fill?: WithFillExpr }>
/** `1/10`, or `0.1` with nothing on the right. */
export type RatioExpr = Node<'RatioExpr', { left: Expr; right?: Expr }>
export type SampleExpr = Node<
  'SampleExpr',
  { sample_value: RatioExpr | Placeholder; offset_value?: RatioExpr | Placeholder }
>
export type LimitByExpr = Node<'LimitByExpr', { n: Expr; offset_value?: Expr; exprs: readonly Expr[] }>
export type GroupingSet = Node<'GroupingSet', { exprs: readonly Expr[] }>
export type JoinConstraint = Node<'JoinConstraint', { expr: Expr; constraint_type: 'ON' | 'USING' }>
export type JoinExpr = Node<
  'JoinExpr',
  {
    table: Field | Query | Placeholder
    alias?: string
    column_aliases?: readonly string[]
    table_args?: readonly Expr[]
    table_final?: true
    sample?: SampleExpr
    join_type?: string
    constraint?: JoinConstraint
    next_join?: JoinExpr
  }
>
export type Cte = Node<
  'CTE',
  {
    name: string
    expr: Expr
    cte_type: 'subquery' | 'column'
    recursive?: true
    columns?: readonly string[]
    materialized?: boolean
  }
>
export type SelectQuery = Node<
  'SelectQuery',
  {
    ctes?: readonly Cte[]
    select: readonly Expr[]
    distinct?: true
    select_from?: JoinExpr
    array_join_op?: 'ARRAY JOIN' | 'LEFT ARRAY JOIN' | 'INNER ARRAY JOIN'
    array_join_list?: readonly Expr[]
    prewhere?: Expr
    where?: Expr
    /** Sets only where the mode says so. */
    group_by?: readonly (Expr | GroupingSet)[]
    group_by_mode?: 'all' | 'cube' | 'rollup' | 'grouping_sets'
    having?: Expr
    qualify?: Expr
    window_exprs?: Readonly<Record<string, WindowExpr>>
    order_by?: readonly OrderExpr[]
    limit_by?: LimitByExpr
    limit?: Expr
    limit_with_ties?: true
    offset?: Expr
  }
>
export type SetOperator = 'UNION ALL' | 'UNION DISTINCT' | 'INTERSECT' | 'INTERSECT DISTINCT' | 'EXCEPT'
export type SelectSetNode = Node<'SelectSetNode', { select_query: Query; set_operator: SetOperator }>
export type SelectSetQuery = Node<
  'SelectSetQuery',
  {
    initial_select_query: Query
    subsequent_select_queries: readonly SelectSetNode[]
    ctes?: readonly Cte[]
    order_by?: readonly OrderExpr[]
    limit?: Expr
    limit_with_ties?: true
    offset?: Expr
  }
>
export type Query = SelectQuery | SelectSetQuery
