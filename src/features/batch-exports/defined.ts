// What an export is at this moment: runs freeze it when they begin, previews show it.
import type { Definition } from './definition.ts'
import type { ExportRow } from './rows.ts'

type Defining = Pick<
  ExportRow,
  'model' | 'destination_type' | 'config' | 'hogql_query' | 'schema' | 'filters'
>

/** `timezone` is the project's. */
export function definitionOf(
  { model, destination_type, config, hogql_query: sent, schema, filters }: Defining,
  { timezone }: { timezone: string },
): Definition {
  const hogql_query = schema?.hogql_query ?? sent
  return { model, destination_type, config, hogql_query, filters, timezone }
}
