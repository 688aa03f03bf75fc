// What each kind of destination gets of an event: names, kinds, documented types and values.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OutputColumn } from '../definition.ts'
import { openSource, select, type Asked, type OpenedSource } from './fixture/store.ts'

const UUID = '01890000-0000-7000-8000-000000000001'
const PERSON = '01890000-0000-7000-8000-0000000000aa'
const PROPERTIES = { $ip: '10.0.0.1', n: 1, $set: { plan: 'pro' }, $set_once: { first: [1] } }
const CHAIN = 'a:href="/x"text="Say "'

let source: OpenedSource

beforeAll(async () => {
  source = await openSource()
  await source.write(
    [
      {
        uuid: UUID,
        event: '$autocapture',
        distinct_id: 'ann',
        timestamp: '2026-03-01T10:00:00.123456Z',
        created_at: '2026-03-01T10:00:01Z',
        elements_chain: CHAIN,
        person_id: PERSON,
        person_properties: '{"plan":"free"}',
        properties: PROPERTIES,
      },
    ],
    // What is known of the person now must not be what goes out.
    {
      persons: [
        { id: PERSON, created_at: 0n, is_identified: true, properties: '{"plan":"new"}', version: 3 },
      ],
      distinct_ids: [{ distinct_id: 'ann', person_id: PERSON, version: 2 }],
    },
    new Date('2026-03-01T11:00:00Z'),
  )
})
afterAll(() => source.close())

const json = JSON.stringify
const EVENT = {
  uuid: UUID,
  event: '$autocapture',
  properties: json(PROPERTIES),
  distinct_id: 'ann',
  timestamp: '2026-03-01T10:00:00.123456Z',
}
const SET = { set: json(PROPERTIES.$set), set_once: json(PROPERTIES.$set_once) }
const REST = { team_id: 7, ip: '10.0.0.1', site_url: null }
const PERSON_NOW = { person_properties: '{"plan":"free"}', person_id: PERSON }
const END = '2026-03-02T00:00:00Z'

/** `name kind type(limit)`, in order. */
const shown = ({ name, kind, type, max_characters }: OutputColumn) =>
  [name, kind, type, max_characters].filter((part) => part !== undefined).join(' ')

const TABLE: [string, Asked, string, Record<string, unknown>][] = [
  [
    'files',
    { set: 'files' },
    `uuid text, timestamp timestamp, _inserted_at timestamp, created_at timestamp, event text, properties json,
     distinct_id text, elements_chain text, person_properties json, person_id text`,
    {
      ...EVENT,
      ...PERSON_NOW,
      _inserted_at: '2026-03-01T11:00:00Z',
      created_at: '2026-03-01T10:00:01Z',
      elements_chain: CHAIN,
    },
  ],
  [
    'postgres',
    { set: 'postgres' },
    `uuid text VARCHAR(200) 200, event text VARCHAR(200) 200, properties json, elements json, set json, set_once json,
     distinct_id text VARCHAR(200) 200, team_id integer INTEGER, ip text VARCHAR(200) 200,
     site_url text VARCHAR(200) 200, timestamp timestamp`,
    { ...EVENT, ...SET, ...REST, elements: json(CHAIN) },
  ],
  [
    'postgres, with persons',
    { set: 'postgres', definition: { config: { include_person_properties: true } } },
    `uuid text VARCHAR(200) 200, event text VARCHAR(200) 200, properties json, elements json, set json, set_once json,
     distinct_id text VARCHAR(200) 200, team_id integer INTEGER, ip text VARCHAR(200) 200,
     site_url text VARCHAR(200) 200, timestamp timestamp, person_properties json, person_id text VARCHAR(200) 200`,
    { ...EVENT, ...SET, ...REST, ...PERSON_NOW, elements: json(CHAIN) },
  ],
  [
    'redshift, with persons',
    { set: 'redshift', definition: { config: { include_person_properties: true } } },
    `uuid text VARCHAR(200) 200, event text VARCHAR(200) 200, properties text VARCHAR(65535) 65535,
     elements text VARCHAR(65535) 65535, set text VARCHAR(65535) 65535, set_once text VARCHAR(65535) 65535,
     distinct_id text VARCHAR(200) 200, team_id integer INTEGER, ip text VARCHAR(200) 200,
     site_url text VARCHAR(200) 200, timestamp timestamp, person_properties text VARCHAR(65535) 65535,
     person_id text VARCHAR(200) 200`,
    { ...EVENT, ...SET, ...REST, ...PERSON_NOW, elements: '' },
  ],
  [
    'bigquery, with persons',
    { set: 'bigquery', definition: { config: { use_json_type: true, include_person_properties: true } } },
    `uuid text, event text, properties json JSON, elements text, set json JSON, set_once json JSON,
     distinct_id text, team_id integer, ip text, site_url text, timestamp timestamp, bq_ingested_timestamp timestamp,
     person_properties json JSON, person_id text`,
    { ...EVENT, ...SET, ...REST, ...PERSON_NOW, elements: json(CHAIN), bq_ingested_timestamp: END },
  ],
  [
    'snowflake, with persons',
    { set: 'snowflake', definition: { config: { include_person_properties: true } } },
    `uuid text, event text, properties json, elements json, people_set json, people_set_once json,
     distinct_id text, team_id integer, ip text, site_url text, timestamp timestamp, person_properties json,
     person_id text`,
    {
      ...EVENT,
      ...REST,
      ...PERSON_NOW,
      people_set: SET.set,
      people_set_once: SET.set_once,
      elements: json(CHAIN),
    },
  ],
  [
    'redshift',
    { set: 'redshift' },
    `uuid text VARCHAR(200) 200, event text VARCHAR(200) 200, properties text VARCHAR(65535) 65535,
     elements text VARCHAR(65535) 65535, set text VARCHAR(65535) 65535, set_once text VARCHAR(65535) 65535,
     distinct_id text VARCHAR(200) 200, team_id integer INTEGER, ip text VARCHAR(200) 200,
     site_url text VARCHAR(200) 200, timestamp timestamp`,
    { ...EVENT, ...SET, ...REST, elements: '' },
  ],
  [
    'redshift, super',
    { set: 'redshift', definition: { config: { properties_data_type: 'super' } } },
    `uuid text VARCHAR(200) 200, event text VARCHAR(200) 200, properties json SUPER,
     elements text VARCHAR(65535) 65535, set json SUPER, set_once json SUPER,
     distinct_id text VARCHAR(200) 200, team_id integer INTEGER, ip text VARCHAR(200) 200,
     site_url text VARCHAR(200) 200, timestamp timestamp`,
    { ...EVENT, ...SET, ...REST, elements: '' },
  ],
  [
    'bigquery',
    { set: 'bigquery', definition: { config: { use_json_type: false } } },
    `uuid text, event text, properties text STRING, elements text, set text STRING, set_once text STRING,
     distinct_id text, team_id integer, ip text, site_url text, timestamp timestamp, bq_ingested_timestamp timestamp`,
    { ...EVENT, ...SET, ...REST, elements: json(CHAIN), bq_ingested_timestamp: END },
  ],
  [
    'bigquery, json',
    { set: 'bigquery', definition: { config: { use_json_type: true } } },
    `uuid text, event text, properties json JSON, elements text, set json JSON, set_once json JSON,
     distinct_id text, team_id integer, ip text, site_url text, timestamp timestamp, bq_ingested_timestamp timestamp`,
    { ...EVENT, ...SET, ...REST, elements: json(CHAIN), bq_ingested_timestamp: END },
  ],
  [
    'snowflake',
    { set: 'snowflake' },
    `uuid text, event text, properties json, elements json, people_set json, people_set_once json,
     distinct_id text, team_id integer, ip text, site_url text, timestamp timestamp`,
    { ...EVENT, ...REST, people_set: SET.set, people_set_once: SET.set_once, elements: json(CHAIN) },
  ],
  [
    'databricks',
    { set: 'databricks', definition: { config: { use_variant_type: true } } },
    `uuid text, event text, properties json VARIANT, distinct_id text, team_id integer, timestamp timestamp,
     elements_chain text, person_properties json VARIANT, person_id text, databricks_ingested_timestamp timestamp`,
    { ...EVENT, ...PERSON_NOW, team_id: 7, elements_chain: CHAIN, databricks_ingested_timestamp: END },
  ],
  [
    'databricks, text',
    { set: 'databricks', definition: { config: { use_variant_type: false } } },
    `uuid text, event text, properties text STRING, distinct_id text, team_id integer, timestamp timestamp,
     elements_chain text, person_properties text STRING, person_id text, databricks_ingested_timestamp timestamp`,
    { ...EVENT, ...PERSON_NOW, team_id: 7, elements_chain: CHAIN, databricks_ingested_timestamp: END },
  ],
  [
    'clickhouse',
    { set: 'clickhouse' },
    `uuid text, event text, properties json, distinct_id text, team_id integer, timestamp timestamp,
     elements_chain text, created_at timestamp`,
    { ...EVENT, team_id: 7, elements_chain: CHAIN, created_at: '2026-03-01T10:00:01Z' },
  ],
  [
    'clickhouse, with persons',
    { set: 'clickhouse', definition: { config: { include_person_properties: true } } },
    `uuid text, event text, properties json, distinct_id text, team_id integer, timestamp timestamp,
     elements_chain text, created_at timestamp, person_properties json, person_id text`,
    { ...EVENT, ...PERSON_NOW, team_id: 7, elements_chain: CHAIN, created_at: '2026-03-01T10:00:01Z' },
  ],
  [
    'http',
    { set: 'http' },
    'uuid text, distinct_id text, timestamp timestamp, event text, properties json, elements_chain text',
    { ...EVENT, elements_chain: CHAIN },
  ],
]

describe.each(TABLE)('%s', (_name, asked, columns, values) => {
  it('has the documented columns, in order', () => {
    expect(select(asked).columns.map(shown).join(', ')).toBe(columns.replaceAll(/\s+/g, ' '))
    const { rows } = select(asked)
    expect(rows.columns).toMatchObject(select(asked).columns.map(({ name, kind }) => ({ name, kind })))
  })

  it('holds the event', async () => {
    expect(await source.read(asked)).toEqual([values])
  })
})

it('what an event lacks is null', async () => {
  const other = await openSource()
  await other.write([{ properties: {}, elements_chain: '' }])
  const [row] = await other.read({ set: 'postgres' })
  expect(row).toMatchObject({ set: null, set_once: null, ip: null, elements: '""', properties: '{}' })
  await other.close()
})
