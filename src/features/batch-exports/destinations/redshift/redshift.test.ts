// What Redshift alone does, beside the conformance suite, on a PostgreSQL that has the few things of Redshift's own.
import { describe, expect, it } from 'vitest'
import type { OutputColumn } from '../../definition.ts'
import { Refused } from '../destination.ts'
import { stillOurs } from '../fixture/still-ours.ts'
import {
  events,
  openDelivery,
  uuidOf,
  writeRows,
  type Values,
  OTHER_EXPORT_ID,
} from '../sql-table/fixture/attempt.ts'
import { useSqlWorld } from '../sql-table/fixture/use-world.ts'
import { startRedshiftServer } from './fixture/server.ts'
import { redshiftKind } from './kind.ts'

const used = useSqlWorld(startRedshiftServer, redshiftKind)
const { deliver, names, sql } = used

async function typesOfTable(): Promise<unknown[]> {
  const rows = await sql(
    `SELECT attname || ' ' || format_type(atttypid, atttypmod) AS type FROM pg_attribute
      WHERE attrelid = 'TABLE_'::regclass AND attnum > 0 ORDER BY attnum`,
  )
  return rows.map(({ type }) => type)
}

describe('rows', () => {
  it('come in statements that Redshift takes: no COPY, 8 MB, 32767 values', { tags: 'slow' }, async () => {
    const statements = { copy: 0, insert: 0 }
    used.world.onStatement('COPY', () => (statements.copy += 1))
    used.world.onStatement('INSERT INTO "longshore_stage"', () => (statements.insert += 1))
    const rows = [...events(0, 300, JSON.stringify({ x: 'x'.repeat(60_000) })), ...events(300, 9300)]
    expect(await deliver(rows)).toEqual({ rows: 9300, files: [] })
    expect(await names()).toHaveLength(9300)
    // 18 MB in three, then 9000 rows of four values in two more.
    expect(statements).toEqual({ copy: 0, insert: 4 })
  })

  it('that overlap, one after the other or at once, are there once', async () => {
    await deliver(events(0, 5))
    await deliver(events(3, 8), { batch_export_id: OTHER_EXPORT_ID })
    await deliver(events(6, 10), { hour: 1 })
    await Promise.all(
      Array.from({ length: 4 }, (_, index) =>
        deliver(events(index, index + 14), { hour: 2 + index, batch_export_id: OTHER_EXPORT_ID }),
      ),
    )
    expect(await names()).toHaveLength(17)
    const first = await openDelivery(used.world, { hour: 8 })
    await writeRows(first, events(10, 20))
    await deliver(events(15, 25), { hour: 9, batch_export_id: OTHER_EXPORT_ID })
    await first.finish(stillOurs)
    expect(await names()).toHaveLength(25)
  })

  it('with JSON beyond what a value may have lose it, and the owner is told which', async () => {
    const warnings: string[] = []
    const rows = events(0, 3)
    rows[1]![2] = JSON.stringify({ x: 'x'.repeat(65_530) })
    rows[2]![2] = String.raw`{ "a" : "1  2\n\u0000" }`
    await deliver(rows, { warnings })
    const found = (await used.world.rows()).map(({ properties }) => properties)
    expect(found).toEqual([{}, null, { a: '1  2\n' }])
    expect(warnings).toEqual([expect.stringContaining(uuidOf(1))])
  })
})

describe('the table', () => {
  it('has the documented types, by the type chosen for JSON', async () => {
    const columns: OutputColumn[] = [
      { name: 'uuid', kind: 'text', type: 'VARCHAR(200)' },
      { name: 'properties', kind: 'json' },
      { name: 'Is_New', kind: 'boolean' },
      { name: 'n', kind: 'integer' },
      { name: 'f', kind: 'float' },
      { name: 'timestamp', kind: 'timestamp' },
    ]
    const row: Values = [uuidOf(1), '{"a":[1]}', 't', '7', '0.5', '2024-01-01T00:00:00Z']
    await deliver([row], { columns, config: { properties_data_type: 'super' } })
    expect(await typesOfTable()).toEqual([
      'uuid character varying(200)',
      'properties super',
      'is_new boolean',
      'n bigint',
      'f double precision',
      'timestamp timestamp with time zone',
    ])
    expect(await used.world.rows()).toMatchObject([{ properties: { a: [1] }, is_new: true, n: 7, f: 0.5 }])
    await sql('DROP TABLE TABLE_')
    await deliver([row], { columns, hour: 1 })
    expect((await typesOfTable())[1]).toBe('properties character varying(65535)')
  })

  it('is found under a name in capitals, which Redshift folds', async () => {
    const config = { table_name: 'OF Events' }
    await deliver(events(0, 2), { config })
    await deliver(events(1, 3), { config, batch_export_id: OTHER_EXPORT_ID })
    expect(await names()).toHaveLength(3)
  })

  it('with a column that nothing fills is refused, and nothing is there', async () => {
    await sql(
      `CREATE TABLE TABLE_ (uuid text, event text, properties text, timestamp timestamptz, x int NOT NULL);
       ALTER TABLE TABLE_ OWNER TO exporter`,
    )
    await expect(deliver(events(0, 2))).rejects.toBeInstanceOf(Refused)
    expect(await used.world.rows()).toEqual([])
    expect(await used.world.leftovers()).toEqual([])
  })
})

describe('sessions', () => {
  it('one that has grown takes the place of its former self, in whatever order', async () => {
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

describe('the configuration', () => {
  it('has Redshift’s port, and leaves the ledger its name', () => {
    const config = redshiftKind.config.parse({ user: 'u', password: 'p', host: 'h', database: 'd' })
    expect(config).toMatchObject({ port: 5439, properties_data_type: 'varchar', mode: 'INSERT' })
    expect(redshiftKind.faults!(config)).toBeNull()
    expect(redshiftKind.faults!({ ...config, table_name: 'Longshore_Export_Runs' })).toMatchObject({
      field: 'table_name',
    })
  })
})
