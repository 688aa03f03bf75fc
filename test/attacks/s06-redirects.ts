// Servers outside that send their callers inside.
import { expect } from 'vitest'
import { withHost } from '../../src/features/batch-exports/fixture/every-kind.ts'
import { attackEach, type Attack } from './attack.ts'
import { runSource } from './app-trial.ts'
import { assertNobodyCalled, exportTo } from './s01-s02-outbound.ts'
import { CONFIGS, OUTSIDE, type Scene } from './scene.ts'

const STATUSES = [301, 302, 303, 307, 308]

async function whileRedirecting(
  scene: Scene,
  status: number,
  location: string,
  work: () => Promise<void>,
): Promise<void> {
  const { outside } = scene
  const before = outside.requests.length
  outside.react = { status, headers: { location } }
  try {
    await assertNobodyCalled(scene, work)
  } finally {
    outside.react = { status: 200 }
  }
  expect(outside.requests.length, 'calls of the outside').toBeGreaterThan(before)
}

const destinations = ['HTTP', 'S3', 'AzureBlob'].flatMap((type) =>
  attackEach<Scene, number>(
    'S6',
    STATUSES,
    (status) => `${type}: a redirect of ${status} to this machine`,
    (scene, status) =>
      whileRedirecting(scene, status, `http://127.0.0.1:${scene.inner.port}/`, async () => {
        const port = Number(new URL(scene.outside.url).port)
        const body = exportTo(type, withHost(type, CONFIGS[type]!, OUTSIDE, port)!)
        const path = `${scene.exports}run_test_step_new/`
        const reply = await scene.call('POST', path, { key: scene.home.owner.key, body })
        expect([reply.status, reply.body.result.status]).toEqual([200, 'Failed'])
      }),
  ),
)

const HOPS = [
  'http://127.0.0.1:PORT/',
  'http://2130706433:PORT/',
  'http://[::1]:PORT/',
  'http://[::ffff:127.0.0.1]:PORT/',
  'http://inner.example:PORT/',
  'http://outside.example@127.0.0.1:PORT/',
  '//127.0.0.1:PORT/',
  'file:///etc/passwd',
]

const apps = attackEach<Scene, string>(
  'S6',
  HOPS,
  (hop) => `an app that fetches what redirects to ${hop}`,
  async (scene, hop) => {
    scene.dns.setAddresses('inner.example', ['127.0.0.1'])
    const source = `export async function processEvent(event) {
      try { event.properties.said = 'answered ' + (await fetch(${JSON.stringify(scene.outside.url)})).status }
      catch (error) { event.properties.said = error.message }
      return event
    }`
    const trial = { event: {}, fetch: true }
    await whileRedirecting(scene, 302, hop.replace('PORT', String(scene.inner.port)), async () => {
      const { event } = await runSource(scene, source, trial)
      expect(event.properties.said).toMatch(/^This address may not be called/)
    })
    expect((await runSource(scene, source, trial)).event.properties.said).toBe('answered 200')
  },
)

export const attacks: Attack<Scene>[] = [...destinations, ...apps]
