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
  /** How long one try may take; another follows after that. Two minutes unless told. */
  time_limit_s?: number
  handle(services: Services, data: Data, now: Date): Promise<void>
}

/** A job with its data type worn off, as the list in app/jobs.ts holds it. */
export type AnyJob = Omit<Job<object>, 'handle'> & {
  handle(services: Services, data: never, now: Date): Promise<void>
}

export type Jobs = {
  /** With `after_s` it is due so many seconds later. */
  enqueue<Data extends object>(
    tx: Db,
    job: Job<Data>,
    data: Data,
    options?: { after_s?: number },
  ): Promise<void>
  /** Starts working on the queues; until then jobs are only kept. */
  work(services: Services): Promise<void>
  /** Jobs that are due, running or waiting for another try, by name. */
  countWaiting(): Promise<Record<string, number>>
  /** Jobs that were given up, by name. */
  countFailed(): Promise<Record<string, number>>
  stop(): Promise<void>
}

// 5 s doubling up to 23 h between tries: a mail server may be away for a day and a half.
const RETRY = { retryLimit: 15, retryDelay: 5, retryBackoff: true, retentionDays: 30 }
const TIME_LIMIT_S = 120
// Enqueueing wakes the worker at once; looking only finds retries and what another process enqueued.
const LOOK_EVERY_MS = 5_000
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
  for (const { name, time_limit_s = TIME_LIMIT_S } of jobs.filter((each) => !known.has(each.name))) {
    await boss.createQueue(name, { name, ...RETRY, expireInSeconds: time_limit_s })
  }
  await boss.stop({ graceful: false, close: false })
}

/** `keeps_time`: puts what the timetable has due into the queues, and clears up; any number of processes may. */
export async function openJobs(
  db: Database,
  jobs: readonly AnyJob[],
  log: Log,
  { keeps_time = true }: { keeps_time?: boolean } = {},
): Promise<Jobs> {
  const boss = new PgBoss({
    db: executor(db.pool),
    migrate: false,
    supervise: keeps_time,
    schedule: keeps_time,
  })
  boss.on('error', (error) => log.warn({ err: error }, 'background jobs: a temporary fault'))
  await boss.start()
  const workers = new Map<string, Worker>()
  let lookout: { stop(): Promise<void> } | undefined
  return {
    async enqueue(tx, { name }, data, { after_s = 0 } = {}) {
      await boss.send(name, data, {
        startAfter: after_s,
        db: { executeSql: async (text, values) => ({ rows: await tx.rows({ text, values }) }) },
      })
      tx.afterCommit(() => workers.get(name)?.wake())
    },
    async work(services) {
      for (const definition of jobs) {
        const { name, cron } = definition
        workers.set(name, startWorker(boss, definition, services, log))
        if (cron !== undefined) await boss.schedule(name, cron)
      }
      lookout = startLookout(db, workers, log)
    },
    countWaiting: () => countByName(db, WAITING),
    countFailed: () => countByName(db, GIVEN_UP),
    async stop() {
      const ends = Promise.all(
        [...workers.values(), ...(lookout ? [lookout] : [])].map((part) => part.stop()),
      )
      await Promise.race([ends, new Promise((resolve) => setTimeout(resolve, STOP_TIMEOUT_MS).unref())])
      await boss.stop({ graceful: false, close: false })
    },
  }
}

type Worker = { wake(): void; stop(): Promise<void> }

/**
 * One job after the other. pg-boss's own workers report a job's end without waiting for it: when PostgreSQL is gone at
 * that moment, nobody catches the error and the whole process ends.
 */
function startWorker(boss: PgBoss, definition: AnyJob, services: Services, log: Log): Worker {
  let isStopping = false
  let wake = () => {}
  const sleep = () => new Promise<void>((resolve) => (wake = resolve))
  const work = async () => {
    for (let woken = sleep(); !isStopping;) {
      await woken
      woken = sleep()
      while (!isStopping) {
        const next = await fetchNext(boss, definition, log)
        if (!next) break
        await perform(boss, definition, next, services, log)
      }
    }
  }
  const ended = work()
  return {
    wake: () => wake(),
    stop() {
      isStopping = true
      wake()
      return ended
    },
  }
}

/** Wakes the workers whose jobs are due: one statement for all queues, which are empty most of the time. */
function startLookout(db: Database, workers: ReadonlyMap<string, Worker>, log: Log) {
  let isStopping = false
  let end = () => {}
  const stopped = new Promise<void>((resolve) => (end = resolve))
  const look = async () => {
    while (!isStopping) {
      for (const name of await dueQueues(db, log)) workers.get(name)?.wake()
      await Promise.race([stopped, new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS).unref())])
    }
  }
  const ended = look()
  return {
    stop() {
      isStopping = true
      end()
      return ended
    },
  }
}

/** None when PostgreSQL is away, which means looking again later. */
async function dueQueues(db: Database, log: Log): Promise<string[]> {
  try {
    const rows = await db.rows<{ name: string }>(sql`
      SELECT DISTINCT name FROM pgboss.job WHERE state < 'active' AND start_after <= now()`)
    return rows.map(({ name }) => name)
  } catch (error) {
    log.warn({ err: error }, 'background jobs: the queues do not answer')
    return []
  }
}

/** Undefined when nothing waits, or PostgreSQL is away: both mean looking again later. */
async function fetchNext(boss: PgBoss, { name }: AnyJob, log: Log): Promise<PgBoss.Job<object> | undefined> {
  try {
    return (await boss.fetch<object>(name, { batchSize: 1 }))[0]
  } catch (error) {
    log.warn({ err: error, job: name }, 'background jobs: the queue does not answer')
    return undefined
  }
}

async function perform(
  boss: PgBoss,
  definition: AnyJob,
  next: PgBoss.Job<object>,
  services: Services,
  log: Log,
): Promise<void> {
  const { name } = definition
  const facts = { job: name, job_id: next.id }
  const end = await definition.handle(services, next.data as never, services.now()).then(
    () => () => boss.complete(name, next.id),
    (error: unknown) => {
      if (isPermanent(error)) {
        log.error({ ...facts, err: error }, 'a background job was given up')
        return () => boss.cancel(name, next.id)
      }
      log.warn({ ...facts, err: error }, 'a background job failed and will be tried again')
      // A plain text is kept, so that no request data lands in the table.
      return () => boss.fail(name, next.id, { message: error instanceof Error ? error.message : 'failed' })
    },
  )
  // Left unsaid, it is tried again once its time is up.
  await end().catch((error: unknown) =>
    log.warn({ ...facts, err: error }, 'the end of a background job could not be recorded'),
  )
}

/** Errors that say of themselves that another try would end the same way, such as MailRefused. */
function isPermanent(error: unknown): boolean {
  return error instanceof Error && 'permanent' in error && error.permanent === true
}

/** Without those that are not due yet, and those of pg-boss itself, which come and go with every minute. */
async function countByName(db: Database, states: readonly string[]): Promise<Record<string, number>> {
  const rows = await db.rows<{ name: string; count: number }>(sql`
    SELECT name, count(*)::int AS count FROM pgboss.job
    WHERE state::text = ANY(${states}) AND NOT (state = 'created' AND start_after > now())
      AND NOT starts_with(name, '__pgboss__') GROUP BY name`)
  return Object.fromEntries(rows.map((row) => [row.name, row.count]))
}

function executor(pool: Database['pool']): PgBoss.Db {
  return { executeSql: (text, values) => pool.query(text, values) }
}
