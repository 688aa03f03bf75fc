// Servers and a move at the same store. PostgreSQL alone decides, so no ClickHouse is needed here.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { PoolClient } from 'pg'
import { makeDatabase } from '../../../../test/harness/app.ts'
import { until } from '../../../../test/harness/until.ts'
import type { Database } from '../../db/database.ts'
import { StoreBusy, StoreTaken } from '../event-store.ts'
import { holdAlone, holdOpen } from './in-use.ts'
import { OwedCopies } from './owed-copies.ts'
import { Positions } from './positions.ts'

let database: Awaited<ReturnType<typeof makeDatabase>>
let db: Database
beforeAll(async () => {
  database = await makeDatabase()
  db = database.db
})
afterAll(() => database.drop())

const LOCKS = `FROM pg_locks WHERE locktype = 'advisory'
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
const holders = async () => (await db.pool.query<{ mode: string }>(`SELECT mode ${LOCKS}`)).rows
const cutOff = () => db.pool.query(`SELECT pg_terminate_backend(pid) ${LOCKS}`)

it('any number of servers have it open, and keep a move out until the last has gone', async () => {
  const [one, other] = [await holdOpen(db), await holdOpen(db)]
  await one.release()
  await expect(holdAlone(db)).rejects.toThrow(StoreTaken)
  await other.release()
  const move = await holdAlone(db)
  await expect(holdOpen(db)).rejects.toThrow(StoreTaken)
  await expect(holdAlone(db)).rejects.toThrow(StoreTaken)
  await move.release()
  await (await holdOpen(db)).release()
})

it('a server whose connection was cut has it open again soon', async () => {
  const onLost = vi.fn<(error: Error) => void>()
  const server = await holdOpen(db, onLost)
  await cutOff()
  const move = await until(() => holdAlone(db))
  await move.release()
  await expect.poll(holders).toEqual([{ mode: 'ShareLock' }])
  await expect(holdAlone(db)).rejects.toThrow(StoreTaken)
  expect(onLost).not.toHaveBeenCalled()
  await server.release()
})

it('a connection that is lost while it is given back, or later, is given back once', async () => {
  let client: PoolClient | undefined
  db.pool.once('acquire', (taken) => (client = taken))
  const server = await holdOpen(db)
  const released = server.release()
  client!.emit('error', new Error('cut off'))
  await released
  client!.emit('error', new Error('cut off'))
  await (await holdAlone(db)).release()
})

it('a server that was cut off while a move began is told, and stores nothing meanwhile', async () => {
  const onLost = vi.fn<(error: Error) => void>()
  const server = await holdOpen(db, onLost)
  const positions = new Positions(db, new OwedCopies(db))
  const store = () => positions.open(randomUUID(), [{ project_id: 1, uuids: [randomUUID()] }], 1n)
  expect((await store()).blocks).toHaveLength(1)
  await cutOff()
  const move = await until(() => holdAlone(db))
  await expect(store()).rejects.toThrow(StoreBusy)
  await expect.poll(() => onLost.mock.calls.length).toBe(1)
  await move.release()
  expect((await store()).blocks).toHaveLength(1)
  await server.release()
})
