// Statements on one connection to a user's database. Errors come out in the form that the engine understands.
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { failureOf } from './failures.ts'

const GOODBYE_LIMIT_MS = 2000

export type Session = {
  rows<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>
  /** What the database says it did: `COMMIT`, `INSERT`. */
  run(text: string, values?: readonly unknown[]): Promise<{ command: string; count: number }>
  /** COPY … FROM STDIN; the number of rows. */
  copy(text: string, bytes: AsyncIterable<Buffer>): Promise<number>
  /** An open transaction is rolled back by the server. Never throws. */
  close(): Promise<void>
}

export function openSession(connection: {
  client: pg.Client
  socket: Socket
  signal: AbortSignal
  secrets: readonly string[]
}): Session {
  const { client, socket, signal, secrets } = connection
  const explained = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      if (signal.aborted) throw signal.reason
      // A file of ours cannot be read.
      if (error instanceof Error && 'path' in error) throw error
      throw failureOf(error, secrets)
    }
  }
  const query = async (text: string, values: readonly unknown[] = []) => {
    signal.throwIfAborted()
    return await explained(client.query<pg.QueryResultRow>(text, [...values]))
  }
  return {
    rows: async <Row>(text: string, values?: readonly unknown[]) => (await query(text, values)).rows as Row[],
    async run(text, values) {
      const { command, rowCount } = await query(text, values)
      return { command, count: rowCount ?? 0 }
    },
    async copy(text, bytes) {
      signal.throwIfAborted()
      const into = client.query(copyFrom(text))
      await explained(pipeline(Readable.from(bytes, { objectMode: false }), into))
      return into.rowCount
    },
    async close() {
      await Promise.race([
        client.end().catch(() => undefined),
        sleep(GOODBYE_LIMIT_MS, undefined, { ref: false }),
      ])
      socket.destroy()
    },
  }
}
