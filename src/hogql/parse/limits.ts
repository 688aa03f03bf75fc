// What a text may not exceed. Each limit ends in an error with the place, never in a long wait or a full stack.
import type { Span } from '../ast.ts'
import { syntaxError } from '../errors.ts'

export const MAX_TEXT_BYTES = 64 * 1024
/** Brackets, subqueries, CASE, NOT, minus signs, lambdas and ternaries inside one another. */
export const MAX_NESTING = 128
/** Height of the tree. Operators add to its nesting: `a + b + c` leans to the left, `a or b and c` to the right. */
export const MAX_TREE_HEIGHT = 256
export const MAX_COLUMNS = 500
export const MAX_JOINS = 64

export const nestedTooDeep = (span: Span) =>
  syntaxError(`This is nested more than ${MAX_NESTING} levels deep`, span)
export const treeTooHigh = (span: Span) =>
  syntaxError(`More than ${MAX_TREE_HEIGHT} operations build on one another here`, span)
