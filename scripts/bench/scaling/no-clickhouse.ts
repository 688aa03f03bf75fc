// Answers as a ClickHouse that has nothing and forgets what it gets: what is measured is this side of it. It counts what comes in.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Inserts by table, their bytes, and statements of any other kind. */
export type Received = { inserts: Record<string, number>; insert_bytes: number; others: number }

export async function runNoClickHouse(): Promise<void> {
  let received: Received = { inserts: {}, insert_bytes: 0, others: 0 }
  const server = createServer((request, response) => {
    const query = new URL(request.url!, 'http://localhost').searchParams.get('query') ?? ''
    const table = /^INSERT INTO (\w+)/.exec(query)?.[1]
    let bytes = 0
    let isVersion = false
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      isVersion ||= table === undefined && chunk.includes('version()')
    })
    request.on('end', () => {
      if (table === undefined) received.others++
      else {
        received.inserts[table] = (received.inserts[table] ?? 0) + 1
        received.insert_bytes += bytes
      }
      response.end(isVersion ? '["25.8.1.1"]\n' : '')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  process.on('message', (message) => {
    if (message === 'stop') process.exit(0)
    process.send!(received)
    received = { inserts: {}, insert_bytes: 0, others: 0 }
  })
  process.send!((server.address() as AddressInfo).port)
}
