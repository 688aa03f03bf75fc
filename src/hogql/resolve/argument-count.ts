// How many arguments a function takes.
import type { Span } from '../ast.ts'
import { queryError } from '../errors.ts'

export function assertCount(
  name: string,
  what: string,
  count: number,
  [fewest, most]: readonly [number, number],
  span: Span,
) {
  if (count >= fewest && count <= most) return
  const wanted =
    fewest === most ? `${fewest}` : most === Infinity ? `at least ${fewest}` : `${fewest} to ${most}`
  throw queryError(
    `'${name}' takes ${wanted} ${what}${['1', 'at least 1'].includes(wanted) ? '' : 's'}, not ${count}`,
    span,
  )
}
