// What becomes of a batch when ClickHouse is away, silent, or refuses it.
// @module-tag slow
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { makeDatabase } from '../../../../test/harness/app.ts'
import type { Database } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { StoreBusy, StoreGone } from '../event-store.ts'
import { eventsOf, storedEvent } from '../fixture/suite.ts'
import { openClickHouse } from './client.ts'
import { storeOf } from './store.ts'

const NOW = new Date('2026-03-01T12:00:00Z')

let db: Database
const undo: (() => Promise<unknown>)[] = []
beforeEach(async () => {
  const made = await makeDatabase()
  db = made.db
  undo.push(made.drop)
})
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

/** A ClickHouse that answers as told. `answer` is asked once a request has come as a whole. */
async function startFront(answer: (response: ServerResponse, request: IncomingMessage) => void) {
  const front = createServer((request, response) => {
    request.resume().once('end', () => answer(response, request))
  })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  undo.push(async () => {
    front.closeAllConnections()
    await new Promise((resolve) => front.close(resolve))
  })
  return `http://127.0.0.1:${(front.address() as AddressInfo).port}/events`
}

function openStore(url: string, write_limit_ms = 300) {
  return storeOf({
    clickhouse: openClickHouse({ url, cluster: null }),
    db,
    staging: tmpdir(),
    limits: { timeout_ms: 60_000, memory_mb: 100 },
    write_limit_ms,
    onClosed: async () => {},
  })
}

const isInsert = ({ url }: IncomingMessage) => url!.includes('INSERT')
const write = (store: ReturnType<typeof openStore>) => store.write([eventsOf(1, storedEvent())], NOW)
const holes = () =>
  db.rows(sql`SELECT last_position::int, left_behind IS NOT NULL AS is_hidden FROM event_hole`)
const open = () => db.rows(sql`SELECT batch FROM event_block`)

it('a ClickHouse that is silent makes its senders try again, and nobody waits for it', async () => {
  let asked = 0
  let closed: Promise<void> | undefined
  // Before the first has run out of time, however slow the machine.
  const front = await startFront(() => {
    asked++
    closed = store.close()
  })
  const store = openStore(front)
  const [first, second] = await Promise.allSettled([write(store), write(store)])
  await closed
  expect(first).toMatchObject({ reason: expect.any(StoreBusy) as unknown })
  expect(second).toMatchObject({ reason: expect.any(StoreGone) as unknown })
  expect(asked).toBe(1)
  expect(await open()).toEqual([])
  // Nothing was sent, so there is nothing to hide.
  expect(await holes()).toEqual([{ last_position: 1, is_hidden: false }])
})

it('one that falls silent in the middle of an answer is not waited for', async () => {
  const front = await startFront((response) => void response.write('[1,"'))
  const store = openStore(front)
  await expect(write(store)).rejects.toBeInstanceOf(StoreBusy)
  expect(await open()).toEqual([])
  await store.close()
})

it('one that falls silent over an insert may have the rows: they are never read', async () => {
  const inserts: string[] = []
  const front = await startFront((response, request) => {
    if (isInsert(request)) inserts.push(request.url!)
    else response.end()
  })
  // Long enough to get as far as the insert.
  const store = openStore(front, 3_000)
  await expect(write(store)).rejects.toBeInstanceOf(StoreBusy)
  expect(await open()).toEqual([])
  expect(await holes()).toEqual([{ last_position: 1, is_hidden: true }])
  // The time is up: it is not tried again.
  expect(inserts).toHaveLength(1)
  await store.close()
})

it('one that cannot be reached makes its senders try again', async () => {
  const url = await startFront(() => undefined)
  await undo.pop()!()
  const store = openStore(url)
  await expect(write(store)).rejects.toBeInstanceOf(StoreBusy)
  await store.close()
})

it.each([
  ['TABLE_IS_READ_ONLY', true],
  ['TOO_MANY_PARTS', true],
  ['UNKNOWN_TABLE', false],
])('one that refuses with %s', async (type, isPassing) => {
  const front = await startFront((response, request) => {
    if (isInsert(request)) response.writeHead(500).end(`Code: 7. DB::Exception: no. (${type}) (version 26.7)`)
    else response.end()
  })
  const store = openStore(front)
  const error: unknown = await write(store).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(Error)
  expect(error instanceof StoreBusy).toBe(isPassing)
  await store.close()
})
