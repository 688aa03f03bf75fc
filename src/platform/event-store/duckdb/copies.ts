// Persons, distinct ids and groups as the relational store has them now: the writer replaces what it had of them.
import { DuckDBListValue, LIST, UUID, VARCHAR, type DuckDBConnection } from '@duckdb/node-api'
import type { Copies } from '../event-store.ts'
import { tablesOf } from '../layout.ts'
import { appendDistinctIds, appendGroups, appendPersons, uuidValue } from './append.ts'
import { run } from './statements.ts'
import { spreadOut } from './vectors.ts'

export async function replaceCopies(
  connection: DuckDBConnection,
  project_id: number,
  { persons, deleted_persons, distinct_ids, groups }: Copies,
  changed_at: bigint,
): Promise<void> {
  const tables = tablesOf(project_id)
  const replaced = [...deleted_persons, ...persons.map(({ id }) => id)]
  if (replaced.length > 0) {
    const ids = new DuckDBListValue(replaced.map(uuidValue))
    const sql = `DELETE FROM ${tables.person_rows} WHERE id IN (SELECT unnest($1))`
    await run(connection, sql, [ids], [LIST(UUID)])
  }
  await appendPersons(connection, tables.person_rows, spreadOut(persons), changed_at)
  if (distinct_ids.length > 0) {
    const ids = new DuckDBListValue(distinct_ids.map(({ distinct_id }) => distinct_id))
    const sql = `DELETE FROM ${tables.distinct_ids} WHERE distinct_id IN (SELECT unnest($1))`
    await run(connection, sql, [ids], [LIST(VARCHAR)])
  }
  await appendDistinctIds(connection, tables.distinct_ids, distinct_ids, changed_at)
  for (const { index, key } of groups) {
    const sql = `DELETE FROM ${tables.group_rows} WHERE index = $1 AND key = $2`
    await run(connection, sql, [index, key])
  }
  await appendGroups(connection, tables.group_rows, spreadOut(groups))
}
