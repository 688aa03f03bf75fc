// An HTTP server on loopback that answers, mostly with JSON, behind the proxy that can cut exchanges short: what the
// stand-ins of warehouses listen with.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startCuttingProxy, type CuttingProxy } from '../cutting-proxy.ts'

export type Exchange = { method: string; url: URL; headers: IncomingHttpHeaders; body: Buffer }
/** `body` is sent as JSON, `text` as it is. */
export type Reply = { status: number; body?: unknown; text?: string; headers?: Record<string, string> }
export type Cuts = CuttingProxy['cuts']
export type CuttableServer = { url: string; cuts: Cuts; close(): Promise<void> }

/** What `answer` throws becomes a 500 with its text, so that a test shows it. */
export async function startServer(answer: (exchange: Exchange) => Promise<Reply>): Promise<CuttableServer> {
  const server = createServer((request, response) => {
    readExchange(request)
      .then(answer)
      .catch((error: unknown): Reply => ({ status: 500, body: { message: String(error) } }))
      .then(({ status, body, text, headers }) => {
        response.writeHead(status, { 'content-type': 'application/json', ...headers })
        response.end(text ?? (body === undefined ? '' : JSON.stringify(body)))
      })
      .catch(() => request.socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy = await startCuttingProxy({ host: '127.0.0.1', port: (server.address() as AddressInfo).port })
  return {
    url: `http://127.0.0.1:${proxy.port}`,
    cuts: proxy.cuts,
    async close() {
      await proxy.close()
      server.close()
      server.closeAllConnections()
    },
  }
}

async function readExchange(request: IncomingMessage): Promise<Exchange> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return {
    method: request.method ?? '',
    url: new URL(request.url ?? '/', 'http://stand-in'),
    headers: request.headers,
    body: Buffer.concat(chunks),
  }
}
