// One request in process, and its answer. A stream does not end: its beginning is the answer, and it is closed.
import type { FastifyInstance, InjectOptions } from 'fastify'
import type { OutgoingHttpHeaders } from 'node:http'

export type Injected = { statusCode: number; headers: OutgoingHttpHeaders; body: string }

export async function inject(http: FastifyInstance, options: InjectOptions): Promise<Injected> {
  const { statusCode, headers, ...response } = await http.inject({ ...options, payloadAsStream: true })
  const pieces: Buffer[] = []
  for await (const piece of response.stream()) {
    pieces.push(piece as Buffer)
    if (headers['content-type'] === 'text/event-stream') break
  }
  return { statusCode, headers, body: Buffer.concat(pieces).toString() }
}
