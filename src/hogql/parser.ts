// HogQL text to tree. The grammar is PostHog's, as far as it is supported; the rules are in parse/.
import type { Expr, OrderExpr, Query } from './ast.ts'
import { accept, parseWhole, type Rules } from './parse/cursor.ts'
import { parseExpression as parseExpressionRule } from './parse/expressions.ts'
import { parseOrderTerm } from './parse/order.ts'
import { parseQuery, parseQueryAfter } from './parse/queries.ts'

const RULES: Rules = { expression: parseExpressionRule, query: parseQuery, queryAfter: parseQueryAfter }

/** `properties.$browser = 'Chrome' and timestamp > now() - interval 1 day`. */
export const parseExpression = (text: string): Expr =>
  parseWhole(text, RULES, (cursor) => parseExpressionRule(cursor, 0))

/** One query; a semicolon may end it. */
export const parseSelect = (text: string): Query =>
  parseWhole(text, RULES, (cursor) => {
    const query = parseQuery(cursor)
    accept(cursor, ';')
    return query
  })

/** One term of ORDER BY: `timestamp desc`. */
export const parseOrder = (text: string): OrderExpr => parseWhole(text, RULES, parseOrderTerm)
