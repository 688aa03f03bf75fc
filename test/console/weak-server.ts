// What stands between the browser and the application and makes it slow, broken, older or gone.
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

type Body = Record<string, unknown>
type Weakness = {
  delay_ms?: number
  /** Answered when this has been. */
  after?: Promise<void>
  /** Answered in place of what was asked. */
  status?: number
  /** What an older version would have answered. */
  change?: (body: Body) => unknown
}

export type WeakServer = {
  url: string
  /** Method and path of every call of the API so far. */
  calls: string[]
  /** Null: it is as strong as the one behind it. */
  weaken(weakness: ((path: string) => Weakness | null) | null): void
  /** Cuts every connection and takes none until it is back. */
  vanish(): void
  comeBack(): void
  close(): void
}

export async function openWeakServer(strong: string): Promise<WeakServer> {
  const { hostname, port } = new URL(strong)
  const sockets = new Set<Socket>()
  const calls: string[] = []
  let weaknessOf: (path: string) => Weakness | null = () => null
  let isGone = false

  const pass = async (asked: IncomingMessage, answered: ServerResponse) => {
    const path = asked.url ?? '/'
    if (path.startsWith('/api/')) calls.push(`${asked.method} ${path}`)
    const { delay_ms, after, status, change } = weaknessOf(path) ?? {}
    await after
    if (delay_ms !== undefined) await sleep(delay_ms)
    if (status !== undefined) {
      answered.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'weak-1' })
      answered.end(JSON.stringify({ type: 'server_error', code: 'error', detail: 'It broke.', attr: null }))
      return
    }
    const { method, headers } = asked
    if (change) delete headers['accept-encoding']
    const onward = request({ hostname, port, path, method, headers }, (answer) => {
      if (change) void answerChanged(answer, answered, change)
      else answer.pipe(answered.writeHead(answer.statusCode!, answer.headers))
    })
    onward.on('error', () => answered.destroy())
    answered.on('close', () => onward.destroy())
    asked.pipe(onward)
  }
  const server = createServer((asked, answered) => void pass(asked, answered))
  server.on('connection', (socket) => {
    if (isGone) return void socket.destroy()
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = () => sockets.forEach((socket) => socket.destroy())
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    weaken: (weakness) => void (weaknessOf = weakness ?? (() => null)),
    vanish() {
      isGone = true
      cut()
    },
    comeBack: () => void (isGone = false),
    close() {
      server.close()
      cut()
    },
  }
}

async function answerChanged(
  answer: IncomingMessage,
  answered: ServerResponse,
  change: (body: Body) => unknown,
): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk as Buffer)
  const body = JSON.stringify(change(JSON.parse(Buffer.concat(chunks).toString()) as Body))
  const { 'content-length': _old, ...headers } = answer.headers
  answered.writeHead(answer.statusCode!, headers).end(body)
}
