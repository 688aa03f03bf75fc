// A database from before the ledger, with runs of the schedule, retries and backfills by time: what each of them owned is
// claimed by it afterwards, and the account adds up.
// @module-tag slow
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { openDatabase, type Database } from '../../../platform/db/database.ts'
import { migrate } from '../../../platform/db/migrate.ts'
import { sql } from '../../../platform/db/sql.ts'
import { openDuckDb } from '../../../platform/event-store/duckdb/open.ts'
import type { EventStore } from '../../../platform/event-store/event-store.ts'
import { eventsOf, storedEvent } from '../../../platform/event-store/fixture/suite.ts'
import { estimateBackfill } from '../backfills/estimate.ts'
import type { ExportRow, RunRow } from '../rows.ts'
import { reconcile } from '../reconciliation/reconcile.ts'
import { RUN_COLUMNS } from '../runs/columns.ts'

const HOUR = 3_600_000
const BEGAN = Date.parse('2026-01-05T00:00:00Z')
const hour = (index: number) => new Date(BEGAN + index * HOUR)
const LAST = '0005_export_ledger.sql'
const FOLDER = new URL('../../../platform/db/migrations/', import.meta.url)
const { template: _, ...connection } = inject('postgres')

/** Hours that the events happened in, by the hour they arrived in. */
const ARRIVALS: readonly [arrived: number, ...happened: number[]][] = [
  [1, 1, 1, 1, -3],
  [2, 2, 1],
  // The export was paused.
  [3, 3, 3],
  [4, 3, 4],
  // After the last run.
  [5, 5],
]

let admin: Database
let db: Database
let name: string
let folder: string
let eventStore: EventStore
let row: ExportRow
beforeEach(async () => {
  name = `test_ledger_${randomBytes(6).toString('hex')}`
  admin = openDatabase({ ...connection, database: 'longshore', max: 1 })
  await admin.pool.query(`CREATE DATABASE ${name}`)
  db = openDatabase({ ...connection, database: name })
  folder = await mkdtemp(join(tmpdir(), 'longshore-ledger-'))
  eventStore = await openDuckDb({ folder, memory_mb: 200, query_timeout_ms: 20_000 })
  await migrateUpToLedger()
  row = await addExportOf('events')
  for (const [arrived, ...happened] of ARRIVALS) {
    const events = happened.map((index) =>
      storedEvent({ uuid: randomUUID(), timestamp: BigInt(hour(index).getTime() + HOUR / 2) * 1000n }),
    )
    await eventStore.write(
      [eventsOf(row.project_id, ...events)],
      new Date(hour(arrived).getTime() + HOUR / 2),
    )
  }
})
afterEach(async () => {
  await eventStore.close()
  await rm(folder, { recursive: true })
  await db.close()
  await admin.pool.query(`DROP DATABASE ${name} WITH (FORCE)`)
  await admin.close()
})

async function migrateUpToLedger(): Promise<void> {
  await db.run(
    sql`CREATE TABLE migration (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())`,
  )
  for (const file of (await readdir(FOLDER)).sort().filter((each) => each < LAST)) {
    await db.pool.query(await readFile(new URL(file, FOLDER), 'utf8'))
    await db.run(sql`INSERT INTO migration (name) VALUES (${file})`)
  }
}

async function addExportOf(model: ExportRow['model']): Promise<ExportRow> {
  const organization_id = randomUUID()
  await db.run(sql`
    INSERT INTO organization (id, name, slug, is_member_join_email_enabled, enforce_2fa, created_at, updated_at)
    VALUES (${organization_id}, 'Acme', ${organization_id}, true, false, now(), now())`)
  // In the columns of that time.
  const project = await db.only<{ id: number }>(sql`
    INSERT INTO project (uuid, organization_id, name, api_token, created_at, updated_at)
    VALUES (${randomUUID()}, ${organization_id}, 'Shop', ${randomUUID()}, ${hour(0)}, ${hour(0)}) RETURNING id`)
  return db.only(sql`
    INSERT INTO batch_export (id, project_id, name, model, destination_type, config, secrets, interval, timezone, paused,
      next_due_at, created_at, last_updated_at)
    VALUES (${randomUUID()}, ${project.id}, 'To nowhere', ${model}, 'NoOp', '{}', '', 'hour', 'UTC', false, ${hour(6)},
      ${hour(1)}, ${hour(1)})
    RETURNING *`)
}

type OldRun = Partial<RunRow> & { hour: number }
let made = 0

/** As the engine of old left it; completed with as many rows as told, failed without. */
async function addRun(
  { hour: index, ...fields }: OldRun,
  rows: number | null = null,
  of = row,
): Promise<string> {
  const id = randomUUID()
  const status = fields.status ?? (rows === null ? 'Failed' : 'Completed')
  const created_at = new Date(hour(10).getTime() + made++)
  const { model, destination_type, config } = of
  const definition = JSON.stringify({
    model,
    destination_type,
    config,
    hogql_query: null,
    filters: null,
    timezone: 'UTC',
  })
  const finished_at = status === 'Starting' ? null : created_at
  await db.run(sql`
    INSERT INTO batch_export_run (id, project_id, batch_export_id, backfill_id, status, data_interval_start,
      data_interval_end, selection, seq_from, seq_to, definition, records_total_count, records_completed, run_after,
      created_at, finished_at, last_updated_at)
    VALUES (${id}, ${of.project_id}, ${of.id}, ${fields.backfill_id ?? null}, ${status}, ${hour(index)},
      ${hour(index + 1)}, ${fields.selection ?? 'arrival'}, ${fields.seq_from ?? null}, ${fields.seq_to ?? null},
      ${definition}, ${rows}, ${rows}, ${created_at}, ${created_at}, ${finished_at}, ${created_at})`)
  return id
}

async function addBackfill(status: 'Completed' | 'Running', retry_of: string | null = null): Promise<string> {
  const id = randomUUID()
  await db.run(sql`
    INSERT INTO batch_export_backfill (id, project_id, batch_export_id, start_at, end_at, retry_of, seq_to, status,
      total_runs, created_at, last_updated_at)
    VALUES (${id}, ${row.project_id}, ${row.id}, ${hour(0)}, ${hour(9)}, ${retry_of}, 0, ${status}, 1, now(), now())`)
  return id
}

/** By the time of the events, up to a position. */
const backfilled = async (index: number, seq_to: number, rows: number | null, fields: Partial<RunRow> = {}) =>
  addRun(
    {
      hour: index,
      selection: 'timestamp',
      seq_from: 0,
      seq_to,
      backfill_id: await addBackfill('Completed'),
      ...fields,
    },
    rows,
  )
const retried = async (run: string, fields: OldRun, rows: number | null = null) =>
  addRun({ ...fields, backfill_id: await addBackfill('Completed', run) }, rows)

const runOf = (id: string) =>
  db.only<RunRow & { is_claimed: boolean }>(
    sql`SELECT ${RUN_COLUMNS}, is_claimed FROM batch_export_run WHERE id = ${id}`,
  )

/** `positions × hours` of what each run has claimed. */
async function claimsOf(run_id: string): Promise<string[]> {
  const rows = await db.rows<{ from: number; to: number; start: Date | null; end: Date | null }>(sql`
    SELECT lower(positions)::int AS from, (upper(positions) - 1)::int AS to, lower(times) AS start, upper(times) AS end
    FROM batch_export_claim WHERE run_id = ${run_id} ORDER BY positions`)
  const hourText = (at: Date | null) => (at ? (at.getTime() - BEGAN) / HOUR : '')
  return rows.map(({ from, to, start, end }) => `${from}–${to} × ${hourText(start)}–${hourText(end)}`)
}

const account = async () => {
  const now = new Date(hour(5).getTime() + 50 * 60_000)
  const {
    intervals: _intervals,
    count: _count,
    ...totals
  } = await reconcile({ db, eventStore }, row, { limit: 10, offset: 0 }, now)
  return totals
}

describe('a database from before the ledger', () => {
  it('keeps what runs of the schedule owned, with the run that their retries repeat', async () => {
    const first = await addRun({ hour: 1, seq_from: 0, seq_to: 4 }, 4)
    const failed = await addRun({ hour: 2, seq_from: 4, seq_to: 6 })
    const retry = await retried(failed, { hour: 2, seq_from: 4, seq_to: 6 }, 2)
    const again = await retried(retry, { hour: 2, seq_from: 4, seq_to: 6 })
    const unbegun = await addRun({ hour: 4, status: 'Cancelled' })
    const empty = await addRun({ hour: 0, seq_from: 0, seq_to: 0 }, 0)
    expect(await migrate(db)).toContain(LAST)
    expect(await claimsOf(first)).toEqual(['1–4 × –'])
    expect(await claimsOf(failed)).toEqual(['5–6 × –'])
    for (const id of [retry, again]) {
      expect(await runOf(id)).toMatchObject({ repeats: failed, is_claimed: false })
      expect(await claimsOf(id)).toEqual([])
    }
    expect(await runOf(unbegun)).toMatchObject({ repeats: null, is_claimed: false })
    expect(await runOf(empty)).toMatchObject({ repeats: null, is_claimed: true })
    // Positions 7 and 8 fell into the pause; 9 and 10 wait for the run that was cancelled, 11 for the next.
    expect(await account()).toEqual({
      received: 11,
      exported: 6,
      filtered_out: 0,
      pending: 3,
      skipped: 2,
      backfilled: 0,
    })
  })

  it('gives a run that was retried before it began the positions that its retry found', async () => {
    const cancelled = await addRun({ hour: 2, status: 'Cancelled' })
    const retry = await retried(cancelled, { hour: 2, seq_from: 4, seq_to: 6 }, 2)
    await migrate(db)
    expect(await runOf(cancelled)).toMatchObject({ seq_from: 4, seq_to: 6, is_claimed: true })
    expect(await claimsOf(cancelled)).toEqual(['5–6 × –'])
    expect(await runOf(retry)).toMatchObject({ repeats: cancelled, is_claimed: false })
    expect(await account()).toMatchObject({ received: 11, exported: 2 })
  })

  it('keeps for backfills what the schedule did not own, each event once', async () => {
    const scheduled = await addRun({ hour: 1, seq_from: 0, seq_to: 4 }, 4)
    // Delivered again what the schedule had delivered, and one event besides.
    const doubled = await backfilled(1, 6, 4)
    const healed = await backfilled(3, 8, 2)
    const later = await backfilled(3, 10, 3)
    await migrate(db)
    expect(await claimsOf(scheduled)).toEqual(['1–4 × –'])
    expect(await claimsOf(doubled)).toEqual(['5–6 × 1–2'])
    expect(await claimsOf(healed)).toEqual(['5–8 × 3–4'])
    expect(await claimsOf(later)).toEqual(['9–10 × 3–4'])
    // Four of the schedule; the late one of hour 1; two of hour 3; the late one of hour 3.
    expect(await account()).toEqual({
      received: 11,
      exported: 8,
      filtered_out: 0,
      pending: 1,
      skipped: 2,
      backfilled: 4,
    })
    const range = { start_at: hour(-5), end_at: hour(5) }
    const estimate = await estimateBackfill({ db, eventStore }, row, range, hour(6))
    expect(estimate).toMatchObject({ rows: 2, delivered_before: 8, unfinished: [] })
  })

  it('claims for a backfill what its retry delivered, under the first run', async () => {
    const failed = await backfilled(3, 8, null)
    const other = await backfilled(3, 8, 2)
    const retry = await retried(failed, { hour: 3, selection: 'timestamp', seq_from: 0, seq_to: 8 }, 2)
    await migrate(db)
    expect(await runOf(retry)).toMatchObject({ repeats: failed })
    expect(await claimsOf(failed)).toEqual(['1–8 × 3–4'])
    expect(await claimsOf(other)).toEqual([])
    expect(await account()).toMatchObject({ exported: 2, backfilled: 2 })
  })

  it('leaves to backfills that have not got through what will be left when they begin', async () => {
    const failed = await backfilled(3, 8, null)
    const waiting = await addRun({
      hour: 4,
      selection: 'timestamp',
      seq_from: 0,
      seq_to: 10,
      status: 'Starting',
      backfill_id: await addBackfill('Running'),
    })
    await migrate(db)
    for (const id of [failed, waiting]) {
      expect(await runOf(id)).toMatchObject({ is_claimed: false })
      expect(await claimsOf(id)).toEqual([])
    }
  })

  it('knows the files that runs of the schedule left, and that the others left something', async () => {
    const files = ['a.jsonl', 'b.jsonl'].map((file) => ({ name: file, rows: 2, bytes: 20, sha256: 'ab' }))
    const scheduled = await addRun({ hour: 1, seq_from: 0, seq_to: 4 }, 4)
    const table = await addRun({ hour: 2, seq_from: 4, seq_to: 6 }, 2)
    const backfill = await backfilled(3, 8, 2)
    const failed = await addRun({ hour: 4, seq_from: 8, seq_to: 10 })
    for (const id of [scheduled, backfill]) {
      await db.run(sql`UPDATE batch_export_run SET files = ${JSON.stringify(files)} WHERE id = ${id}`)
    }
    await migrate(db)
    expect((await runOf(scheduled)).published).toEqual(['a.jsonl', 'b.jsonl'])
    expect((await runOf(table)).published).toEqual([])
    // The schedule may have a file of that name.
    expect((await runOf(backfill)).published).toEqual([])
    expect((await runOf(failed)).published).toBeNull()
  })

  it('has no claims for persons', async () => {
    const persons = await addExportOf('persons')
    await addRun({ hour: 1, seq_from: 0, seq_to: 4 }, 4, persons)
    await migrate(db)
    const { count } = await db.only<{ count: number }>(
      sql`SELECT count(*)::int AS count FROM batch_export_claim`,
    )
    expect(count).toBe(0)
  })
})
