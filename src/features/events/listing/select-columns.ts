// What one text of `select` stands for: an expression, or one of the two objects `*` and `person`.
import type { Expr } from '../../../hogql/ast.ts'
import { parseExpression } from '../../../hogql/parser.ts'
import type { StoreValue } from '../../../platform/event-store/event-store.ts'
import { eventField } from '../tree.ts'

export type Column = {
  /** The text as given, its label included. */
  title: string
  exprs: readonly Expr[]
  has_timestamp: boolean
  build(values: readonly StoreValue[]): unknown
  /** ClickHouse's name of the type, from those of the expressions. */
  typeOf(types: readonly string[]): string
}

const EVENT_FIELDS = [
  'uuid',
  'event',
  'properties',
  'timestamp',
  'distinct_id',
  'elements_chain',
  'created_at',
  'person',
]
/** Stored as JSON text, shown as what it says. */
const JSON_FIELDS = new Set(['properties', 'person'])

/** ` -- Label` at the end is a comment to the parser. */
export function readColumn(title: string): Column {
  if (/^\s*\*\s*(?:--.*)?$/s.test(title)) return wholeEvent(title)
  const expr = parseExpression(title)
  const { chain } = { chain: [], ...(expr.node === 'Alias' ? expr.expr : expr) } as {
    chain: readonly unknown[]
  }
  const isPerson = chain.length === 1 && chain[0] === 'person'
  return {
    title,
    // The person, and not what another column may be called.
    exprs: [isPerson ? eventField('person') : expr],
    has_timestamp: chain.at(-1) === 'timestamp' && (chain.length === 1 || chain[0] === 'events'),
    build: ([value]) => (isPerson ? parsed(value) : value),
    typeOf: ([type]) => type ?? 'String',
  }
}

function wholeEvent(title: string): Column {
  return {
    title,
    exprs: EVENT_FIELDS.map(eventField),
    has_timestamp: true,
    build: (values) =>
      Object.fromEntries(
        EVENT_FIELDS.map((name, index) => [
          name,
          JSON_FIELDS.has(name) ? parsed(values[index]) : values[index],
        ]),
      ),
    typeOf: (types) => `Tuple(${types.join(', ')})`,
  }
}

function parsed(value: StoreValue | undefined): unknown {
  return typeof value === 'string' ? JSON.parse(value) : null
}
