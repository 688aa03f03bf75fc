// Names of files that lead out of their folder, options that drivers would understand, and cells that are formulas.
import { expect } from 'vitest'
import type { JsonObject } from '../../src/lib/json-object.ts'
import { REFUSED_PREFIXES } from '../../src/features/batch-exports/fixture/hostile-values.ts'
import { attack, attackEach, type Attack } from './attack.ts'
import { exportTo, withExport } from './s01-s02-outbound.ts'
import { CONFIGS, type Scene } from './scene.ts'

const prefixes = attackEach<Scene, string>(
  'S21',
  REFUSED_PREFIXES,
  (prefix) => `files below ${JSON.stringify(prefix).slice(0, 30)}`,
  async (scene, prefix) => {
    const { call, exports, home } = scene
    for (const type of ['File', 'S3', 'AzureBlob']) {
      const body = exportTo(type, { ...CONFIGS[type], prefix })
      expect([type, (await call('POST', exports, { key: home.owner.key, body })).status]).toEqual([type, 400])
    }
    await withExport(scene, 'File', undefined, { prefix: '{year}/plain' })
  },
)

const OPTIONS: [string, JsonObject][] = [
  ['Postgres', { connectionString: 'postgres://127.0.0.1/' }],
  ['Postgres', { options: '-c session_preload_libraries=x' }],
  ['Postgres', { sslmode: 'disable' }],
  ['Postgres', { ssl: { rejectUnauthorized: false } }],
  ['Postgres', { host: '/var/run/postgresql' }],
  ['Postgres', { host: 'db.example?sslmode=disable' }],
  ['Redshift', { application_name: 'x', driver: 'x' }],
  ['Snowflake', { accessUrl: 'http://127.0.0.1/' }],
  ['Snowflake', { proxyHost: '127.0.0.1' }],
  ['Snowflake', { account: 'acme.example.com/' }],
  ['BigQuery', { apiEndpoint: 'http://127.0.0.1/' }],
  ['BigQuery', { credentials: { type: 'external_account' } }],
  ['ClickHouse', { url: 'https://clickhouse.example/?query=drop' }],
  ['ClickHouse', { settings: { allow_experimental: 1 } }],
  ['Databricks', { http_path: '/sql/1.0/warehouses/../../api' }],
  ['S3', { credential_process: 'id' }],
  ['S3', { requestHandler: {} }],
  ['AzureBlob', { connection_string: 'UseDevelopmentStorage=true' }],
  ['File', { path: '/etc', root: '/' }],
  ['HTTP', { headers: { host: '127.0.0.1' } }],
]

const options = attackEach<Scene, (typeof OPTIONS)[number]>(
  'S21',
  OPTIONS,
  ([type, given]) => `${type} with ${JSON.stringify(given)}`,
  async (scene, [type, given]) => {
    const { call, exports, home } = scene
    const body = exportTo(type, { ...CONFIGS[type], ...given })
    const reply = await call('POST', exports, { key: home.owner.key, body })
    expect(reply).toMatchObject({ status: 400, body: { attr: expect.stringMatching(/^destination/) } })
    await withExport(scene, type)
  },
)

/** A cloud's roles: only keys can be given. */
const roles = attackEach<Scene, string>(
  'S27',
  ['role_arn', 'aws_role_arn', 'external_id', 'assume_role', 'aws_session_token'],
  (field) => `S3 with ${field}`,
  async (scene, field) => {
    const { call, exports, home } = scene
    const body = exportTo('S3', { ...CONFIGS.S3, [field]: 'arn:aws:iam::123456789012:role/x' })
    expect((await call('POST', exports, { key: home.owner.key, body })).status).toBe(400)
    await withExport(scene, 'S3')
  },
)

const FORMULAS = [
  '=1+1',
  '+1+1',
  '-1+1',
  '@SUM(1)',
  '\t=1',
  '\r=1',
  '=cmd|" /C calc"!A0',
  '=HYPERLINK("http://evil.example")',
]

const formulas = attackEach<Scene, string>(
  'S22',
  FORMULAS,
  (cell) => `a cell ${JSON.stringify(cell)}`,
  async ({ call, home }, cell) => {
    const sent = {
      api_key: home.project.api_token,
      event: `csv ${cell.trim()}`,
      distinct_id: cell,
      properties: { [cell]: cell },
    }
    expect((await call('POST', '/e/', { body: sent })).status).toBe(200)
    const query = `?event=${encodeURIComponent(sent.event)}`
    const base = `/api/projects/${home.project.id}/events`
    const csv = String((await call('GET', `${base}.csv${query}`, { key: home.owner.key })).body)
    expect(csv).toContain(`'${cell.replaceAll('"', '""')}`)
    for (const text of csv.split(/\r\n|,/)) expect(text).not.toMatch(/^"?[=+@\t]/)
    const json = (await call('GET', `${base}/${query}`, { key: home.owner.key })).body.results[0]
    expect([json.distinct_id, json.properties[cell]]).toEqual([cell, cell])
  },
)

const separated = attack<Scene>(
  'S22',
  'a list of events in CSV, asked for by its format',
  async ({ call, home }) => {
    const sent = { api_key: home.project.api_token, event: '=named', distinct_id: 'd' }
    expect((await call('POST', '/e/', { body: sent })).status).toBe(200)
    const path = `/api/projects/${home.project.id}/events.csv?event=%3Dnamed`
    const { body, headers } = await call('GET', path, { key: home.owner.key })
    expect(headers['content-type']).toContain('text/csv')
    expect(headers['x-content-type-options']).toBe('nosniff')
    expect(String(body)).toContain(`'=named`)
  },
)

export const attacks: Attack<Scene>[] = [...prefixes, ...options, ...roles, ...formulas, separated]
