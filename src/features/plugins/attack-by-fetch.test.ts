// Apps that try to reach what lies inside: every spelling is refused, the app is told so, and nothing is dialled.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { OutboundRefused } from '../../platform/outbound/errors.ts'
import { openOutbound, type Outbound } from '../../platform/outbound/outbound.ts'
import { openAttackScene, type AttackScene } from './fixture/attack-scene.ts'
import { disguisedUrls, innerHosts, urlsOfOtherSchemes } from './fixture/inner-addresses.ts'

const REFUSED = /^This address may not be called: /
const PER_CALL = 40
const TRIES = `
  export async function onEvent(event) {
    if (event.event !== 'try') return
    const results = await Promise.all(event.properties.urls.map(async (url) => {
      try { return [url, 'answered ' + (await fetch(url)).status] }
      catch (error) { return [url, error.message] }
    }))
    await posthog.capture('tried', { results })
  }`

type Listener = { port: number; connections: number; requests: number }

let app: TestApp
let scene: AttackScene
const closers: (() => unknown)[] = []
beforeAll(async () => void (app = await startTestApp()))
afterAll(() => app.close())
beforeEach(async () => void (scene = await openAttackScene(app)))
afterEach(async () => {
  await scene.close()
  for (const close of closers.splice(0)) await close()
})

/** On loopback; sends whoever asks for /?to=… there. */
async function listen(): Promise<Listener> {
  const server = createServer((request, response) => {
    listener.requests++
    const to = new URL(request.url!, 'http://here').searchParams.get('to')
    response.writeHead(to === null ? 200 : 302, to === null ? {} : { location: to }).end()
  })
  server.on('connection', () => listener.connections++)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const listener: Listener = { port: (server.address() as AddressInfo).port, connections: 0, requests: 0 }
  return listener
}

/** Every name is this machine, so that no resolver is asked and nobody else could be dialled. */
function openGate(...allow: string[]): Outbound {
  const own = app.services.outbound
  const outbound = openOutbound({ allow, lookup: async () => [{ address: '127.0.0.1' }] })
  app.services.outbound = outbound
  closers.push(() => {
    app.services.outbound = own
    return outbound.close()
  })
  return outbound
}

/** What the app was told for each. */
async function tell(urls: readonly string[]): Promise<[string, string][]> {
  await scene.install(TRIES)
  const batch = Array.from({ length: Math.ceil(urls.length / PER_CALL) }, (_, index) => ({
    event: 'try',
    properties: { urls: urls.slice(index * PER_CALL, (index + 1) * PER_CALL) },
  }))
  await scene.send(...batch)
  await scene.deliver()
  const tried = (await scene.stored()).filter(({ event }) => event === 'tried')
  return tried.flatMap(({ properties }) => properties.results as [string, string][])
}

/** Without line breaks, and meaning the same when it is read as an answer of another server. */
const isForHeaders = (url: string) => url === url.trim() && !/[\n\t]|^http:\d/.test(url)
const allRefused = (urls: readonly string[]) =>
  new Map(urls.map((url) => [url, expect.stringMatching(REFUSED)]))

it('refuses loopback by the settings everybody starts with', async () => {
  const inner = await listen()
  const urls = ['127.0.0.1', 'localhost', '[::1]', '2130706433'].map(
    (host) => `http://${host}:${inner.port}/`,
  )
  expect(new Map(await tell(urls))).toEqual(allRefused(urls))
  expect(inner.connections).toBe(0)
})

it('refuses every spelling of an inner address and dials none', async () => {
  const inner = await listen()
  const outbound = openGate()
  const hosts = innerHosts()
  // A gate that let one of them through must fail here, before an app has it called.
  for (const host of hosts) await expect(outbound.checkedAddress(host), host).rejects.toThrow(OutboundRefused)
  const urls = hosts.map((host) => `http://${host}:${inner.port}/`)
  expect(urls.length).toBeGreaterThan(200)
  expect(new Map(await tell(urls))).toEqual(allRefused(urls))
  expect(inner.connections).toBe(0)
})

it('refuses addresses in disguise and other schemes', async () => {
  const inner = await listen()
  openGate()
  const urls = [...disguisedUrls(inner.port), ...urlsOfOtherSchemes(inner.port)]
  expect(new Map(await tell(urls))).toEqual(allRefused(urls))
  expect(inner.connections).toBe(0)
})

it('follows no redirect from outside to the inside', async () => {
  const [inner, outside] = [await listen(), await listen()]
  openGate('outside.example')
  const targets = [
    ...['127.0.0.1', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]', 'localhost', 'other.example'].map(
      (host) => `http://${host}:${inner.port}/`,
    ),
    ...disguisedUrls(inner.port).filter(isForHeaders),
    'file:///etc/passwd',
  ]
  const start = `http://outside.example:${outside.port}/`
  const urls = targets.map((target) => `${start}?to=${encodeURIComponent(target)}`)
  const results = new Map(await tell([start, ...urls]))
  expect(results.get(start)).toBe('answered 200')
  results.delete(start)
  expect(results).toEqual(allRefused(urls))
  expect(outside.requests).toBe(urls.length + 1)
  expect(inner.connections).toBe(0)
})
