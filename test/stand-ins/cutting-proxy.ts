// Stands between a client and an HTTP server and can cut one exchange short, so that a test sees what becomes of it:
// before the server has got the request, or after it has answered and before the client hears of it.
import { once } from 'node:events'
import { createServer, request as sendRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type CuttingProxy = {
  port: number
  /** As a World of destinations has them. */
  cuts: { reset(): void; count(): number; cutAt(exchange: number, when: 'before' | 'after'): void }
  close(): Promise<void>
}

export async function startCuttingProxy(upstream: { host: string; port: number }): Promise<CuttingProxy> {
  let count = 0
  let cut: { exchange: number; when: 'before' | 'after' } | null = null
  const server = createServer((request, response) => {
    count += 1
    const when = cut?.exchange === count ? cut.when : null
    if (when === 'before') request.socket.destroy()
    else forward(upstream, request, response, when === 'after')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    cuts: {
      reset() {
        count = 0
        cut = null
      },
      count: () => count,
      cutAt: (exchange, when) => void (cut = { exchange, when }),
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Headers go through as they came: the signature of the request covers them. */
function forward(
  { host, port }: { host: string; port: number },
  request: IncomingMessage,
  response: ServerResponse,
  is_cut: boolean,
): void {
  const onward = sendRequest(
    { host, port, method: request.method!, path: request.url!, headers: request.headers, agent: false },
    (answer) => {
      if (is_cut) {
        answer.resume().on('end', () => request.socket.destroy())
        return
      }
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    },
  )
  onward.on('error', () => request.socket.destroy())
  request.on('close', () => request.complete || onward.destroy())
  request.pipe(onward)
}
