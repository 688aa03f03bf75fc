// Repairs in PostgreSQL, beside what the conformance suite asks of every table: keys, rights, types, the ledger.
import { describe, expect, it } from 'vitest'
import { startPostgresServer } from '../../../../../test/stand-ins/postgres.ts'
import type { OutputColumn } from '../../definition.ts'
import { Refused } from '../destination.ts'
import { events, OTHER_EXPORT_ID, uuidOf, type Values } from '../sql-table/fixture/attempt.ts'
import { failureOf, useSqlWorld } from '../sql-table/fixture/use-world.ts'
import { postgresKind } from './kind.ts'

const used = useSqlWorld(startPostgresServer, postgresKind)
const { deliver, names, sql } = used

const RUN = { id: uuidOf(1001), hour: 0 }
const REPAIR = { ...RUN, attempt: 2, is_repair: true }
const make = (body: string) => sql(`CREATE TABLE TABLE_ (${body}); ALTER TABLE TABLE_ OWNER TO exporter`)
const ledger = () =>
  sql('SELECT run_id, rows::int AS rows, disjoint FROM SCHEMA_.longshore_export_runs ORDER BY run_id')

describe('a repair', () => {
  it('goes through a unique index on uuid', async () => {
    await make('uuid text PRIMARY KEY, event text, properties jsonb, timestamp timestamptz')
    await deliver(events(0, 5), RUN)
    await sql(`UPDATE TABLE_ SET event = 'tampered', timestamp = '1999-01-01'`)
    await deliver(events(0, 5), REPAIR)
    expect(await names()).toEqual(['e0', 'e1', 'e2', 'e3', 'e4'])
    expect(await sql(`SELECT FROM TABLE_ WHERE timestamp < '2024-01-01'`)).toEqual([])
  })

  it('of events with one uuid leaves what a unique index lets in: one of them, or one for each time', async () => {
    const day = (row: Values, at: string) => row.with(3, at)
    const [first] = events(0, 1)
    const [second, again] = [day(first!, '2024-04-01'), day(first!, first![3]!)]
    await make('uuid text UNIQUE, event text, properties jsonb, timestamp timestamptz')
    await deliver([first!, second, again], RUN)
    await deliver([first!, second, again], REPAIR)
    expect(await names()).toEqual(['e0'])
    await sql('DROP TABLE TABLE_')
    await make('uuid text, event text, properties jsonb, timestamp timestamptz, UNIQUE (timestamp, uuid)')
    await deliver([first!, second, again], { ...RUN, id: uuidOf(1002) })
    await deliver([first!, second, again], { ...REPAIR, id: uuidOf(1002) })
    expect(await names()).toEqual(['e0', 'e0'])
  })

  it('tells events apart by their time as the table keeps it', async () => {
    await make('uuid text, event text, properties jsonb, timestamp timestamp(3)')
    const rows = [...events(0, 1), ...events(0, 1).map((row) => row.with(3, '2024-04-01 10:00:00.123456'))]
    await deliver(rows.slice(0, 1), RUN)
    await deliver(rows.slice(1), { id: uuidOf(1002), batch_export_id: OTHER_EXPORT_ID })
    await deliver(rows.slice(1), { id: uuidOf(1003), batch_export_id: OTHER_EXPORT_ID })
    await deliver(rows.slice(0, 1), REPAIR)
    await deliver(rows.slice(1), {
      id: uuidOf(1002),
      batch_export_id: OTHER_EXPORT_ID,
      attempt: 2,
      is_repair: true,
    })
    expect(await names()).toEqual(['e0', 'e0'])
  })

  it('finds rows by their uuid where the table has its own type for it', async () => {
    await make('uuid uuid, event text, properties text, timestamp timestamp')
    await deliver(events(0, 3), RUN)
    await sql('INSERT INTO TABLE_ SELECT * FROM TABLE_')
    await deliver(events(0, 3), REPAIR)
    expect(await names()).toEqual(['e0', 'e1', 'e2'])
  })

  it('leaves one entry in the ledger, and later runs of the export their straight way', async () => {
    await deliver(events(0, 5), RUN)
    await deliver(events(0, 5), REPAIR)
    expect(await ledger()).toEqual([{ run_id: RUN.id, rows: 5, disjoint: true }])
    let is_staged = false
    used.world.onStatement('longshore_stage', () => (is_staged = true))
    await deliver(events(5, 9), { hour: 1 })
    expect(is_staged).toBe(false)
    expect(await names()).toHaveLength(9)
  })

  it('makes a table again that was dropped', async () => {
    await deliver(events(0, 3), RUN)
    await sql('DROP TABLE TABLE_')
    await deliver(events(0, 3), REPAIR)
    expect(await names()).toEqual(['e0', 'e1', 'e2'])
  })

  it('that may not delete is refused, and the rows are as they were', async () => {
    await deliver(events(0, 3), RUN)
    await sql(`UPDATE TABLE_ SET event = 'tampered'`)
    await sql('ALTER TABLE TABLE_ OWNER TO longshore; GRANT SELECT, INSERT ON TABLE_ TO exporter')
    const error = await failureOf(deliver(events(0, 3), REPAIR))
    expect(error).toBeInstanceOf(Refused)
    expect(error!.message).toContain('permission denied')
    expect(await names()).toEqual(['tampered', 'tampered', 'tampered'])
    expect(await used.world.leftovers()).toEqual([])
  })

  it('that meets a rule of the table leaves the rows as they were', async () => {
    await deliver(events(0, 3), RUN)
    await sql(`UPDATE TABLE_ SET event = 'tampered'; ALTER TABLE TABLE_ ADD CHECK (event = 'tampered')`)
    expect(await failureOf(deliver(events(0, 3), REPAIR))).toBeInstanceOf(Refused)
    expect(await names()).toEqual(['tampered', 'tampered', 'tampered'])
  })

  it('of sessions replaces what ended at the same time, and leaves those that went on', async () => {
    const columns: OutputColumn[] = [
      { name: 'session_id', kind: 'text' },
      { name: 'team_id', kind: 'integer' },
      { name: 'end_timestamp', kind: 'timestamp' },
      { name: 'pageview_count', kind: 'integer' },
    ]
    const session = (id: string, end: string, count: string): Values => [id, '1', `2024-03-01T${end}Z`, count]
    const options = { model: 'sessions' as const, columns }
    const rows = [session('s', '10:00', '3'), session('t', '10:00', '1')]
    await deliver(rows, { ...RUN, ...options })
    await deliver([session('t', '11:00', '5')], options)
    await sql('UPDATE TABLE_ SET pageview_count = pageview_count + 100')
    await deliver(rows, { ...REPAIR, ...options })
    const found = await sql('SELECT session_id, pageview_count::int FROM TABLE_ ORDER BY session_id')
    expect(found.map(Object.values)).toEqual([
      ['s', 3],
      ['t', 105],
    ])
  })
})
