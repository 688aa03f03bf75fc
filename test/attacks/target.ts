// The program under attack: a process of its own, as its users run it. Attackers and neighbours call it from different
// addresses of this machine.
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { Database } from '../../src/platform/db/database.ts'
import { makeDatabase } from '../harness/app.ts'
import { readFirstStart } from '../end-to-end/first-start.ts'
import { cpuSecondsOf, memoryMbOf } from '../end-to-end/processes.ts'
import { buildProgram, type Ended, type Env } from '../end-to-end/program.ts'

export const NEIGHBOUR = '127.0.0.1'
export const ATTACKER = '127.0.0.66'

export type Sent = {
  method?: string
  path: string
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** The address it comes from. */
  from?: string
}

export type Answer = {
  status: number
  headers: IncomingHttpHeaders
  // Tests read answers of every shape; asserting on a field that is not there fails the test, which is the point.
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any
}

export type Target = {
  port: number
  /** The first owner's. */
  key: string
  token: string
  /** Time of processors that it has used so far, on all of its threads. */
  cpuSeconds(): Promise<number>
  /** Memory of all its processes. */
  memoryMb(): Promise<number>
  pid: number
  /** Its database, past the API. */
  db: Database
  /** What it wrote: its log, and its standard error. */
  stdout(): string
  stderr(): string
  /** Runs a command of the program on the same data. */
  run(args: readonly string[]): Promise<Ended>
  send(sent: Sent): Promise<Answer>
  /** A call of the API with the owner's key. */
  call(method: string, path: string, body?: unknown): Promise<Answer>
  /** A bare connection. */
  open(from?: string): Socket
  stop(): Promise<void>
}

export async function startTarget(env: Env = {}): Promise<Target> {
  const [program, database] = await Promise.all([buildProgram(), makeDatabase()])
  const settings = {
    DATA_DIR: program.newDataDir(),
    DATABASE_URL: database.url,
    RATE_LIMITS: 'off',
    ...env,
  }
  const server = program.serve(settings)
  const { url, key, token } = await readFirstStart(server)
  const port = Number(new URL(url).port)
  const target: Target = {
    port,
    key,
    token,
    cpuSeconds: () => cpuSecondsOf(server.pid),
    memoryMb: () => memoryMbOf(server.pid),
    pid: server.pid,
    db: database.db,
    stdout: server.stdout,
    stderr: server.stderr,
    run: (args) => program.run(args, settings),
    send: (sent) => send(port, sent),
    call: (method, path, body) =>
      send(port, {
        method,
        path,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    open: (from = ATTACKER) => connect({ port, host: '127.0.0.1', localAddress: from }),
    async stop() {
      server.kill('SIGTERM')
      await server.ended
      await program.remove()
      await database.drop()
    },
  }
  return target
}

/** Over a connection of its own. Throws when it is cut off before the answer. */
function send(port: number, { method = 'POST', path, headers = {}, body, from }: Sent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      host: '127.0.0.1',
      port,
      method,
      path,
      agent: false,
      localAddress: from ?? NEIGHBOUR,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }) },
    })
    request.on('error', reject)
    request.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        const isJson = response.headers['content-type']?.startsWith('application/json')
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          body: isJson ? JSON.parse(text) : text,
        })
      })
    })
    request.end(body)
  })
}
