// What PostgreSQL alone does, beside the conformance suite: ways into the table, the ledger, rights, and odd tables.
import { describe, expect, it } from 'vitest'
import { startPostgresServer } from '../../../../../test/stand-ins/postgres.ts'
import type { OutputColumn } from '../../definition.ts'
import { Refused } from '../destination.ts'
import { stillOurs } from '../fixture/still-ours.ts'
import {
  EVENT_COLUMNS,
  events,
  openDelivery,
  uuidOf,
  writeRows,
  type Values,
  OTHER_EXPORT_ID,
} from '../sql-table/fixture/attempt.ts'
import { failureOf, useSqlWorld } from '../sql-table/fixture/use-world.ts'
import { postgresKind } from './kind.ts'

const used = useSqlWorld(startPostgresServer, postgresKind)
const { deliver, names, sql } = used

const ledger = () => sql('SELECT rows::int AS rows, disjoint FROM SCHEMA_.longshore_export_runs')
const make = (body: string) => sql(`CREATE TABLE TABLE_ (${body}); ALTER TABLE TABLE_ OWNER TO exporter`)

/** Whether the rows of an attempt went by a stage. */
async function isStaged(work: () => Promise<unknown>): Promise<boolean> {
  let is_staged = false
  used.world.onStatement('longshore_stage', () => (is_staged = true))
  await work()
  return is_staged
}

describe('the table', () => {
  it('is made with the documented types, in a schema and under a name that need quotes', async () => {
    const columns: OutputColumn[] = [
      ...EVENT_COLUMNS,
      { name: 'team_id', kind: 'integer', type: 'INTEGER' },
      { name: 'n', kind: 'integer' },
      { name: 'f', kind: 'float' },
      { name: 'b', kind: 'boolean' },
      { name: 'odd "name', kind: 'text' },
    ]
    const [event] = events(1, 2)
    await deliver([[...event!, '1', '9007199254740993', '0.5', 't', 'x']], { columns })
    const rows = await sql(
      `SELECT attname || ' ' || format_type(atttypid, atttypmod) AS type FROM pg_attribute
        WHERE attrelid = 'TABLE_'::regclass AND attnum > 0 ORDER BY attnum`,
    )
    expect(rows.map(({ type }) => type)).toEqual([
      'uuid character varying(200)',
      'event character varying(200)',
      'properties jsonb',
      'timestamp timestamp with time zone',
      'team_id integer',
      'n bigint',
      'f double precision',
      'b boolean',
      'odd "name text',
    ])
    expect(await sql('SELECT n::text, "odd ""name" FROM TABLE_')).toEqual([
      { n: '9007199254740993', 'odd "name': 'x' },
    ])
  })

  it('made by many runs at once is made once, and no run fails of it', async () => {
    await Promise.all(
      Array.from({ length: 6 }, (_, hour) => deliver(events(hour * 10, hour * 10 + 10), { hour })),
    )
    expect(await used.world.rows()).toHaveLength(60)
    expect(await ledger()).toHaveLength(6)
  })

  it('with a column that nothing fills is refused in the words of the database', async () => {
    await make('uuid text, event text, properties jsonb, timestamp timestamptz, wanted text NOT NULL')
    const error = await failureOf(deliver(events(0, 3)))
    expect(error).toBeInstanceOf(Refused)
    expect(error!.message).toContain('"wanted"')
    expect(await used.world.rows()).toEqual([])
    expect(await ledger()).toEqual([])
  })

  it('with a rule of its own refuses rows that break it, and takes none of the run', async () => {
    await make('uuid text, event text UNIQUE, properties jsonb, timestamp timestamptz')
    await deliver(events(0, 3))
    const error = await failureOf(
      deliver([[uuidOf(9), 'e1', '{}', '2024-01-01']], { hour: 1, batch_export_id: OTHER_EXPORT_ID }),
    )
    expect(error).toBeInstanceOf(Refused)
    expect(await names()).toEqual(['e0', 'e1', 'e2'])
  })

  it('that has other types takes what fits them', async () => {
    await make('uuid uuid, event text, properties text, timestamp timestamp')
    await deliver(events(0, 3))
    expect(await deliver(events(2, 5), { batch_export_id: OTHER_EXPORT_ID })).toEqual({ rows: 3, files: [] })
    expect(await names()).toEqual(['e0', 'e1', 'e2', 'e3', 'e4'])
    const error = await failureOf(
      deliver([['no uuid', 'e', '{}', '2024-01-01']], { batch_export_id: OTHER_EXPORT_ID }),
    )
    expect(error).toBeInstanceOf(Refused)
  })

  it('without any of the columns is refused', async () => {
    await make('something text')
    expect(await failureOf(deliver(events(0, 1)))).toBeInstanceOf(Refused)
  })
})

describe('the way in', () => {
  it('is straight for scheduled runs, one after the other, and each is there once', async () => {
    expect(await isStaged(() => deliver(events(0, 5), { hour: 0 }))).toBe(false)
    expect(await isStaged(() => deliver(events(5, 9), { hour: 1 }))).toBe(false)
    expect(await names()).toHaveLength(9)
    expect((await ledger()).map(({ rows, disjoint }) => [rows, disjoint])).toEqual([
      [5, true],
      [4, true],
    ])
  })

  it('leads by a stage, and adds only what is new, for whatever may overlap', async () => {
    await deliver(events(0, 5), { hour: 0 })
    expect(await isStaged(() => deliver(events(3, 8), { hour: 0, batch_export_id: OTHER_EXPORT_ID }))).toBe(
      true,
    )
    expect(await names()).toHaveLength(8)
    // From now on a run may bring what the other export has brought.
    expect(await isStaged(() => deliver(events(6, 10), { hour: 1 }))).toBe(true)
    expect(await names()).toHaveLength(10)
  })

  it('leads by a stage for another export of the same events, and for a table that others filled', async () => {
    await deliver(events(0, 5), { hour: 0 })
    expect(await isStaged(() => deliver(events(0, 5), { hour: 1, batch_export_id: OTHER_EXPORT_ID }))).toBe(
      true,
    )
    expect(await names()).toHaveLength(5)
    await sql('DROP TABLE SCHEMA_.longshore_export_runs')
    expect(await isStaged(() => deliver(events(0, 7), { hour: 2 }))).toBe(true)
    expect(await names()).toHaveLength(7)
    expect(await isStaged(() => deliver(events(6, 8), { hour: 3 }))).toBe(true)
    expect(await names()).toHaveLength(8)
  })

  it('is given up by the second of two runs at once, and rows of both are there once', async () => {
    const first = await openDelivery(used.world, { hour: 0 })
    await writeRows(first, events(0, 6))
    const second = await openDelivery(used.world, { hour: 1, batch_export_id: OTHER_EXPORT_ID })
    await writeRows(second, events(3, 9))
    const finished = second.finish(stillOurs)
    expect(await first.finish(stillOurs)).toEqual({ rows: 6, files: [] })
    expect(await finished).toEqual({ rows: 6, files: [] })
    expect(await names()).toHaveLength(9)
  })

  it('is the same for many overlapping runs at once', async () => {
    // Runs of one export share nothing with each other, but each with a run of the other export.
    await Promise.all(
      [0, 20, 40].flatMap((from) => [
        deliver(events(from, from + 10), { hour: from }),
        deliver(events(from + 5, from + 20), { hour: from, batch_export_id: OTHER_EXPORT_ID }),
      ]),
    )
    expect(await names()).toHaveLength(60)
  })

  it('uses a unique index on uuid where there is one', async () => {
    await make('uuid text PRIMARY KEY, event text, properties jsonb, timestamp timestamptz')
    await deliver(events(0, 5), { hour: 0 })
    // The same events under another time are the same events.
    const moved = events(0, 7).map(([uuid, event, properties]) => [uuid!, event!, properties!, '2020-01-01'])
    expect(await deliver(moved, { hour: 1 })).toEqual({ rows: 7, files: [] })
    expect(await names()).toHaveLength(7)
  })
})

describe('rights', () => {
  /** Only what is granted: the schema and the table are not theirs. */
  async function takeRights(grants: string): Promise<void> {
    await sql('ALTER SCHEMA SCHEMA_ OWNER TO longshore; GRANT USAGE ON SCHEMA SCHEMA_ TO exporter')
    await sql('CREATE TABLE TABLE_ (uuid text, event text, properties jsonb, timestamp timestamptz)')
    await sql(`GRANT ${grants} ON TABLE_ TO exporter`)
  }

  it('to insert and select are enough, with a warning that there is no ledger; a repeat adds nothing', async () => {
    await takeRights('SELECT, INSERT')
    const warnings: string[] = []
    const run = { id: uuidOf(1), warnings }
    await deliver(events(0, 4), run)
    expect(warnings).toHaveLength(1)
    await deliver(events(0, 4), run)
    await deliver(events(2, 6), { hour: 1 })
    expect(await names()).toHaveLength(6)
  })

  it('without a ledger and without a uuid nothing is sent', async () => {
    await takeRights('SELECT, INSERT')
    const warnings: string[] = []
    const columns: OutputColumn[] = [{ name: 'event', kind: 'text' }]
    expect(await failureOf(deliver([['a']], { columns, has_custom_columns: true, warnings }))).toBeInstanceOf(
      Refused,
    )
    expect(warnings).toEqual([])
    expect(await used.world.rows()).toEqual([])
  })

  it('that are missing end the run', async () => {
    await takeRights('SELECT')
    const error = await failureOf(deliver(events(0, 4)))
    expect(error).toBeInstanceOf(Refused)
    expect(error!.message).toContain('permission denied')
  })
})

describe('JSON', () => {
  it('loses what jsonb cannot hold, with one warning, and keeps what only looks like it', async () => {
    const warnings: string[] = []
    const json = [
      String.raw`{"a":"x\u0000y"}`,
      String.raw`{"a":"\ud83d!"}`,
      String.raw`{"a":"!\uDE00"}`,
      String.raw`{"a":"\ud83d\ude00"}`,
      String.raw`{"a":"\\u0000 \\ud83d"}`,
      '{"a":"😀\u2028"}',
    ]
    const rows = json.map((text, index): Values => [uuidOf(index), String.raw`\u0000`, text, '2024-01-01'])
    await deliver(rows, { warnings })
    const found = (await used.world.rows()).map((row) => (row.properties as { a: string }).a)
    expect(found).toEqual(['xy', '!', '!', '😀', String.raw`\u0000 \ud83d`, '😀\u2028'])
    expect(new Set((await used.world.rows()).map((row) => row.event))).toEqual(new Set([String.raw`\u0000`]))
    expect(warnings).toHaveLength(1)
  })

  it('that is none ends the run in the middle of a long file, and nothing is there', async () => {
    const rows = events(0, 20_000, JSON.stringify({ filler: 'x'.repeat(200) }))
    rows[9_000]![2] = '{"broken"'
    expect(await failureOf(deliver(rows))).toBeInstanceOf(Refused)
    expect(await used.world.rows()).toEqual([])
    expect(await ledger()).toEqual([])
    expect(await used.world.leftovers()).toEqual([])
  })
})

describe('a run that is stopped', () => {
  it.each([
    ['while it sends rows', 'COPY'],
    ['while it merges', 'NOT EXISTS'],
    ['while it commits', 'COMMIT'],
  ])('%s ends at once with the reason given, and can be tried again', async (_when, part) => {
    await deliver(events(0, 3))
    const controller = new AbortController()
    const reason = new Error('cancelled')
    const rows = events(1, 5000, JSON.stringify({ filler: 'x'.repeat(500) }))
    const options = { batch_export_id: OTHER_EXPORT_ID, id: uuidOf(7) }
    used.world.onStatement(part, () => controller.abort(reason))
    await expect(deliver(rows, { ...options, signal: controller.signal })).rejects.toBe(reason)
    expect(await used.world.leftovers()).toEqual([])
    await deliver(rows, options)
    expect(await names()).toHaveLength(5000)
  })
})

describe('custom columns', () => {
  it('without a uuid go straight in, and a repeated attempt is known by the ledger', async () => {
    const options = {
      id: uuidOf(1),
      columns: [{ name: 'browser', kind: 'text' }] as OutputColumn[],
      has_custom_columns: true,
    }
    const rows: Values[] = [['Firefox'], ['Firefox'], [null]]
    expect(await isStaged(() => deliver(rows, options))).toBe(false)
    expect(await deliver(rows, options)).toEqual({ rows: 3, files: [] })
    expect(await used.world.rows()).toHaveLength(3)
  })
})
