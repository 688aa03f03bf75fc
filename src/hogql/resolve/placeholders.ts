// Puts what was given for `{name}` into the tree, before anything else looks at it.
import type { Expr, Placeholder } from '../ast.ts'
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
  return fillPlaceholders(content, given, [...open, name])
}
