// What owners of exports read when their database says no: each error made by a real PostgreSQL, in both ways that rows
// take into a table. Names are in it, values of rows never.
import { describe, expect, it } from 'vitest'
import { startPostgresServer } from '../../../../../test/stand-ins/postgres.ts'
import { Passing, Refused } from '../destination.ts'
import { postgresKind } from '../postgres/kind.ts'
import type { Values } from './fixture/attempt.ts'
import { failureOf, useSqlWorld } from './fixture/use-world.ts'

const used = useSqlWorld(startPostgresServer, postgresKind)
const { deliver, sql } = used

const UUID = '018e0000-0000-7000-8000-000000000001'
/** What must not be repeated. */
const VALUE = 'topsecret'
const row = (fields: { uuid?: string; event?: string; properties?: string } = {}): Values => [
  fields.uuid ?? UUID,
  fields.event ?? VALUE,
  fields.properties ?? '{}',
  '2024-01-01T00:00:00Z',
]

const EVENT = [
  { name: 'uuid', kind: 'text' as const },
  { name: 'event', kind: 'text' as const },
  { name: 'properties', kind: 'json' as const },
  { name: 'timestamp', kind: 'timestamp' as const },
]

const COLUMNS = 'uuid text, event text, properties jsonb, timestamp timestamptz'
const make = (body: string, also = '') =>
  sql(`CREATE TABLE TABLE_ ${body}; ALTER TABLE TABLE_ OWNER TO exporter; ${also}`)
const OF_TABLE = 'of the table "of events"'

const CASES: [string, { make: string; also?: string; rows: Values[] }, string][] = [
  [
    'a column that must not be null and that nothing fills',
    { make: `(${COLUMNS}, wanted text NOT NULL)`, rows: [row()] },
    `A row has no value for the column "wanted" ${OF_TABLE}, which must not be null (23502). Give the column a default, allow nulls in it, or drop it.`,
  ],
  [
    'a text that is too long',
    { make: '(uuid text, event varchar(3), properties jsonb, timestamp timestamptz)', rows: [row()] },
    'A value is too long for the column "event" (22001). Give the column a longer type.',
  ],
  [
    'a value of another type',
    {
      make: '(uuid uuid, event text, properties jsonb, timestamp timestamptz)',
      rows: [row({ uuid: VALUE })],
    },
    'A value does not fit the type of the column "uuid" (22P02). Change the type to one that takes it, or leave the column out by a `hogql_query`.',
  ],
  [
    'a number that is too large',
    {
      make: '(uuid text, event smallint, properties jsonb, timestamp timestamptz)',
      rows: [row({ event: '99999' })],
    },
    'A value does not fit the type of the column "event" (22003). Change the type to one that takes it, or leave the column out by a `hogql_query`.',
  ],
  [
    'JSON that is none',
    { make: `(${COLUMNS})`, rows: [row({ properties: `{"a": ${VALUE}}` })] },
    'A value does not fit the type of the column "properties" (22P02). Change the type to one that takes it, or leave the column out by a `hogql_query`.',
  ],
  [
    'a unique constraint',
    { make: `(${COLUMNS}, CONSTRAINT one_name UNIQUE (event))`, rows: [row(), row({ uuid: `${UUID}9` })] },
    `A row is in conflict with the constraint "one_name" ${OF_TABLE} (23505). Drop the constraint, or remove the rows that are in the way.`,
  ],
  [
    'a check constraint',
    { make: `(${COLUMNS}, CONSTRAINT known CHECK (event = 'known'))`, rows: [row()] },
    `A row breaks the constraint "known" ${OF_TABLE} (23514). Drop the constraint, or leave such events out by a filter.`,
  ],
  [
    'a type of the user with a rule',
    {
      make: '(uuid text, event SCHEMA_.known, properties jsonb, timestamp timestamptz)',
      also: "CREATE DOMAIN SCHEMA_.known AS text CONSTRAINT is_known CHECK (VALUE = 'known')",
      rows: [row()],
    },
    'A row breaks the constraint "is_known" of the type "known" (23514). Drop the constraint, or leave such events out by a filter.',
  ],
  [
    'a partition that is not there',
    { make: `(${COLUMNS}) PARTITION BY RANGE (timestamp)`, rows: [row()] },
    'There is no partition for a row in the table "of events" (23514). Add the missing partition, or a default one.',
  ],
  [
    'a column that the database fills by itself',
    {
      make: `(${COLUMNS.replace('event text', "event text GENERATED ALWAYS AS ('x') STORED")})`,
      rows: [row()],
    },
    'Change the table so that it takes the rows, then retry the run.',
  ],
]

describe.each([
  ['straight', false],
  ['by a stage', true],
])('rows that go in %s', (_way, is_staged) => {
  it.each(CASES)('%s', async (_what, { make: body, also = '', rows }, text) => {
    if (also !== '') await sql(also)
    await make(body)
    // A COPY cannot leave out what the table lacks, so then it goes into a stage.
    const columns = is_staged ? [...EVENT, { name: 'lacking', kind: 'text' as const }] : EVENT
    const sent = is_staged ? rows.map((values) => [...values, null]) : rows
    const error = await failureOf(deliver(sent, { columns }))
    expect(error).toBeInstanceOf(Refused)
    expect(error!.message).toContain(text)
    expect(error!.message).not.toContain(VALUE)
    expect(error!.message.match(/\. |\.$/g)!.length).toBeLessThanOrEqual(2)
    expect(await used.world.rows()).toEqual([])
  })
})

it('a trigger that raises an error with the row in it is not quoted', async () => {
  await make(`(${COLUMNS})`)
  await sql(`
    CREATE FUNCTION SCHEMA_.no() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'not %', NEW.event; END $$;
    CREATE TRIGGER no BEFORE INSERT ON TABLE_ FOR EACH ROW EXECUTE FUNCTION SCHEMA_.no()`)
  const error = await failureOf(deliver([row()]))
  expect(error).toBeInstanceOf(Passing)
  expect(error!.message).toMatch(/^A trigger or function behind the table raised an error \(P0001\)\./)
  expect(error!.message).not.toContain(VALUE)
})

it('a right that is missing is named, with what to grant', async () => {
  await sql('ALTER SCHEMA SCHEMA_ OWNER TO longshore; GRANT USAGE ON SCHEMA SCHEMA_ TO exporter')
  await sql(`CREATE TABLE TABLE_ (${COLUMNS}); GRANT SELECT ON TABLE_ TO exporter`)
  const error = await failureOf(deliver([row()]))
  expect(error!.message).toBe(
    "The database says: permission denied for table of events (42501). Grant it to the export's user: USAGE and CREATE on the schema, SELECT and INSERT on the table.",
  )
})
