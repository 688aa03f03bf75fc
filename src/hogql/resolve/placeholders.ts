// Puts what was given for `{name}` into the tree, before anything else looks at it.
import type { Expr, Placeholder, Span } from '../ast.ts'
import { queryError } from '../errors.ts'

type Given = ReadonlyMap<string, Expr>

const isPlaceholder = (node: object): node is Placeholder => 'node' in node && node.node === 'Placeholder'

/** `open` holds the names being put in: none may stand in itself. */
export function fillPlaceholders<Tree>(tree: Tree, given: Given, open: readonly string[] = []): Tree {
  if (typeof tree !== 'object' || tree === null) return tree
  if (Array.isArray(tree)) return tree.map((item: unknown) => fillPlaceholders(item, given, open)) as Tree
  if (isPlaceholder(tree)) return contentOf(tree, given, open) as Tree
  const filled = Object.entries(tree).map(([key, value]) => [
    key,
    fillPlaceholders(value as unknown, given, open),
  ])
  return Object.fromEntries(filled) as Tree
}

function contentOf(placeholder: Placeholder, given: Given, open: readonly string[]): Expr {
  if (placeholder.expr.node !== 'Field') throw queryError('Only a name can stand between braces', placeholder)
  const name = placeholder.expr.chain.join('.')
  const content = given.get(name)
  if (!content) throw queryError(`Nothing was given for the placeholder {${name}}`, placeholder)
  if (open.includes(name)) throw queryError(`The placeholder {${name}} stands in itself`, placeholder)
  const { start, end } = placeholder
  const span = start === undefined || end === undefined ? {} : { start, end }
  return placedAt(span, fillPlaceholders(content, given, [...open, name]))
}

/** What is wrong with it is shown where the placeholder stands: its own places are those of another text. */
function placedAt<Tree>(span: Span, tree: Tree): Tree {
  if (typeof tree !== 'object' || tree === null) return tree
  if (Array.isArray(tree)) return tree.map((item: unknown) => placedAt(span, item)) as Tree
  const parts = Object.entries(tree).filter(([key]) => key !== 'start' && key !== 'end')
  const placed = parts.map(([key, value]) => [key, placedAt(span, value as unknown)] as const)
  return { ...Object.fromEntries(placed), ...span } as Tree
}
