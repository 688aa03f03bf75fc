// Changes between processes: two that follow one database, as two processes do.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { makeDatabase } from '../../test/harness/app.ts'
import { until } from '../../test/harness/until.ts'
import { Changes, forgetOldChanges, type Topic } from './changes.ts'
import type { Database } from './db/database.ts'
import { sql } from './db/sql.ts'
import { followChanges, type Following } from './following.ts'
import { openLog } from './log/log.ts'

const log = openLog({ level: 'silent', format: 'json' })
const HOUR_MS = 3_600_000

let database: Awaited<ReturnType<typeof makeDatabase>>
let db: Database
beforeAll(async () => {
  database = await makeDatabase()
  db = database.db
})
afterAll(() => database.drop())

type Heard = [topic: Topic, id: number | null, project_id: number | undefined]
type Listening = { changes: Changes; heard: Heard[]; elapsed_ms: number; following: Following }

const opened: Listening[] = []
beforeEach(async () => {
  for (const { following } of opened.splice(0)) await following.stop()
})
afterAll(async () => {
  for (const { following } of opened.splice(0)) await following.stop()
})

async function listen(): Promise<Listening> {
  const changes = new Changes()
  const heard: Heard[] = []
  for (const topic of ['plugin', 'plugin-config', 'definitions'] as const)
    changes.listen(topic, (id, project_id) => heard.push([topic, id, project_id]))
  const one = { changes, heard, elapsed_ms: 0 } as Listening
  one.following = await followChanges(db, changes, log, () => one.elapsed_ms)
  opened.push(one)
  return one
}

/** Ends the connections that listen, as a restart of PostgreSQL or a firewall does. */
async function cutOff(): Promise<void> {
  await db.run(sql`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND query NOT LIKE '%terminate%' AND pid <> pg_backend_pid()
      AND (query LIKE 'LISTEN%' OR query LIKE '%pg_snapshot_xmin%' OR query LIKE '%FROM change%')`)
}

it('what one tells the others hear once it is committed, and the teller once', async () => {
  const [one, two] = [await listen(), await listen()]
  await db.transaction(async (tx) => {
    await one.changes.tell(tx, 'plugin', 7)
    await one.changes.tell(tx, 'plugin-config', 8, 3)
    await sleep(50)
    expect([...one.heard, ...two.heard]).toEqual([])
  })
  const expected = [
    ['plugin', 7, undefined],
    ['plugin-config', 8, 3],
  ]
  expect(one.heard).toEqual(expected)
  await until(() => expect(two.heard).toEqual(expected))
  await sleep(50)
  expect(one.heard).toEqual(expected)
})

it('what is rolled back nobody hears of', async () => {
  const [one, two] = [await listen(), await listen()]
  await db
    .transaction(async (tx) => {
      await one.changes.tell(tx, 'plugin', 1)
      throw new Error('no')
    })
    .catch(() => undefined)
  await one.changes.tell(db, 'plugin', 2)
  await until(() => expect(two.heard).toEqual([['plugin', 2, undefined]]))
  expect(one.heard).toEqual([['plugin', 2, undefined]])
})

it('what was told while a listener was cut off it hears when it is back, whatever the order of the commits', async () => {
  const [one, two] = [await listen(), await listen()]
  // Begun before the listener looked last, committed while it is away: its number is lower than that of what was heard.
  let commit = () => {}
  const isAsked = new Promise<void>((resolve) => (commit = resolve))
  let isTold = () => {}
  const begun = new Promise<void>((resolve) => (isTold = resolve))
  const slow = db.transaction(async (tx) => {
    await one.changes.tell(tx, 'definitions', 1, 1)
    isTold()
    await isAsked
  })
  await begun
  await one.changes.tell(db, 'definitions', 2, 2)
  await until(() => expect(two.heard).toEqual([['definitions', 2, 2]]))
  await cutOff()
  commit()
  await slow
  await one.changes.tell(db, 'definitions', 3, 3)
  await until(() =>
    expect(two.heard.slice(1)).toEqual(
      expect.arrayContaining([
        ['definitions', 1, 1],
        ['definitions', 3, 3],
      ]),
    ),
  )
})

it('whoever was away for longer than changes are kept is told that anything may have changed', async () => {
  const [one, two] = [await listen(), await listen()]
  await cutOff()
  two.elapsed_ms += HOUR_MS
  await until(() =>
    expect(two.heard).toEqual([
      ['plugin', null, undefined],
      ['plugin-config', null, undefined],
      ['definitions', null, undefined],
    ]),
  )
  expect(one.heard).toEqual([])
})

it('changes are kept for an hour', async () => {
  const one = await listen()
  await db.run(sql`DELETE FROM change`)
  await one.changes.tell(db, 'plugin', 1)
  await one.changes.tell(db, 'plugin', 2)
  await db.run(sql`UPDATE change SET told_at = now() - interval '61 minutes' WHERE subject_id = 1`)
  await forgetOldChanges(db)
  expect(await db.rows(sql`SELECT subject_id FROM change`)).toEqual([{ subject_id: 2 }])
})
