// Jobs that nobody wakes the worker for: enqueued by another process, and those that failed.
// @module-tag slow
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeDatabase } from '../../../test/harness/app.ts'
import { openLog } from '../log/log.ts'
import type { Services } from '../services.ts'
import { job, migrateJobs, openJobs, type Jobs } from './jobs.ts'

const done: string[] = []
const task = job<{ name: string; fails: number }>({
  name: 'task',
  async handle(_services, { name, fails }) {
    done.push(name)
    if (done.filter((each) => each === name).length <= fails) throw new Error('not yet')
  },
})

let base: Awaited<ReturnType<typeof makeDatabase>>
let worker: Jobs
let other: Jobs
beforeAll(async () => {
  base = await makeDatabase()
  const log = openLog({ level: 'error', format: 'json' })
  await migrateJobs(base.db, [task])
  worker = await openJobs(base.db, [task], log)
  other = await openJobs(base.db, [task], log, { keeps_time: false })
  await worker.work({ now: () => new Date() } as Services)
})
afterAll(async () => {
  await Promise.all([worker.stop(), other.stop()])
  await base.drop()
})

const enqueue = (name: string, fails = 0) =>
  base.db.transaction((tx) => other.enqueue(tx, task, { name, fails }))

it('are found: what another process enqueued, one after the other', async () => {
  await enqueue('first')
  await enqueue('second')
  await expect.poll(() => done).toEqual(['first', 'second'])
})

it('are found: what failed, when it is due again', async () => {
  await enqueue('failing', 1)
  await expect.poll(() => done.filter((name) => name === 'failing')).toHaveLength(2)
  await expect.poll(() => worker.countWaiting()).toEqual({})
})
