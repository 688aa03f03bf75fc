// Destinations and apps that are to call this machine or its network: at every kind of them, and at every door.
import { expect } from 'vitest'
import { TYPES, withHost } from '../../src/features/batch-exports/fixture/every-kind.ts'
import type { JsonObject } from '../../src/lib/json-object.ts'
import type { Reply } from '../harness/app.ts'
import { attackEach, type Attack } from './attack.ts'
import { runSource } from './app-trial.ts'
import { CONFIGS, NOWHERE, type Scene } from './scene.ts'

export const TYPES_WITH_HOST = TYPES.filter((type) => withHost(type, {}, 'x') !== undefined)

export const exportTo = (type: string, config: JsonObject) => ({
  name: 'Out',
  interval: 'hour',
  paused: true,
  destination: { type, config },
})

/** An export as everybody may have it, to a name outside; gone after the work. */
export async function withExport(
  { call, exports, home: { owner } }: Scene,
  type: string,
  work: (id: string) => Promise<unknown> = async () => undefined,
  config = CONFIGS[type]!,
): Promise<void> {
  const made = await call('POST', exports, { key: owner.key, body: exportTo(type, config) })
  expect(made.status).toBe(201)
  await work(made.body.id)
  expect((await call('DELETE', `${exports}${made.body.id}/`, { key: owner.key })).status).toBe(204)
}

export async function assertNobodyCalled({ inner }: Scene, work: () => Promise<void>): Promise<void> {
  const before = inner.connections
  await work()
  expect(inner.connections).toBe(before)
}

function inward(scene: Scene, type: string, host = '127.0.0.1'): JsonObject {
  return withHost(type, CONFIGS[type]!, host, scene.inner.port)!
}

const refused = (reply: Reply) => {
  expect(reply.status).toBe(400)
  expect(reply.body.attr).toMatch(/^destination/)
  expect(JSON.stringify(reply.body)).not.toContain('stored ')
}

/** Every way to have a configuration saved or tried, below the three paths that lead to exports. */
const DOORS: [string, (scene: Scene, id: string, type: string, config: JsonObject) => Promise<Reply>][] = (
  ['projects', 'environments', 'organizations'] as const
).flatMap((parent) => {
  const base = ({ home }: Scene) =>
    `/api/${parent}/${parent === 'organizations' ? home.organization.id : home.project.id}/batch_exports/`
  const send = (scene: Scene, method: string, path: string, body: unknown) =>
    scene.call(method, `${base(scene)}${path}`, { key: scene.home.owner.key, body })
  const doors: typeof DOORS = [
    [`POST below ${parent}`, (scene, _id, type, config) => send(scene, 'POST', '', exportTo(type, config))],
    [
      `PATCH below ${parent}`,
      (scene, id, _type, config) => send(scene, 'PATCH', `${id}/`, { destination: { config } }),
    ],
    [
      `PUT below ${parent}`,
      (scene, id, type, config) => send(scene, 'PUT', `${id}/`, exportTo(type, config)),
    ],
  ]
  if (parent === 'organizations') return doors
  return [
    ...doors,
    [
      `a test below ${parent}`,
      (scene, id, _type, config) => send(scene, 'POST', `${id}/run_test_step/`, { destination: { config } }),
    ],
    [
      `a test before saving, below ${parent}`,
      (scene, _id, type, config) =>
        send(scene, 'POST', 'run_test_step_new/', { destination: { type, config } }),
    ],
  ]
})

const destinations = attackEach<Scene, string>(
  'S1',
  TYPES_WITH_HOST,
  (type) => `a destination of type ${type} on this machine`,
  (scene, type) =>
    assertNobodyCalled(scene, async () => {
      const { call, exports, home } = scene
      for (const path of [exports, `${exports}run_test_step_new/`])
        refused(await call('POST', path, { key: home.owner.key, body: exportTo(type, inward(scene, type)) }))
      await withExport(scene, type)
    }),
)

const sources = attackEach<Scene, string>(
  'S1',
  [
    'http://127.0.0.1:PORT/app',
    'https://127.0.0.1:PORT/posthog/app',
    'file:///etc',
    'ftp://127.0.0.1/app',
    'https://github.com@127.0.0.1:PORT/a/b',
    'https://github.com.localhost:PORT/a/b',
    'https://www.npmjs.com@127.0.0.1:PORT/package/x',
  ],
  (url) => `the code of an app from ${url}`,
  (scene, url) =>
    assertNobodyCalled(scene, async () => {
      const { call, home, inner } = scene
      const plugins = `/api/organizations/${home.organization.id}/plugins/`
      const body = { url: url.replace('PORT', String(inner.port)), plugin_type: 'custom' }
      expect((await call('POST', plugins, { key: home.owner.key, body })).status).toBe(400)
      expect((await call('POST', plugins, { key: home.owner.key, body: { name: 'Own' } })).status).toBe(201)
    }),
)

const fetches = attackEach<Scene, [string, (port: number) => string]>(
  'S1',
  [
    ['loopback', (port) => `http://127.0.0.1:${port}/`],
    ['a name of loopback', (port) => `http://localhost:${port}/`],
    ['IPv6', (port) => `http://[::1]:${port}/`],
    ['metadata of a cloud', () => 'http://169.254.169.254/latest/meta-data/'],
    ['a file', () => 'file:///etc/passwd'],
    ['a login before the host', (port) => `http://outside.example@127.0.0.1:${port}/`],
  ],
  ([name]) => `an app that fetches ${name}`,
  (scene, [, url]) =>
    assertNobodyCalled(scene, async () => {
      const fetches = (to: string) => `export async function processEvent(event) {
        try { event.properties.said = (await fetch(${JSON.stringify(to)})).status } catch (e) { event.properties.said = e.message }
        return event
      }`
      const trial = { event: {}, fetch: true }
      const { event } = await runSource(scene, fetches(url(scene.inner.port)), trial)
      expect(event.properties.said).toMatch(/^This address may not be called/)
      expect((await runSource(scene, fetches(scene.outside.url), trial)).event.properties.said).toBe(200)
    }),
)

const doors = ['HTTP', 'Postgres', 'S3'].flatMap((type) =>
  attackEach<Scene, (typeof DOORS)[number]>(
    'S2',
    DOORS,
    ([door]) => `${type}: an inner address by ${door}`,
    (scene, [, knock]) =>
      assertNobodyCalled(scene, () =>
        withExport(scene, type, async (id) => {
          const read = () => scene.call('GET', `${scene.exports}${id}/`, { key: scene.home.owner.key })
          const before = (await read()).body.destination
          refused(await knock(scene, id, type, inward(scene, type)))
          expect((await read()).body.destination).toEqual(before)
        }),
      ),
  ),
)

const turning = attackEach<Scene, string>(
  'S2',
  TYPES_WITH_HOST,
  (type) => `${type}: a name that turns inward between saving and the test`,
  (scene, type) =>
    assertNobodyCalled(scene, async () => {
      const { call, dns, exports, home } = scene
      const name = `turning-${type.toLowerCase()}.example`
      dns.setAddresses(name, [NOWHERE])
      const test = async (id: string) => {
        // Public for the check, inner for whoever asks again.
        dns.setAddresses(name, [NOWHERE], ['127.0.0.1'])
        const path = `${exports}${id}/run_test_step/`
        const { status, body } = await call('POST', path, { key: home.owner.key, body: {} })
        expect([status, body.result.status]).toEqual([200, 'Failed'])
      }
      await withExport(scene, type, test, inward(scene, type, name))
    }),
)

const runs = attackEach<Scene, string>(
  'S2',
  TYPES_WITH_HOST,
  (type) => `${type}: a run to a name that turned inward after saving`,
  (scene, type) =>
    assertNobodyCalled(scene, async () => {
      const { call, dns, home } = scene
      const { key } = home.owner
      const name = `run-${type.toLowerCase()}.example`
      dns.setAddresses(name, [NOWHERE])
      const project = (await call('POST', '/api/projects/', { key, body: { name: type } })).body
      const sent = { api_key: project.api_token, event: 'seen', distinct_id: 'ann', timestamp: ago(3) }
      expect((await call('POST', '/capture/', { body: sent })).status).toBe(200)
      const exports = `/api/projects/${project.id}/batch_exports/`
      const body = { ...exportTo(type, inward(scene, type, name)), paused: false }
      const { id } = (await call('POST', exports, { key, body })).body
      dns.setAddresses(name, ['127.0.0.1'])
      const range = { start_at: ago(5), end_at: ago(1) }
      expect((await call('POST', `${exports}${id}/backfills/`, { key, body: range })).status).toBe(201)
      const errors = async () => {
        const { results } = (await call('GET', `${exports}${id}/runs/`, { key })).body
        return results.map(({ latest_error }: { latest_error: unknown }) => String(latest_error)).join()
      }
      await expect.poll(errors).toMatch(/may not be called/)
      expect((await call('DELETE', `/api/projects/${project.id}/`, { key })).status).toBe(204)
    }),
)

const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString()

export const attacks: Attack<Scene>[] = [
  ...destinations,
  ...sources,
  ...fetches,
  ...doors,
  ...turning,
  ...runs,
]
