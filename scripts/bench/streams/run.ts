// `npm run bench -- streams`: a thousand open streams of events, as many as a server takes. What they cost while nothing
// happens, how soon an event is with all of them, and how soon a stream ends whose key was deleted.
import { request, type ClientRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuSecondsOf, memoryMbOf } from '../../../test/end-to-end/processes.ts'
import { readFirstStart } from '../../../test/end-to-end/first-start.ts'
import { buildProgram } from '../../../test/end-to-end/program.ts'

const STREAMS = 1_000
const PER_KEY = 20
const PER_ORGANIZATION = 250
/** A server takes 256 connections of one address. */
const PER_ADDRESS = 200
const IDLE_S = 20
const ROUNDS = 5
const PATIENCE_MS = 120_000

type Place = { project_id: number; token: string; key: string; key_id: string; organization_id: string }
type Stream = { place: Place; events: number; is_over: boolean; end(): void }
type Call = (method: string, path: string, body?: object) => Promise<Record<string, unknown>>

export async function benchStreams(): Promise<boolean> {
  const program = await buildProgram()
  try {
    const server = program.serve({ DATA_DIR: program.newDataDir(), RATE_LIMITS: 'off', LOG_LEVEL: 'error' })
    const { url, key } = await readFirstStart(server)
    const call = caller(url, key)
    const places = await makePlaces(call)
    const before_mb = await memoryMbOf(server.pid)
    const streams: Stream[] = []
    for (let n = 0; n < STREAMS; n++) {
      const from = `127.0.0.${2 + Math.floor(n / PER_ADDRESS)}`
      streams.push(await open(url, places[Math.floor(n / PER_KEY)]!, from))
    }
    const used = await cpuSecondsOf(server.pid)
    await sleep(IDLE_S * 1000)
    const share = ((await cpuSecondsOf(server.pid)) - used) / IDLE_S
    const grown_mb = (await memoryMbOf(server.pid)) - before_mb
    console.log(
      `${STREAMS} streams at rest: ${(share * 100).toFixed(1)} % of a core, ${Math.round(grown_mb)} MB`,
    )

    const delays_ms: number[] = []
    const { project_id, token } = places[0]!
    const watching = streams.filter(({ place }) => place.project_id === project_id)
    for (let round = 1; round <= ROUNDS; round++) {
      const sent = performance.now()
      const body = JSON.stringify({ api_key: token, event: 'news', distinct_id: 'd' })
      await fetch(`${url}/capture/`, { method: 'POST', body })
      await until(() => watching.every(({ events }) => events === round))
      delays_ms.push(Math.round(performance.now() - sent))
    }
    console.log(
      `an event is with all ${watching.length} streams of its project after ${delays_ms.join(', ')} ms`,
    )

    const ends_ms: number[] = []
    for (const place of places.slice(-ROUNDS)) {
      const own = streams.filter((stream) => stream.place === place)
      const ended = performance.now()
      await call('DELETE', `/api/organizations/${place.organization_id}/service_keys/${place.key_id}/`)
      await until(() => own.every(({ is_over }) => is_over))
      ends_ms.push(Math.round(performance.now() - ended))
    }
    console.log(`all streams of a deleted key have ended after ${ends_ms.join(', ')} ms`)
    for (const stream of streams) stream.end()
    server.kill('SIGTERM')
    return (await server.ended).code === 0
  } finally {
    await program.remove()
  }
}

/** One for each key, with the project it looks at. */
async function makePlaces(call: Call): Promise<Place[]> {
  const places: Place[] = []
  while (places.length < STREAMS / PER_KEY) {
    const organization = await call('POST', '/api/organizations/', { name: 'Bench' })
    const base = `/api/organizations/${String(organization.id)}`
    const projects = (await call('GET', `${base}/projects/`)).results as { id: number }[]
    const { api_token: token } = await call('GET', `/api/projects/${projects[0]!.id}/`)
    const second = await call('POST', `${base}/projects/`, { name: 'Second' })
    for (let n = 0; n < Math.floor(PER_ORGANIZATION / PER_KEY); n++) {
      const made = await call('POST', `${base}/service_keys/`, { label: 'Bench', scopes: ['query:read'] })
      const project = n % 2 ? { id: second.id, token: second.api_token } : { id: projects[0]!.id, token }
      places.push({
        project_id: Number(project.id),
        token: String(project.token),
        key: String(made.value),
        key_id: String(made.id),
        organization_id: String(organization.id),
      })
    }
  }
  return places.slice(0, STREAMS / PER_KEY)
}

function caller(url: string, key: string): Call {
  return async (method, path, body) => {
    const reply = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const text = await reply.text()
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`)
    return (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>
  }
}

function open(url: string, place: Place, localAddress: string): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const asked: ClientRequest = request({
      host: hostname,
      port,
      path: `/api/projects/${place.project_id}/events/stream/`,
      headers: { authorization: `Bearer ${place.key}` },
      agent: false,
      localAddress,
    })
    const stream: Stream = { place, events: 0, is_over: false, end: () => void asked.destroy() }
    asked.on('error', reject).on('response', (response) => {
      if (response.statusCode !== 200)
        return reject(new Error(`a stream was refused: ${response.statusCode}`))
      response.on('data', (chunk: Buffer) => {
        stream.events += chunk.toString().split('event: event\n').length - 1
      })
      response.on('close', () => (stream.is_over = true)).on('error', () => undefined)
      resolve(stream)
    })
    asked.end()
  })
}

async function until(isSo: () => boolean): Promise<void> {
  const limit = performance.now() + PATIENCE_MS
  while (!isSo()) {
    if (performance.now() > limit) throw new Error('streams did not do what they should within two minutes')
    await sleep(5)
  }
}
