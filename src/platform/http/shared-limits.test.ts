// A limit that several processes keep together: two that count, on one database.
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { makeDatabase } from '../../../test/harness/app.ts'
import { until } from '../../../test/harness/until.ts'
import type { Database } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { openLog } from '../log/log.ts'
import { openSecrets } from '../secrets/secrets.ts'
import { ApiError } from './errors.ts'
import { forgetOldWindows, SharedLimits } from './shared-limits.ts'
import { Throttle } from './throttle.ts'

const log = openLog({ level: 'silent', format: 'json' })
const secrets = openSecrets('a secret key of at least 32 characters', null)
const MINUTE_MS = 60_000
const START = new Date('2026-03-01T12:00:00Z').getTime()
const TAKEN = sql`SELECT taken FROM rate_window ORDER BY 1`
const RATES = [{ count: 100, window_ms: MINUTE_MS }]

let database: Awaited<ReturnType<typeof makeDatabase>>
let db: Database
beforeAll(async () => {
  database = await makeDatabase()
  db = database.db
})
afterAll(() => database.drop())

type Counting = { throttle: Throttle; limits: SharedLimits }

let one: Counting
let two: Counting
const start = (): Counting => {
  const throttle = new Throttle(true)
  return { throttle, limits: new SharedLimits({ db, secrets, throttle, log }) }
}
beforeEach(() => {
  one = start()
  two = start()
})
afterEach(async () => {
  await one.limits.close()
  await two.limits.close()
  await db.run(sql`DELETE FROM rate_window`)
})

/** How many of these pass; `wait` is what the last that did not was told. */
function send(
  { throttle }: Counting,
  times: number,
  at_ms: number,
  who = 'key',
): { passed: number; wait: number } {
  let [passed, wait] = [0, 0]
  for (let n = 0; n < times; n++) {
    try {
      throttle.take('requests', who, RATES, new Date(START + at_ms))
      passed++
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      wait = Number(error.headers['retry-after'])
    }
  }
  return { passed, wait }
}

it('what one lets through counts for the other, in one window with one end', async () => {
  expect(send(one, 60, 0).passed).toBe(60)
  await one.limits.count()
  // The first passes before the other has asked; that is the bound.
  expect(send(two, 1, 10_000).passed).toBe(1)
  await two.limits.count()
  expect(send(two, 60, 20_000)).toEqual({ passed: 39, wait: 40 })
  await two.limits.count()
  expect(send(one, 1, 21_000).passed).toBe(1)
  await one.limits.count()
  expect(send(one, 10, 30_500)).toEqual({ passed: 0, wait: 30 })
  // The window of both ends a minute after the first request, wherever that came to.
  expect([send(one, 1, MINUTE_MS).passed, send(two, 1, MINUTE_MS).passed]).toEqual([1, 1])
  await one.limits.count()
  await two.limits.count()
  expect(send(two, 100, MINUTE_MS).passed).toBe(98)
})

it('a twentieth of the limit is told at once, less within a second', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const [many, few] = [start(), start()]
  send(many, 5, 0)
  send(few, 1, 0, 'another')
  vi.advanceTimersByTime(100)
  vi.useRealTimers()
  await until(async () => expect(await db.rows(TAKEN)).toEqual([{ taken: 5 }]))
  send(two, 1, 0, 'a third')
  await until(async () => expect(await db.rows(TAKEN)).toEqual([{ taken: 1 }, { taken: 5 }]))
  await many.limits.close()
  await few.limits.close()
})

it('callers are apart, their names are in no table, and windows that are over go', async () => {
  send(one, 3, 0, 'phx_someone')
  send(one, 4, 0, 'phx_other')
  await one.limits.count()
  const rows = await db.rows<{ key: string; taken: number }>(sql`SELECT key, taken FROM rate_window`)
  expect(rows.map(({ taken }) => taken).toSorted((a, b) => a - b)).toEqual([3, 4])
  expect(JSON.stringify(rows)).not.toContain('phx_')
  await forgetOldWindows(db, new Date(START + MINUTE_MS + 1))
  expect(await db.rows(sql`SELECT FROM rate_window`)).toEqual([])
})

it('without the database each counts for itself, and tells it later', async () => {
  send(one, 3, 0)
  await db.run(sql`ALTER TABLE rate_window RENAME TO away`)
  await expect(one.limits.count()).rejects.toThrow('rate_window')
  expect(send(one, 100, 0).passed).toBe(97)
  await db.run(sql`ALTER TABLE away RENAME TO rate_window`)
  await one.limits.count()
  expect(await db.rows(sql`SELECT taken FROM rate_window`)).toEqual([{ taken: 100 }])
})
