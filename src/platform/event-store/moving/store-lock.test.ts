// Who may work with the events in ClickHouse at the same time.
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { makeDatabase } from '../../../../test/harness/app.ts'
import { sql } from '../../db/sql.ts'
import type { Database } from '../../db/database.ts'
import { StoreTaken, type EventStore } from '../event-store.ts'
import { openShared, takeStore } from './store-lock.ts'

let db: Database
let drop: () => Promise<void>
beforeAll(async () => void ({ db, drop } = await makeDatabase()))
afterAll(() => drop())

// Only its end counts here.
const open = async () => ({ close: async () => undefined }) as EventStore
const lockers = () =>
  db.rows<{ pid: number }>(sql`
    SELECT pid FROM pg_locks JOIN pg_database ON pg_database.oid = database
    WHERE locktype = 'advisory' AND datname = current_database() AND granted`)

it('servers share the store, and a move has it alone', async () => {
  const servers = [await openShared(db, open), await openShared(db, open)]
  await expect(takeStore(db)).rejects.toThrow(StoreTaken)
  await servers[0]!.close()
  await expect(takeStore(db)).rejects.toThrow('a process works with the events in ClickHouse')
  await servers[1]!.close()
  const move = await takeStore(db)
  await expect(openShared(db, open)).rejects.toThrow('events are being moved')
  await expect(takeStore(db)).rejects.toThrow(StoreTaken)
  await move.release()
  // One that cannot be opened holds nothing.
  await expect(openShared(db, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  await vi.waitFor(async () => expect(await lockers()).toEqual([]))
})

it('a server whose connection was cut has the lock again', async () => {
  const onLost = vi.fn<(error: Error) => void>()
  const server = await openShared(db, open, onLost)
  const [before] = await lockers()
  await db.run(sql`SELECT pg_terminate_backend(${before!.pid})`)
  await vi.waitFor(async () => {
    const [now] = await lockers()
    expect(now).toBeDefined()
    expect(now!.pid).not.toBe(before!.pid)
  })
  expect(onLost).not.toHaveBeenCalled()
  await server.close()
  await vi.waitFor(async () => expect(await lockers()).toEqual([]))
})
