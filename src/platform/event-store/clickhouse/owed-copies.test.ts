// What is owed when a process finds ClickHouse without tables while others go on.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { makeDatabase } from '../../../../test/harness/app.ts'
import type { Database } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { OwedCopies } from './owed-copies.ts'

let db: Database
let drop: () => Promise<void>
let owed: OwedCopies
beforeAll(async () => {
  ;({ db, drop } = await makeDatabase())
  owed = new OwedCopies(db)
})
afterAll(() => drop())
beforeEach(async () => {
  await db.run(sql`DELETE FROM owed_copies`)
  await db.run(sql`SELECT setval('people_change', 7)`)
})

const FLUSH = { after: 5n, last: 7n }
const settle = () => db.transaction((tx) => owed.settle(tx, { until: 7n, owed: [7n] }))

it('everything stays owed when the flush that made the latest change has copied its own', async () => {
  await db.transaction((tx) => owed.owe(tx, FLUSH))
  await owed.oweEverything()
  await settle()
  expect(await owed.claim()).toEqual({ after: 0n, last: 8n, owed: [8n] })
})

it('a flush that has not committed yet neither waits nor fails', async () => {
  await db.transaction(async (tx) => {
    await owed.owe(tx, FLUSH)
    await owed.oweEverything()
  })
  await settle()
  expect(await owed.claim()).toEqual({ after: 0n, last: 8n, owed: [8n] })
  await db.run(sql`DELETE FROM owed_copies`)
  await db.run(sql`SELECT setval('people_change', 7)`)
  await db.transaction(async (tx) => {
    await owed.oweEverything()
    await owed.owe(tx, FLUSH)
  })
  await settle()
  expect(await owed.claim()).toEqual({ after: 0n, last: 8n, owed: [8n] })
})

it('nothing is owed where nothing was ever changed', async () => {
  await db.run(sql`SELECT setval('people_change', 1, false)`)
  await owed.oweEverything()
  expect(await owed.claim()).toBe(null)
})
