// Whether a definition's columns are the event's own. Runs ask, and verification.
import type { Definition } from '../definition.ts'
import type { OwnColumn } from '../destinations/destination.ts'
import { customColumns } from './custom-query.ts'

/** Whether the column of this name is that of the event: then rows can be looked for by it. */
export function hasOwn(name: OwnColumn, { hogql_query }: Pick<Definition, 'hogql_query'>): boolean {
  if (hogql_query === null) return true
  const chosen = customColumns(hogql_query).query.select.find(
    (column) => 'alias' in column && column.alias === name,
  )
  const expr = chosen && 'expr' in chosen ? chosen.expr : undefined
  return expr?.node === 'Field' && [name, `events.${name}`].includes(expr.chain.join('.'))
}
