// Persons and sessions in PostgreSQL: one row for each, under a key, and the newer one stays.
import { describe, expect, it } from 'vitest'
import { startPostgresServer } from '../../../../../test/stand-ins/postgres.ts'
import type { OutputColumn } from '../../definition.ts'
import { Refused } from '../destination.ts'
import type { Values } from '../sql-table/fixture/attempt.ts'
import { failureOf, useSqlWorld } from '../sql-table/fixture/use-world.ts'
import { postgresKind } from './kind.ts'

const used = useSqlWorld(startPostgresServer, postgresKind)
const { deliver, sql } = used

describe('persons and sessions', () => {
  const persons: OutputColumn[] = [
    { name: 'team_id', kind: 'integer', type: 'INTEGER' },
    { name: 'distinct_id', kind: 'text' },
    { name: 'properties', kind: 'json' },
    { name: 'person_distinct_id_version', kind: 'integer' },
    { name: 'person_version', kind: 'integer' },
  ]
  const person = (id: string, mapping: number, version: number): Values => [
    '1',
    id,
    JSON.stringify([mapping, version]),
    String(mapping),
    String(version),
  ]

  it('a person changes when either version is newer, and the key is the table’s own', async () => {
    const options = { model: 'persons' as const, columns: persons }
    await deliver([person('a', 1, 1), person('b', 1, 1), person('c', 1, 1)], options)
    await deliver([person('a', 2, 1), person('b', 1, 2), person('c', 0, 1)], options)
    const found = (await used.world.rows()).map(
      (row) => `${String(row.distinct_id)} ${JSON.stringify(row.properties)}`,
    )
    expect(found.toSorted()).toEqual(['a [2,1]', 'b [1,2]', 'c [1,1]'])
    await expect(sql('INSERT INTO TABLE_ SELECT * FROM TABLE_')).rejects.toMatchObject({ code: '23505' })
  })

  it('a table without the key is refused, unless a unique index does the same', async () => {
    const body = persons.map(({ name, kind }) => `${name} ${kind === 'json' ? 'jsonb' : kind}`).join(', ')
    await sql(`CREATE TABLE TABLE_ (${body}); ALTER TABLE TABLE_ OWNER TO exporter`)
    const options = { model: 'persons' as const, columns: persons }
    const error = await failureOf(deliver([person('a', 1, 1)], options))
    expect(error).toBeInstanceOf(Refused)
    expect(error!.message).toContain('(team_id, distinct_id)')
    await sql('CREATE UNIQUE INDEX ON TABLE_ (distinct_id, team_id)')
    await deliver([person('a', 1, 1)], options)
    expect(await used.world.rows()).toHaveLength(1)
  })

  it('a session that has grown takes the place of its former self, in whatever order', async () => {
    const columns: OutputColumn[] = [
      { name: 'session_id', kind: 'text' },
      { name: 'team_id', kind: 'integer' },
      { name: 'end_timestamp', kind: 'timestamp' },
      { name: 'pageview_count', kind: 'integer' },
    ]
    const options = { model: 'sessions' as const, columns }
    const session = (id: string, end: string, count: string): Values => [id, '1', `2024-03-01T${end}Z`, count]
    await deliver([session('s', '10:00', '3'), session('t', '10:00', '1')], options)
    await deliver([session('s', '09:00', '2'), session('t', '11:00', '5')], options)
    const found = (await used.world.rows()).map(
      (row) => `${String(row.session_id)} ${String(row.pageview_count)}`,
    )
    expect(found.toSorted()).toEqual(['s 3', 't 5'])
  })
})
