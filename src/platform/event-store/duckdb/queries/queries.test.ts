// Harmful queries: the process that runs one is killed from outside, and no other query notices.
// @module-tag slow
import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { QueryFault, QueryTimeout, type EventStore } from '../../event-store.ts'
import { eventsOf, storedEvent } from '../../fixture/suite.ts'
import { tablesOf } from '../../layout.ts'
import { openDuckDb } from '../open.ts'

let folder: string
let store: EventStore
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-store-'))
  store = await openDuckDb({ folder, memory_mb: 256, query_timeout_ms: 4_000 })
  await store.write([eventsOf(1, storedEvent())], new Date())
})
afterEach(async () => {
  await store.close()
  await rm(folder, { recursive: true, force: true })
})

const ask = async (sql: string, project_id = 1) =>
  (await store.query({ project_id, sql, parameters: [], timezone: 'UTC', max_rows: 10 })).rows
const count = () => ask(`SELECT count(*) FROM ${tablesOf(1).events}`)

/** Process ids of the query processes below this one. */
function queryProcesses(): number[] {
  const listed = execFileSync('ps', ['-eo', 'pid,ppid,args'], { encoding: 'utf8' })
  return listed
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, parent, ...args]) => Number(parent) === process.pid && args.join(' ').includes(folder))
    .map(([pid]) => Number(pid))
}

/** Each CTE joins the one before with itself: the planner, which cannot be interrupted, works for hours. */
const doubling = (levels: number) => {
  const steps = Array.from(
    { length: levels },
    (_, index) => `c${index + 1} AS NOT MATERIALIZED (SELECT a.x FROM c${index} AS a, c${index} AS b)`,
  )
  return `WITH c0 AS (SELECT 1 AS x), ${steps.join(', ')} SELECT count(*) FROM c${levels}`
}

/** Refused for its memory, or for its time when it did not get that far. */
const isRefusal = (error: unknown) => error instanceof QueryFault || error instanceof QueryTimeout

describe('a question', () => {
  it('that cannot be interrupted is killed, and others are answered meanwhile and after', async () => {
    const endless = ask(doubling(29)).catch((error: unknown) => error)
    await expect.poll(() => queryProcesses().length).toBeGreaterThan(0)
    expect(await ask('SELECT 7', 2)).toEqual([[7]])
    // Which limit it meets first depends on how fast the machine is.
    expect(await endless).toSatisfy(isRefusal)
    expect(await count()).toEqual([[1]])
  })

  it('that nobody wants any more is stopped at once, running or waiting', async () => {
    const controller = new AbortController()
    const reason = new Error('left')
    const running = Array.from({ length: 8 }, () =>
      store
        .query(
          {
            project_id: 1,
            sql: 'SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b',
            parameters: [],
            timezone: 'UTC',
            max_rows: 1,
          },
          controller.signal,
        )
        .catch((error: unknown) => error),
    )
    await expect.poll(() => queryProcesses().length).toBeGreaterThan(0)
    const pids = queryProcesses()
    controller.abort(reason)
    expect(await Promise.all(running)).toEqual(running.map(() => reason))
    // Interrupted, not killed, and free for others.
    expect(await count()).toEqual([[1]])
    expect(queryProcesses()).toEqual(expect.arrayContaining(pids))
  })

  it('that nobody wants and that cannot be interrupted is killed', async () => {
    const controller = new AbortController()
    const asked = { project_id: 1, sql: doubling(29), parameters: [], timezone: 'UTC', max_rows: 1 }
    const endless = store.query(asked, controller.signal).catch((error: unknown) => error)
    await expect.poll(() => queryProcesses().length).toBeGreaterThan(0)
    const reason = new Error('left')
    controller.abort(reason)
    expect(await endless).toBe(reason)
    expect(await count()).toEqual([[1]])
  })

  it('that takes more memory than it may is stopped, however it takes it', async () => {
    for (const sql of [
      "SELECT strlen(repeat('x', 1900000000)) + strlen(repeat('y', 1900000000))",
      'SELECT list(a.range::VARCHAR || b.range::VARCHAR) FROM range(100000) a, range(100000) b',
    ])
      await expect(ask(sql), sql).rejects.toSatisfy(isRefusal)
    expect(await count()).toEqual([[1]])
  })

  it('whose process somebody killed is asked again', async () => {
    const answer = ask('SELECT count(*) FROM range(300000000)')
    await expect.poll(() => queryProcesses().length).toBeGreaterThan(0)
    for (const pid of queryProcesses()) process.kill(pid, 'SIGKILL')
    expect(await answer).toEqual([[300_000_000]])
  })

  it('whose process was killed just before, which nobody has noticed, is answered by another', async () => {
    await count()
    for (const pid of queryProcesses()) process.kill(pid, 'SIGKILL')
    // It is gone before this thread hears of anything.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
    expect(await count()).toEqual([[1]])
  })
})

describe('a query process', () => {
  it('knows nothing of the environment, and ends with whoever started it', async () => {
    vi.stubEnv('SECRET_OF_THE_SERVER', 'in clear')
    await count()
    const [pid] = queryProcesses()
    expect(await readFile(`/proc/${pid}/environ`, 'utf8')).not.toContain('in clear')
    await store.close()
    expect(queryProcesses()).toEqual([])
  })
})
