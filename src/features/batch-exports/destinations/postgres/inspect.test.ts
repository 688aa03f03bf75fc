// Reading tables of PostgreSQL back, beside what the conformance suite asks of every table: jsonb, other types, values that
// nobody delivered.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { startPostgresServer } from '../../../../../test/stand-ins/postgres.ts'
import type { OutputColumn } from '../../definition.ts'
import type { Digest, TableInspection, TableScope } from '../destination.ts'
import { contextOf, EVENT_COLUMNS, events, uuidOf, type Values } from '../sql-table/fixture/attempt.ts'
import { useSqlWorld } from '../sql-table/fixture/use-world.ts'
import { digestStatement } from '../warehouse/digest-sql.ts'
import { addRow, bucketOf } from '../warehouse/digest.ts'
import { postgresInspection } from './inspect.ts'
import { jsonbText } from './jsonb-text.ts'
import { postgresKind } from './kind.ts'

const used = useSqlWorld(startPostgresServer, postgresKind)
const { deliver, sql } = used

const EVERYTHING: TableScope = { project_id: 1, times: null }
const make = (body: string) => sql(`CREATE TABLE TABLE_ (${body}); ALTER TABLE TABLE_ OWNER TO exporter`)

async function inspecting<T>(
  work: (table: TableInspection) => Promise<T>,
  columns: readonly OutputColumn[] = EVENT_COLUMNS,
): Promise<T> {
  const { inspect } = await used.world.kind.load()
  const { table, close } = await inspect!(contextOf(used.world, { columns }))
  try {
    return await work(table!)
  } finally {
    await close()
  }
}

/** Lines are what JSON lines would have, in the order of the columns. */
function digestHere(table: TableInspection, lines: readonly (readonly unknown[])[]): Map<string, Digest> {
  const digests = new Map<string, Digest>()
  for (const line of lines) {
    const values = table.columns.map((column, index) => table.spell(column, line[index]))
    addRow(digests, bucketOf(values[0] ?? null), values)
  }
  return digests
}

describe('jsonb', () => {
  it('is printed as PostgreSQL prints it, whatever is in it', async () => {
    const json = fc.json({ noUnicodeString: false, stringUnit: 'grapheme', maxDepth: 4 })
    const key = fc.string({ unit: 'grapheme', maxLength: 6 })
    const object = fc.dictionary(key, fc.oneof(fc.double(), fc.integer(), fc.string(), fc.constant(null)))
    const texts = fc.array(fc.oneof(json, object.map(JSON.stringify)), { minLength: 1, maxLength: 50 })
    await fc.assert(
      fc.asyncProperty(texts, async (some) => {
        const kept = some.filter((text) => !/\\u0000|\\ud[89a-f]/i.test(text))
        const { rows } = await used.server.admin.query<{ printed: string }>(
          'SELECT t::jsonb::text AS printed FROM unnest($1::text[]) WITH ORDINALITY AS given (t, n) ORDER BY n',
          [kept],
        )
        expect(kept.map((text) => jsonbText(JSON.parse(text)))).toEqual(rows.map(({ printed }) => printed))
      }),
      { numRuns: 60 },
    )
  })

  it.each([
    ['{"b":1,"aa":2,"a":3}', '{"a": 3, "b": 1, "aa": 2}'],
    ['{"é":1,"z":2,"zz":3}', '{"z": 2, "zz": 3, "é": 1}'],
    ['{"a":1,"a":[2]}', '{"a": [2]}'],
    [
      '[1e21, 1.5e+22, -2e-7, 0.1, -0]',
      '[1000000000000000000000, 15000000000000000000000, -0.0000002, 0.1, 0]',
    ],
    [String.raw`"\u00e9\u001f\/\b\"\ud83d\ude00"`, String.raw`"é\u001f/\b\"😀"`],
    ['{}', '{}'],
    ['[{}, [], null, true]', '[{}, [], null, true]'],
  ])('%s', async (given, printed) => {
    expect(jsonbText(JSON.parse(given))).toBe(printed)
    expect(await sql(`SELECT $$${given}$$::jsonb::text AS printed`)).toEqual([{ printed }])
  })

  it('that lost what jsonb cannot hold is foretold without it', async () => {
    const given = [
      String.raw`{"a":"x\u0000y","\u0000k":1}`,
      String.raw`{"a":"\ud83d!\ude00"}`,
      String.raw`{"a":"\ud83d\ude00"}`,
    ]
    const rows = given.map((json, index): Values => [uuidOf(index), 'e', json, '2024-01-01T00:00:00Z'])
    await deliver(rows)
    const lines = given.map((json, index) => [
      uuidOf(index),
      'e',
      JSON.parse(json) as unknown,
      '2024-01-01T00:00:00.000000Z',
    ])
    await inspecting(async (table) => {
      expect(await table.digest(EVERYTHING)).toEqual(digestHere(table, lines))
    })
  })

  it('in numbers that look otherwise makes digests differ, and the rows are the same', async () => {
    await deliver([[uuidOf(1), 'e', '{"n":1.0}', '2024-01-01T00:00:00Z']])
    const line = [uuidOf(1), 'e', { n: 1 }, '2024-01-01T00:00:00.000000Z']
    await inspecting(async (table) => {
      expect(await table.digest(EVERYTHING)).not.toEqual(digestHere(table, [line]))
      const expected = table.columns.map((column, index) => table.spell(column, line[index]))
      expect(await table.rows(EVERYTHING, '001')).toEqual([expected])
    })
  })
})

describe('a table', () => {
  it('of other types is compared where they hold the same values', async () => {
    await make(
      'uuid uuid, event text, properties json, timestamp timestamp, n text, short timestamp(3), r real',
    )
    const columns: OutputColumn[] = [
      ...EVENT_COLUMNS,
      { name: 'n', kind: 'integer' },
      { name: 'short', kind: 'timestamp' },
      { name: 'r', kind: 'float' },
    ]
    const [event] = events(7, 8, '{"b":1,"a":2}')
    await deliver([[...event!, '9007199254740993', event![3]!, '0.1']], { columns })
    const line = [uuidOf(7), 'e7', { b: 1, a: 2 }, '2024-03-01T00:07:00.000000Z', '9007199254740993']
    await inspecting(async (table) => {
      expect(table.columns.map(({ name }) => name)).toEqual([...EVENT_COLUMNS.map(({ name }) => name), 'n'])
      expect(await table.digest(EVERYTHING)).toEqual(digestHere(table, [line]))
    }, columns)
  })

  it('is hashed row by row once, although two sums are made of each hash', async () => {
    await make('uuid text, properties jsonb')
    const types = new Map([
      ['uuid', 'text'],
      ['properties', 'jsonb'],
    ])
    const columns = [
      { name: 'uuid', kind: 'text' },
      { name: 'properties', kind: 'json' },
    ] as const
    const { dialect } = postgresInspection
    const statement = digestStatement({ dialect, name: 'TABLE_', types, columns, has_uuid: true }, EVERYTHING)
    const plan = (await sql(`EXPLAIN (VERBOSE) ${statement}`))
      .map((row) => String(row['QUERY PLAN']))
      .join('\n')
    // What a step takes from the one below it is printed in parentheses of its own.
    expect(plan).toContain('"substring"((md5(')
    expect(plan).not.toContain('"substring"(md5(')
  })

  it('with values that we never write is read all the same', async () => {
    await make('uuid text, event text, properties jsonb, timestamp timestamptz, f float8, n bigint')
    await sql(`INSERT INTO TABLE_ VALUES
      ('a', 'x', 'null', 'infinity', 'NaN', NULL), ('b', '', '"x"', '-infinity', '-Infinity', 1),
      (NULL, NULL, NULL, NULL, 1e300, NULL)`)
    const columns: OutputColumn[] = [
      ...EVENT_COLUMNS,
      { name: 'f', kind: 'float' },
      { name: 'n', kind: 'integer' },
    ]
    await inspecting(async (table) => {
      const found = await table.digest(EVERYTHING)
      expect([...found].map(([bucket, { rows }]) => `${bucket} ${rows}`).toSorted()).toEqual([
        ' 1',
        'a 1',
        'b 1',
      ])
      expect(await table.rows(EVERYTHING, 'a')).toEqual([['a', 'x', null, null, 'huge', null]])
      expect(await table.rows(EVERYTHING, '')).toEqual([[null, null, null, null, 'huge', null]])
    }, columns)
  })

  it('is asked once for all buckets', async () => {
    await deliver(events(0, 300))
    await inspecting(async (table) => {
      used.world.cuts.reset()
      expect((await table.digest(EVERYTHING)).size).toBe(300)
      expect(used.world.cuts.count()).toBe(1)
    })
  })

  it('has its names and buckets in no statement but as names and values', async () => {
    const columns: OutputColumn[] = [...EVENT_COLUMNS, { name: `odd "name'; --`, kind: 'text' }]
    const [event] = events(1, 2)
    await deliver([[...event!, 'x']], { columns })
    await inspecting(async (table) => {
      expect(await table.rows(EVERYTHING, '001')).toHaveLength(1)
      expect(await table.rows(EVERYTHING, `' OR 1 = 1 --`)).toEqual([])
    }, columns)
  })
})
