// A small S3 of our own for tests: a real HTTP server that refuses what S3 refuses. Path style, and virtual hosts below
// `localhost`.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { invalidArgument, noSuchBucket, S3Fault } from './faults.ts'
import type { Query } from './listing.ts'
import { assertAllowed, nameOperation, perform, type Answer, type OperationName } from './operations.ts'
import { verifySignature } from './sigv4.ts'
import { newBucket, type Bucket } from './store.ts'
import { document } from './xml.ts'

export type S3Server = {
  url: string
  port: number
  region: string
  access_key_id: string
  secret_access_key: string
  buckets: ReadonlyMap<string, Bucket>
  /** Every call that was allowed in, in order. */
  calls: OperationName[]
  /** What the credentials may not do. */
  denied: Set<OperationName>
  /** The next calls of this kind fail so, one after the other. */
  failNext(operation: OperationName, ...faults: S3Fault[]): void
  close(): Promise<void>
}

const REGION = 'eu-central-1'
const ACCESS_KEY_ID = 'AKIASTANDIN0000000000'
const SECRET_ACCESS_KEY = 'stand-in/secret+access/key0000000000000'
const MAX_KEY_BYTES = 1024

type State = { buckets: Map<string, Bucket>; failing: Map<OperationName, S3Fault[]> } & Pick<
  S3Server,
  'calls' | 'denied'
>

export async function startS3Server(bucket_names: readonly string[]): Promise<S3Server> {
  const state: State = {
    buckets: new Map(bucket_names.map((name) => [name, newBucket()])),
    failing: new Map(),
    calls: [],
    denied: new Set(),
  }
  const server = createServer((request, response) => {
    void answer(request, response, state)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    region: REGION,
    access_key_id: ACCESS_KEY_ID,
    secret_access_key: SECRET_ACCESS_KEY,
    buckets: state.buckets,
    calls: state.calls,
    denied: state.denied,
    failNext: (operation, ...faults) => void state.failing.set(operation, faults),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function answer(request: IncomingMessage, response: ServerResponse, state: State): Promise<void> {
  let body: Buffer
  try {
    body = await readBody(request)
  } catch {
    // The client went away.
    return
  }
  let result: Answer
  try {
    result = handle(request, body, state)
  } catch (error) {
    result = describeFault(error)
  }
  const content = request.method === 'HEAD' ? '' : (result.body ?? '')
  response.writeHead(result.status, {
    ...(request.method === 'HEAD' ? {} : { 'content-length': String(Buffer.byteLength(content)) }),
    ...result.headers,
  })
  response.end(content)
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

function handle(request: IncomingMessage, body: Buffer, state: State): Answer {
  const { method = '', url: target = '', headers } = request
  const has_length = headers['content-length'] !== undefined && headers['transfer-encoding'] === undefined
  if (method === 'PUT' && !has_length) throw new S3Fault('MissingContentLength', 411)
  verifySignature(
    { method, target, headers, body },
    {
      region: REGION,
      secrets: new Map([[ACCESS_KEY_ID, SECRET_ACCESS_KEY]]),
      now: () => new Date(),
    },
  )
  const { bucket_name, key } = addressOf(headers.host ?? '', target)
  const query = queryOf(target)
  const bucket = state.buckets.get(bucket_name)
  if (!bucket) throw noSuchBucket()
  if (Buffer.byteLength(key) > MAX_KEY_BYTES) throw new S3Fault('KeyTooLongError', 400)
  const operation = nameOperation(method, key, query)
  assertAllowed(operation, state.denied)
  state.calls.push(operation)
  const fault = state.failing.get(operation)?.shift()
  if (fault) throw fault
  return perform(operation, {
    method,
    bucket_name,
    bucket,
    key,
    query,
    headers: headers as Record<string, string>,
    body,
    now: new Date(),
  })
}

function addressOf(host: string, target: string): { bucket_name: string; key: string } {
  const path = decodeURIComponent(target.split('?')[0]!).slice(1)
  const virtual = /^(.+)\.localhost(?::\d+)?$/.exec(host)?.[1]
  if (virtual !== undefined) return { bucket_name: virtual, key: path }
  const [bucket_name = '', key = ''] = path.split(/\/(.*)/s)
  return { bucket_name, key }
}

function queryOf(target: string): Query {
  const query = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(target.split(/\?(.*)/s)[1] ?? '')) {
    if (query.has(name)) throw invalidArgument(name)
    query.set(name, value)
  }
  return query
}

function describeFault(error: unknown): Answer {
  const fault = error instanceof S3Fault ? error : new S3Fault('InternalError', 500, String(error))
  const body = document('Error', { Code: fault.code, Message: fault.message, RequestId: 'stand-in' })
  return { status: fault.status, headers: { 'content-type': 'application/xml' }, body }
}
