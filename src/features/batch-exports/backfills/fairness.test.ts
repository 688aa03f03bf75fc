// A thousand intervals of a backfill next to schedules and another project, worked off by the real claims without a
// destination: who comes when, and how many at a time.
// @module-tag slow
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createOrganization } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { sql } from '../../../platform/db/sql.ts'
import { eventsOf, storedEvent } from '../../../platform/event-store/fixture/suite.ts'
import type { ExportRow, RunRow } from '../rows.ts'
import { RUNS_PER_PROJECT } from '../runs/claimable.ts'
import { claimRun, makeSlots } from '../runs/claim.ts'
import { endRun, releaseRun } from '../runs/queries.ts'
import { makeDueRuns } from '../schedule/due.ts'
import { addExport, at, intervalText } from '../schedule/fixture/exports.ts'
import { cancelBackfill } from './cancel.ts'
import { createBackfill } from './create.ts'
import { estimateBackfill } from './estimate.ts'
import { makeBackfillRuns } from './make-runs.ts'
import { advanceBackfill } from './advance.ts'

const WORKERS = 8
const FROM = at('2026-01-01T00:00:00Z')
const owner = randomUUID()
const DONE = {
  status: 'Completed',
  records_completed: 0,
  bytes_exported: 0,
  files: null,
  latest_error: null,
} as const

let app: TestApp
let busy: number
let quiet: number
let now = at('2026-03-01T00:00:30Z')

beforeAll(async () => {
  app = await startTestApp()
  busy = (await createOrganization(app)).project.id
  quiet = (await createOrganization(app)).project.id
  // A backfill has runs from its first event to its last.
  const event = (hour: number) =>
    storedEvent({ timestamp: BigInt(FROM.getTime() + hour * 3_600_000) * 1000n })
  await app.services.eventStore.write(
    [eventsOf(busy, event(0), event(999)), eventsOf(quiet, event(0), event(99), event(249))],
    now,
  )
})
afterAll(() => app.close())

async function backfillOf(row: ExportRow, hours: number): Promise<string> {
  const range = { start_at: FROM, end_at: new Date(FROM.getTime() + hours * 3_600_000) }
  const estimate = await estimateBackfill(app.services, row, range, now)
  const made = await app.db.transaction((tx) => createBackfill(tx, row, range, estimate, now))
  return made.backfill_id
}

const leaseOf = (run: RunRow) => ({ run_id: run.id, owner, attempt: run.attempt })

async function finish(run: RunRow): Promise<void> {
  await app.db.transaction(async (tx) => {
    expect(await endRun(tx, leaseOf(run), DONE, now)).toBe(true)
    if (run.backfill_id !== null) await advanceBackfill(tx, run.backfill_id, now)
  })
}

async function tick(): Promise<void> {
  await makeDueRuns(app.services, now)
  await makeBackfillRuns(app.services, now)
  await makeSlots(app.db)
}

/** Takes as many runs as there are workers for. */
async function claimInto(held: RunRow[], claimed: RunRow[]): Promise<void> {
  while (held.length < WORKERS) {
    const run = await claimRun(app.db, owner, now)
    if (!run) return
    held.push(run)
    claimed.push(run)
    const ofProject = held.filter(({ project_id }) => project_id === run.project_id)
    expect(ofProject.length).toBeLessThanOrEqual(RUNS_PER_PROJECT)
  }
}

const liveOf = async (backfill_id: string) =>
  (
    await app.db.only<{ count: number }>(sql`
      SELECT count(*)::int AS count FROM batch_export_run WHERE backfill_id = ${backfill_id} AND finished_at IS NULL`)
  ).count
const statusOf = async (backfill_id: string) =>
  (
    await app.db.only<{ status: string }>(
      sql`SELECT status FROM batch_export_backfill WHERE id = ${backfill_id}`,
    )
  ).status

it('keeps order, caps and turns, and leaves nothing live when it is cancelled', async () => {
  const large = await addExport(app.db, busy, { created_at: now, paused: true })
  const scheduled = await addExport(app.db, busy, { created_at: now, interval: 'every 5 minutes' })
  const small = await addExport(app.db, quiet, { created_at: now, paused: true })
  const [thousand, hundred] = [await backfillOf(large, 1000), await backfillOf(small, 100)]
  const [held, claimed]: [RunRow[], RunRow[]] = [[], []]
  const waits: number[] = []

  while ((await statusOf(hundred)) === 'Running') {
    await tick()
    const before = claimed.length
    await claimInto(held, claimed)
    const round = claimed.slice(before)
    const place = round.findIndex(({ batch_export_id }) => batch_export_id === scheduled.id)
    if (place >= 0) waits.push(place)
    expect(await liveOf(thousand)).toBeLessThanOrEqual(4)
    expect(await liveOf(hundred)).toBeLessThanOrEqual(4)
    now = new Date(now.getTime() + 60_000)
    for (const run of held.splice(0, 3)) await finish(run)
  }

  const of = (backfill_id: string) => claimed.filter((run) => run.backfill_id === backfill_id)
  for (const runs of [of(thousand), of(hundred)]) {
    const ends = runs.map(({ data_interval_end }) => data_interval_end.getTime())
    expect(ends).toEqual(ends.toSorted((one, other) => one - other))
    expect(new Set(ends).size).toBe(ends.length)
    expect(runs[0]!.data_interval_start).toEqual(FROM)
  }
  // The small project did not wait for the large one, nor the other way round.
  expect(of(hundred)).toHaveLength(100)
  expect(of(thousand).length).toBeGreaterThan(60)
  expect(of(thousand).length).toBeLessThan(160)
  // A run of the schedule was at most behind the other project's turn.
  expect(waits.length).toBeGreaterThan(5)
  expect(Math.max(...waits)).toBeLessThanOrEqual(1)

  await app.db.transaction((tx) => cancelBackfill(tx, { project_id: busy, id: thousand }, now))
  expect(await liveOf(thousand)).toBe(0)
  for (const run of held.splice(0)) {
    if (run.backfill_id === thousand) await releaseRun(app.db, leaseOf(run))
    else await finish(run)
  }
  await tick()
  expect(await liveOf(thousand)).toBe(0)
  const slots = await app.db.rows<{ active: number }>(sql`SELECT active FROM batch_export_slot`)
  expect(slots.map(({ active }) => active)).toEqual([0, 0])
})

it('comes to its end, each interval once', async () => {
  const row = await addExport(app.db, quiet, { created_at: now, paused: true })
  const id = await backfillOf(row, 250)
  const held: RunRow[] = []
  const claimed: RunRow[] = []
  while ((await statusOf(id)) === 'Running') {
    await makeSlots(app.db)
    await claimInto(held, claimed)
    for (const run of held.splice(0)) await finish(run)
  }
  const mine = claimed.filter(({ backfill_id }) => backfill_id === id)
  expect(mine).toHaveLength(250)
  expect(mine.slice(1).map(({ data_interval_start }) => data_interval_start)).toEqual(
    mine.slice(0, -1).map(({ data_interval_end }) => data_interval_end),
  )
  expect(intervalText(mine.at(-1)!)).toBe('2026-01-11T09:00 → 2026-01-11T10:00')
})
