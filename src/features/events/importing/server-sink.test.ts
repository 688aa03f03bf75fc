// Sending to a server that is busy, gone for a while, or refuses.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import type { PipelineEvent } from '../pipeline-event.ts'
import { openServerSink } from './server-sink.ts'

type Body = { api_key: string; historical_migration: boolean; batch: { event: string; timestamp: string }[] }
type Reply = { status: number; body?: unknown; headers?: Record<string, string> }

let server: Server | null = null
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
  server = null
})

/** What it was sent, by what `reply` says. */
async function start(reply: (body: Body, count: number) => Reply | 'hang up') {
  const bodies: Body[] = []
  const paths: string[] = []
  const answerTo = async (request: IncomingMessage, response: ServerResponse) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const body = JSON.parse(gunzipSync(Buffer.concat(parts)).toString()) as Body
    bodies.push(body)
    paths.push(`${request.method} ${request.url}`)
    const answer = reply(body, bodies.length)
    if (answer === 'hang up') return void request.socket.destroy()
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
    response.end(JSON.stringify(answer.body ?? { status: 1 }))
  }
  server = createServer((request, response) => void answerTo(request, response))
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const sink = openServerSink({ url, token: 'phc_x', first_pause_ms: 1, max_tries: 4 })
  return { sink, bodies, paths, url }
}

const events = (...names: string[]): PipelineEvent[] =>
  names.map((event) => ({
    uuid: '0190a6b2-7e4c-7b9a-8d51-3f1f6a3c9e21',
    event,
    distinct_id: 'ada',
    properties: { a: 1 },
    timestamp: 1_746_515_289_123_456n,
    created_at: 0n,
  }))

describe('sending', () => {
  it('a batch with token and times, and no time of sending that would shift them', async () => {
    const { sink, bodies, paths } = await start(() => ({ status: 200 }))
    expect(await sink.accept(events('a', 'b'), 0)).toEqual([])
    expect(paths).toEqual(['POST /batch/'])
    const event = { uuid: '0190a6b2-7e4c-7b9a-8d51-3f1f6a3c9e21', distinct_id: 'ada', properties: { a: 1 } }
    const timestamp = '2025-05-06T07:08:09.123456Z'
    expect(bodies).toEqual([
      {
        api_key: 'phc_x',
        historical_migration: true,
        batch: [
          { ...event, event: 'a', timestamp },
          { ...event, event: 'b', timestamp },
        ],
      },
    ])
    expect(sink.stored()).toBeNull()
  })

  it('nothing for an empty batch', async () => {
    const { sink, bodies } = await start(() => ({ status: 200 }))
    expect(await sink.accept([], 0)).toEqual([])
    expect(bodies).toEqual([])
  })

  it('again after 503, 429 and a broken connection', async () => {
    const replies: (Reply | 'hang up')[] = [{ status: 503 }, 'hang up', { status: 429 }, { status: 200 }]
    const { sink, bodies } = await start((_, count) => replies[count - 1]!)
    expect(await sink.accept(events('a'), 0)).toEqual([])
    expect(bodies).toHaveLength(4)
  })

  it('waits as long as it is asked to', async () => {
    const { sink } = await start((_, count) =>
      count === 1 ? { status: 503, headers: { 'retry-after': '1' } } : { status: 200 },
    )
    const started = Date.now()
    await sink.accept(events('a'), 0)
    expect(Date.now() - started).toBeGreaterThanOrEqual(990)
  })

  it('gives up after some tries, and says why', async () => {
    const { sink, bodies, url } = await start(() => ({ status: 503, body: { detail: 'The store is busy.' } }))
    await expect(sink.accept(events('a'), 0)).rejects.toThrow(
      `${url} accepted nothing in 4 tries: 503 The store is busy.`,
    )
    expect(bodies).toHaveLength(4)
    server!.closeAllConnections()
    server!.close()
    await expect(sink.accept(events('a'), 0)).rejects.toThrow(/in 4 tries: .*ECONNREFUSED/)
  })

  it.each([401, 403, 404, 301])('stops at once at %i', async (status) => {
    const { sink, bodies } = await start(() => ({
      status,
      body: { detail: 'No.' },
      headers: { location: '/x' },
    }))
    await expect(sink.accept(events('a', 'b'), 0)).rejects.toThrow(`answers ${status}: No.`)
    expect(bodies).toHaveLength(1)
  })

  it.each([400, 413])(
    'finds the events that are refused with %i; the others go in, once each',
    async (status) => {
      const taken: string[] = []
      const { sink } = await start(({ batch }) => {
        if (batch.some(({ event }) => event.startsWith('bad')))
          return { status, body: { detail: 'Bad event.' } }
        taken.push(...batch.map(({ event }) => event))
        return { status: 200 }
      })
      const refused = await sink.accept(events('a', 'b', 'bad1', 'c', 'd', 'e', 'bad2'), 0)
      expect(refused).toEqual([
        { index: 2, reason: `the server refuses it (${status}): Bad event.` },
        { index: 6, reason: `the server refuses it (${status}): Bad event.` },
      ])
      expect(taken).toEqual(['a', 'b', 'c', 'd', 'e'])
    },
  )
})
