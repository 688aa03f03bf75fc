// SQL that users write into queries, filters and names.
import { expect } from 'vitest'
import type { JsonObject } from '../../src/lib/json-object.ts'
import { attack, attackEach, type Attack } from './attack.ts'
import { exportTo } from './s01-s02-outbound.ts'
import { CONFIGS, type Scene } from './scene.ts'

export const ask = ({ call, home }: Scene, query: string, rest: object = {}) =>
  call('POST', `/api/projects/${home.project.id}/query/`, {
    key: home.owner.key,
    body: { query: { kind: 'HogQLQuery', query, ...rest } },
  })

/** Files, addresses, settings and processes that engines can reach, statements, and ways out of a string. */
const QUERIES = [
  `select * from url('http://127.0.0.1/', 'CSV')`,
  `select * from file('/etc/passwd')`,
  `select * from s3('https://bucket.example/x')`,
  `select * from remote('127.0.0.1', 'system.users')`,
  `select * from postgresql('127.0.0.1:5432', 'longshore', 'app_user', 'longshore', '')`,
  `select * from mysql('127.0.0.1', 'a', 'b', 'c', 'd')`,
  `select * from read_csv('/etc/passwd')`,
  `select * from read_text('/etc/passwd')`,
  `select * from read_parquet('/tmp/*')`,
  `select * from glob('/*')`,
  `select * from '/etc/passwd'`,
  `select * from "/etc/passwd"`,
  `select * from \`/etc/passwd\``,
  `select * from postgres_scan('', 'public', 'app_user')`,
  `select * from system.users`,
  `select * from information_schema.tables`,
  `select * from pg_catalog.pg_tables`,
  `select * from sqlite_master`,
  `select * from duckdb_settings()`,
  `select * from duckdb_tables()`,
  `select * from app_user`,
  `select * from numbers(1000000000000)`,
  `select getenv('PATH')`,
  `select current_setting('home_directory')`,
  `select getSetting('x')`,
  `select pg_sleep(10)`,
  `select sleep(3)`,
  `select sleepEachRow(3)`,
  `select file('/etc/passwd')`,
  `select read_blob('/etc/passwd')`,
  `select dictGet('a', 'b', 1)`,
  `select joinGet('a', 'b', 1)`,
  `select runningAccumulate(1)`,
  `select query('select 1')`,
  `select query_table('events')`,
  `select 1; drop table events`,
  `select 1; copy (select 1) to '/tmp/x'`,
  `attach '/tmp/x.db'`,
  `install httpfs`,
  `load httpfs`,
  `pragma database_list`,
  `set memory_limit = '100GB'`,
  `call pragma_version()`,
  `insert into events values (1)`,
  `create table x as select 1`,
  `select 1 into outfile '/tmp/x'`,
  `select 1 from events settings max_execution_time = 0`,
  `select 1 from events format Native`,
  `explain select 1`,
]

const queries = attackEach<Scene, string>(
  'S3',
  QUERIES,
  (query) => query,
  async (scene, query) => {
    const reply = await ask(scene, query)
    expect(reply.status).toBe(400)
    expect(JSON.stringify(reply.body)).not.toMatch(/root:|duckdb|\/tmp\/longshore/i)
    expect((await ask(scene, 'select 1')).body.results).toEqual([[1]])
  },
)

/** Ways out of a quoted text, and of a quoted name: these are data, and stay so. */
const QUOTES = [
  `' or 1=1 --`,
  `\\' or 1=1 --`,
  `'); drop table events; --`,
  `" or ""="`,
  '`x`',
  `$$x$$`,
  `%' or '%`,
  `\u0000`,
]

const literals = attackEach<Scene, string>(
  'S3',
  QUOTES.slice(0, -1),
  (text) => `a value of a query and of a filter: ${text}`,
  async (scene, text) => {
    const { call, home } = scene
    expect((await ask(scene, 'select {v}', { values: { v: text } })).body.results).toEqual([[text]])
    const project = `/api/projects/${home.project.id}`
    const properties = JSON.stringify([{ key: text, value: text, operator: 'exact', type: 'event' }])
    for (const query of [
      `event=${encodeURIComponent(text)}`,
      `properties=${encodeURIComponent(properties)}`,
      `distinct_id=${encodeURIComponent(text)}`,
    ]) {
      const { status, body } = await call('GET', `${project}/events/?${query}`, { key: home.owner.key })
      expect([query, status, body.results]).toEqual([query, 200, []])
    }
    const search = `${project}/persons/?search=${encodeURIComponent(text)}`
    expect((await call('GET', search, { key: home.owner.key })).body.results).toEqual([])
  },
)

const tenants = attack<Scene>(
  'S3',
  'a condition that would show the events of another project',
  async (scene) => {
    const { call, victim } = scene
    const event = { api_key: victim.project.api_token, event: 'of-the-victim', distinct_id: 'v' }
    expect((await call('POST', '/capture/', { body: event })).status).toBe(200)
    for (const query of [
      `select count() from events where event = 'of-the-victim' or 1 = 1 having count() > 0 and 1 = 0`,
      `select count() from events where event = 'of-the-victim' or true and event = 'of-the-victim'`,
      `select count() from (select * from events union all select * from events) where event = 'of-the-victim'`,
      `with events as (select * from events) select count() from events where event = 'of-the-victim'`,
    ]) {
      const { status, body } = await ask(scene, query)
      expect([query, status, body.results?.flat().every((count: number) => count === 0)]).toEqual([
        query,
        200,
        true,
      ])
    }
  },
)

/** Where each kind takes names: quotes, comments, breaks and ends of statements in them. */
const NAMES: Record<string, readonly string[]> = {
  Postgres: ['database', 'schema', 'table_name'],
  Redshift: ['database', 'schema', 'table_name'],
  Snowflake: ['account', 'database', 'warehouse', 'schema', 'table_name', 'role'],
  BigQuery: ['project_id', 'dataset_id', 'table_id'],
  ClickHouse: ['database', 'table_name', 'user'],
  Databricks: ['catalog', 'schema', 'table_name'],
}
const HOSTILE = [
  `x"; drop table y; --`,
  `x'; drop table y; --`,
  'x`; drop table y; --',
  `x\u0000y`,
  `x\ny`,
  `\\`,
  `../x`,
]

/** A name is refused, or taken as it is: what is made of it is asked of the databases themselves. */
const names = Object.entries(NAMES).flatMap(([type, fields]) =>
  attackEach<Scene, string>(
    'S3',
    fields,
    (field) => `${type}: quotes, breaks and comments in ${field}`,
    async ({ call, exports, home }, field) => {
      for (const name of HOSTILE) {
        const config: JsonObject = { ...CONFIGS[type], [field]: name }
        const made = await call('POST', exports, { key: home.owner.key, body: exportTo(type, config) })
        expect([name, made.status]).toEqual([
          name,
          name.includes('\u0000') ? 400 : expect.toBeOneOf([201, 400]),
        ])
        if (made.status === 400) continue
        expect(made.body.destination.config[field]).toBe(name)
        await call('DELETE', `${exports}${made.body.id}/`, { key: home.owner.key })
      }
    },
  ),
)

export const attacks: Attack<Scene>[] = [...queries, ...literals, tenants, ...names]
