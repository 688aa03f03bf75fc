// Statements of insights: their fixed parts are HogQL text of ours, everything that depends on the request is a tree that
// is put in place of a name between braces.
import type { Expr, Query } from '../../../hogql/ast.ts'
import { parseExpression, parseSelect } from '../../../hogql/parser.ts'
import { fillPlaceholders } from '../../../hogql/resolve/placeholders.ts'

type Given = Readonly<Record<string, Expr>>

export const statement = (text: string, given: Given): Query =>
  fillPlaceholders(parseSelect(text), new Map(Object.entries(given)))

export const expression = (text: string, given: Given = {}): Expr =>
  fillPlaceholders(parseExpression(text), new Map(Object.entries(given)))
