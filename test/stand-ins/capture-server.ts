// An endpoint on loopback that takes batches of events as PostHog's capture does, and is strict about it. A test may have
// it answer otherwise, or cut the connection before or after it has taken a batch.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type CapturedEvent = {
  uuid: string
  distinct_id: string
  timestamp: string
  event: string
  properties: Record<string, unknown>
}

export type CapturedBatch = {
  run_id: string | undefined
  sequence: string | undefined
  bytes: number
  events: CapturedEvent[]
}

export type Answer = (response: ServerResponse, request: IncomingMessage) => void

export type CaptureStandIn = {
  url: string
  /** Batches that were taken, in order, repeated ones too. */
  batches: CapturedBatch[]
  /** Requests so far, whatever became of them. */
  requests(): number
  /** How the next requests are answered, one each, instead of being taken. */
  answerNext(...answers: Answer[]): void
  reset(): void
  count(): number
  cutAt(exchange: number, when: 'before' | 'after'): void
  close(): Promise<void>
}

/** Takes batches under this token. */
export async function startCaptureServer(token: string): Promise<CaptureStandIn> {
  const batches: CapturedBatch[] = []
  const answers: Answer[] = []
  let requests = 0
  let count = 0
  let cut: { exchange: number; when: 'before' | 'after' } | null = null

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    requests += 1
    count += 1
    const when = cut?.exchange === count ? cut.when : null
    if (when === 'before') return request.socket.destroy()
    const scripted = answers.shift()
    if (scripted) return scripted(response, request)
    const body = await readBody(request)
    const fault = faultOf(request, body, token)
    if (fault !== null) return response.writeHead(fault.status).end(fault.message)
    const { batch } = JSON.parse(body) as { batch: CapturedEvent[] }
    const header = (name: string) => [request.headers[name]].flat()[0]
    batches.push({
      run_id: header('x-batch-export-run-id'),
      sequence: header('x-batch-sequence'),
      bytes: Buffer.byteLength(body),
      events: batch,
    })
    if (when === 'after') return request.socket.destroy()
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":1}')
  }
  const server = createServer(
    (request, response) => void serve(request, response).catch(() => response.destroy()),
  )
  // Five seconds by default: on a slow machine it would hang up on a client that is about to send its next batch.
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/batch/`,
    batches,
    requests: () => requests,
    answerNext: (...next) => void answers.push(...next),
    reset: () => {
      count = 0
      cut = null
    },
    count: () => count,
    cutAt: (exchange, when) => {
      cut = { exchange, when }
    },
    async close() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/
const keysOf = (value: object) => Object.keys(value).toSorted().join()

function faultOf(
  { method, headers }: IncomingMessage,
  text: string,
  token: string,
): { status: number; message: string } | null {
  const fault = (message: string, status = 400) => ({ status, message })
  if (method !== 'POST') return fault('not a POST', 405)
  if (headers['content-type'] !== 'application/json') return fault('no JSON by its type', 415)
  const body = JSON.parse(text) as Record<string, unknown>
  if (keysOf(body) !== 'api_key,batch,historical_migration') return fault(`keys are ${keysOf(body)}`)
  if (body.api_key !== token) return fault(`invalid token ${String(body.api_key)}`, 401)
  if (body.historical_migration !== true || !Array.isArray(body.batch)) return fault('no batch of old events')
  if (body.batch.length > 5000 || Buffer.byteLength(text) > 50_000_000) return fault('too large', 413)
  const wrong = body.batch.find((event) => !isEvent(event))
  return wrong === undefined ? null : fault(`no event: ${JSON.stringify(wrong)}`)
}

function isEvent(event: CapturedEvent): boolean {
  return (
    keysOf(event) === 'distinct_id,event,properties,timestamp,uuid' &&
    UUID.test(event.uuid) &&
    INSTANT.test(event.timestamp) &&
    typeof event.event === 'string' &&
    typeof event.distinct_id === 'string' &&
    event.properties.$geoip_disable === true
  )
}
