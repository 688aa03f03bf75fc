// Background work, kept in PostgreSQL by pg-boss: enqueued inside the caller's transaction, so that a job exists exactly
// when the change that caused it does; tried again with growing pauses until it is done or given up.
import PgBoss from 'pg-boss'
import type { Database, Db } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Log } from '../log/log.ts'
import type { Services } from '../services.ts'

export type Job<Data extends object> = {
  name: string
  /** Timetable entry (cron, UTC) for work that no request causes. */
  cron?: string
  handle(services: Services, data: Data, now: Date): Promise<void>
}

/** A job with its data type worn off, as the list in app/jobs.ts holds it. */
export type AnyJob = Omit<Job<object>, 'handle'> & { handle(services: Services, data: never, now: Date): Promise<void> }

export type Jobs = {
  enqueue<Data extends object>(tx: Db, job: Job<Data>, data: Data): Promise<void>
  /** Starts working on the queues; until then jobs are only kept. */
  work(services: Services): Promise<void>
  /** Jobs that are due, running or waiting for another try, by name. */
  countWaiting(): Promise<Record<string, number>>
  /** Jobs that were given up, by name. */
  countFailed(): Promise<Record<string, number>>
  stop(): Promise<void>
}

// 5 s doubling up to 23 h between tries: a mail server may be away for a day and a half.
const RETRY = { retryLimit: 15, retryDelay: 5, retryBackoff: true, expireInSeconds: 120, retentionDays: 30 }
// Enqueueing wakes the worker at once; polling only finds retries and what another process enqueued.
const POLL_SECONDS = 5
// pg-boss has no way to fail a job for good before its tries are used up: a cancelled one was given up too.
const GIVEN_UP = ['failed', 'cancelled']
const WAITING = ['created', 'retry', 'active']
const STOP_TIMEOUT_MS = 5_000

export function job<Data extends object>(definition: Job<Data>): Job<Data> {
  return definition
}

/** Makes or upgrades pg-boss's own tables (schema `pgboss`) and our queues; part of `migrate`. */
export async function migrateJobs(db: Database, jobs: readonly AnyJob[]): Promise<void> {
  const boss = new PgBoss({ db: executor(db.pool), supervise: false, schedule: false })
  await boss.start()
  const known = new Set((await boss.getQueues()).map((queue) => queue.name))
  for (const { name } of jobs) if (!known.has(name)) await boss.createQueue(name, { name, ...RETRY })
  await boss.stop({ graceful: false, close: false })
}

export async function openJobs(db: Database, jobs: readonly AnyJob[], log: Log): Promise<Jobs> {
  const boss = new PgBoss({ db: executor(db.pool), migrate: false })
  boss.on('error', (error) => log.warn({ err: error }, 'background jobs: a passing fault'))
  await boss.start()
  const workers = new Map<string, string>()
  return {
    async enqueue(tx, { name }, data) {
      await boss.send(name, data, { db: { executeSql: async (text, values) => ({ rows: await tx.rows({ text, values }) }) } })
      tx.afterCommit(() => {
        const worker = workers.get(name)
        if (worker) boss.notifyWorker(worker)
      })
    },
    async work(services) {
      for (const definition of jobs) {
        const { name, cron } = definition
        const worker = await boss.work(name, { pollingIntervalSeconds: POLL_SECONDS }, async ([job]) => {
          await perform(boss, definition, job!, services, log)
          // Look again at once: left alone, a worker rests between two jobs, and 20 mails would take 100 s.
          boss.notifyWorker(workers.get(name)!)
        })
        workers.set(name, worker)
        if (cron !== undefined) await boss.schedule(name, cron)
      }
    },
    countWaiting: () => countByName(db, WAITING),
    countFailed: () => countByName(db, GIVEN_UP),
    stop: () => stopBoss(boss),
  }
}

async function perform(boss: PgBoss, definition: AnyJob, job: PgBoss.Job<object>, services: Services, log: Log): Promise<void> {
  try {
    await definition.handle(services, job.data as never, services.now())
  } catch (error) {
    const facts = { err: error, job: definition.name, job_id: job.id }
    if (isPermanent(error)) {
      log.error(facts, 'a background job was given up')
      return boss.cancel(definition.name, job.id)
    }
    log.warn(facts, 'a background job failed and will be tried again')
    // pg-boss keeps what is thrown: a plain text, so that no request data lands in its table.
    throw new Error(error instanceof Error ? error.message : 'failed', { cause: undefined })
  }
}

/** Errors that say of themselves that another try would end the same way, such as MailRefused. */
function isPermanent(error: unknown): boolean {
  return error instanceof Error && 'permanent' in error && error.permanent === true
}

async function countByName(db: Database, states: readonly string[]): Promise<Record<string, number>> {
  const rows = await db.rows<{ name: string; count: number }>(sql`
    SELECT name, count(*)::int AS count FROM pgboss.job WHERE state::text = ANY(${states}) GROUP BY name`)
  return Object.fromEntries(rows.map((row) => [row.name, row.count]))
}

async function stopBoss(boss: PgBoss): Promise<void> {
  await boss.stop({ graceful: true, wait: true, timeout: STOP_TIMEOUT_MS, close: false })
}

function executor(pool: Database['pool']): PgBoss.Db {
  return { executeSql: (text, values) => pool.query(text, values) }
}
