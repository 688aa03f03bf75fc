// An endpoint on loopback that takes webhooks. Whoever starts it says how it answers; it remembers every request.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Received = {
  event_id: string
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
  /** When it was there as a whole. */
  received_at: number
  /** When it was answered, by the clock of this process; null until then. */
  answered_at: number | null
  reaction: Reaction | null
}

/** `cut`: the connection ends without an answer. */
export type Reaction = { status: number; headers?: Record<string, string>; body?: string } | 'cut'

export type WebhookStandIn = {
  url: string
  requests: Received[]
  close(): Promise<void>
}

type React = (request: Received) => Reaction | Promise<Reaction>

/** @param host an address of this machine */
export async function startWebhookServer(
  react: React = () => ({ status: 200 }),
  host = '127.0.0.1',
): Promise<WebhookStandIn> {
  const requests: Received[] = []
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const received: Received = {
      event_id: String(request.headers['x-longshore-event-id']),
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: await readText(request),
      received_at: Date.now(),
      answered_at: null,
      reaction: null,
    }
    requests.push(received)
    const reaction = await react(received)
    received.answered_at = Date.now()
    received.reaction = reaction
    if (reaction === 'cut') return request.socket.destroy()
    response.writeHead(reaction.status, reaction.headers ?? {}).end(reaction.body)
  }
  const server = createServer(
    (request, response) => void serve(request, response).catch(() => response.destroy()),
  )
  server.listen(0, host)
  await once(server, 'listening')
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    requests,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
