// Secrets of destinations: that they go where their owner sent them, and that no answer repeats them.
import { expect } from 'vitest'
import { DESTINATIONS } from '../../src/features/batch-exports/destinations/index.ts'
import { OTHER_AIMS, TYPES } from '../../src/features/batch-exports/fixture/every-kind.ts'
import { attack, attackEach, type Attack } from './attack.ts'
import { makeApp } from './app-trial.ts'
import { exportTo, withExport } from './s01-s02-outbound.ts'
import { CONFIGS, type Scene } from './scene.ts'

const TYPES_WITH_SECRETS = TYPES.filter((type) => DESTINATIONS.get(type)!.secrets.length > 0)
const AIMS = TYPES_WITH_SECRETS.flatMap((type) =>
  Object.keys(OTHER_AIMS[type]!).map((aim) => [type, aim] as const),
)

const elsewhere = attackEach<Scene, readonly [string, string]>(
  'S7',
  AIMS,
  ([type, aim]) => `${type}: another ${aim} with the stored secrets`,
  (scene, [type, aim]) =>
    withExport(scene, type, async (id) => {
      const { call, exports, home } = scene
      const config = { [aim]: OTHER_AIMS[type]![aim] }
      for (const [method, path] of [
        ['PATCH', ''],
        ['POST', 'run_test_step/'],
      ] as const) {
        const body = { destination: { config } }
        const reply = await call(method, `${exports}${id}/${path}`, { key: home.owner.key, body })
        expect([method, reply.status]).toEqual([method, 400])
      }
      const renamed = { key: home.owner.key, body: { name: 'Renamed' } }
      expect((await call('PATCH', `${exports}${id}/`, renamed)).status).toBe(200)
    }),
)

const PASTED = 'hunter2-pasted-secret'
const PASTES: [type: string, field: string, value: string][] = [
  ['Postgres', 'host', `postgres://me:${PASTED}@db.example/warehouse`],
  ['Postgres', 'host', `me:${PASTED}@db.example`],
  ['Postgres', 'port', PASTED],
  ['Postgres', 'has_self_signed_cert', PASTED],
  ['Redshift', 'host', `redshift://me:${PASTED}@db.example:5439/dev`],
  ['S3', 'endpoint_url', `http://me:${PASTED}@s3.example`],
  ['S3', 'file_format', PASTED],
  ['HTTP', 'url', `http://me:${PASTED}@capture.example/`],
  ['HTTP', 'url', `http://capture.example:${PASTED}/`],
  ['BigQuery', 'token_uri', `http://me:${PASTED}@token.example/`],
  ['BigQuery', 'project_id', `me:${PASTED}@`],
  ['ClickHouse', 'url', `https://default:${PASTED}@clickhouse.example`],
  ['ClickHouse', 'url', `https://clickhouse.example/?password=${PASTED}`],
  ['Snowflake', 'account', `me:${PASTED}@acme`],
  ['Snowflake', 'authentication_type', PASTED],
  ['Databricks', 'server_hostname', `token:${PASTED}@databricks.example`],
  ['Databricks', 'http_path', `/sql/1.0/warehouses/abc?token=${PASTED}`],
  ['AzureBlob', 'endpoint_url', `http://me:${PASTED}@azure.example`],
  ['AzureBlob', 'account_name', `AccountKey=${PASTED};`],
]

const echoes = attackEach<Scene, (typeof PASTES)[number]>(
  'S8',
  PASTES,
  ([type, field, value]) => `${type}: ${field} ${value.replace(PASTED, '***')}`,
  async ({ call, exports, home, target }, [type, field, value]) => {
    const body = exportTo(type, { ...CONFIGS[type], [field]: value })
    for (const path of [exports, `${exports}run_test_step_new/`]) {
      const reply = await call('POST', path, { key: home.owner.key, body })
      expect(reply).toMatchObject({ status: 400, body: { attr: expect.stringContaining('destination') } })
      expect(JSON.stringify(reply.body)).not.toContain(PASTED)
    }
    expect(target.stdout()).not.toContain(PASTED)
  },
)

const given = attackEach<Scene, string>(
  'S9',
  TYPES_WITH_SECRETS,
  (type) => `${type}: secrets looked for in every answer about an export`,
  (scene, type) =>
    withExport(scene, type, async (id) => {
      const { call, exports, home, target } = scene
      const project = `/api/projects/${home.project.id}`
      const seen = [
        ['GET', exports],
        ['GET', `${exports}${id}/`],
        ['PATCH', `${exports}${id}/`],
        // Others take seconds to find that nobody is there.
        ...(type === 'Postgres' ? ([['POST', `${exports}${id}/run_test_step/`]] as const) : []),
        ['GET', `${exports}${id}/logs/`],
        ['GET', `${exports}status/`],
        ['GET', `${project}/activity_log/`],
        ['GET', `/api/organizations/${home.organization.id}/activity_log/`],
        ['GET', `/api/organizations/${home.organization.id}/batch_exports/`],
      ] as const
      for (const [method, path] of seen) {
        const body = method === 'GET' ? {} : { body: { name: 'Renamed' } }
        const reply = await call(method, path, { key: home.owner.key, ...body })
        expect([path, reply.status]).toEqual([path, 200])
        expect(JSON.stringify(reply.body)).not.toContain('stored ')
      }
      expect(target.stdout()).not.toContain('stored ')
    }),
)

const TOKEN = 'planted-app-secret-91f3'

const appSettings = attack<Scene>(
  'S9',
  'secret settings of an app, looked for in every answer',
  async (scene) => {
    const { call, home, target } = scene
    const { key } = home.owner
    const source =
      'export function processEvent(event, { config }) { event.properties.has = typeof config.token; return event }'
    const config_schema = [{ key: 'token', type: 'string', secret: true }]
    const plugin = await makeApp(scene, source, { config_schema })
    const configs = `/api/projects/${home.project.id}/plugin_configs/`
    const body = { plugin, enabled: true, config: { token: TOKEN } }
    const made = await call('POST', configs, { key, body })
    expect(made.status).toBe(201)
    const one = `${configs}${made.body.id}/`
    const changed = await call('PATCH', one, { key, body: { order: 3 } })
    const seen = [made, changed]
    for (const path of [
      configs,
      one,
      `${one}logs/`,
      `${one}activity/`,
      `/api/projects/${home.project.id}/activity_log/`,
    ])
      seen.push(await call('GET', path, { key }))
    for (const reply of seen) {
      expect(reply.status).toBeLessThan(300)
      expect(JSON.stringify(reply.body)).not.toContain(TOKEN)
    }
    expect(target.stdout()).not.toContain(TOKEN)
    expect((await call('DELETE', one, { key })).status).toBe(204)
  },
)

export const attacks: Attack<Scene>[] = [...elsewhere, ...echoes, ...given, appSettings]
