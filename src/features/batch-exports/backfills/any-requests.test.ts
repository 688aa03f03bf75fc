// Whatever is backfilled, in whichever order and however it ends: a request delivers what its range still lacks, and
// nothing else. Checked event by event against a model that knows neither positions nor areas.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createOrganization } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { IS_LONG } from '../../../../test/harness/long.ts'
import { sql } from '../../../platform/db/sql.ts'
import type { Area } from '../../../platform/event-store/export-rows.ts'
import { eventsOf, storedEvent } from '../../../platform/event-store/fixture/suite.ts'
import { insertProject } from '../../projects/queries.ts'
import { deliveryIdOf } from '../ledger/claim.ts'
import { listClaims } from '../ledger/queries.ts'
import type { BackfillRow, ExportRow, RunRow } from '../rows.ts'
import { BACKFILL_COLUMNS } from '../runs/columns.ts'
import { claimEvents } from '../runs/fixture/rows.ts'
import { addExport, at, runsOf } from '../schedule/fixture/exports.ts'
import { createBackfill } from './create.ts'
import { estimateBackfill } from './estimate.ts'
import { advanceBackfill } from './advance.ts'

const SEED = Number(process.env.BACKFILLS_SEED ?? 20_260_105)
const HISTORIES = IS_LONG ? 25 : 10
const BEGAN = at('2026-01-05T00:00:00Z').getTime()
const NOW = at('2026-01-09T00:00:00Z')
const MINUTE = 60_000
const SIZES = { hour: 60 * MINUTE, day: 24 * 60 * MINUTE } as const
const MINUTES = 2 * 24 * 60

const history = fc.record({
  interval: fc.constantFrom('hour', 'hour', 'day'),
  /** The minutes at which they happened. */
  events: fc.array(fc.nat(MINUTES - 1), { maxLength: 8 }),
  requests: fc.array(
    fc.record({
      from: fc.nat(MINUTES - 1),
      minutes: fc.integer({ min: 1, max: MINUTES }),
      /** What becomes of its runs; those that are cancelled early have claimed nothing. */
      fate: fc.constantFrom('Completed', 'Completed', 'Failed', 'cancelled early'),
    }),
    { minLength: 1, maxLength: 4 },
  ),
})
type History = typeof history extends fc.Arbitrary<infer Value> ? Value : never
type Request = History['requests'][number]

let app: TestApp
let organization_id: string
beforeAll(async () => {
  app = await startTestApp()
  organization_id = (await createOrganization(app)).organization.id
})
afterAll(() => app.close())

const instant = (minute: number) => new Date(BEGAN + minute * MINUTE)
const rangeOf = ({ from, minutes }: Request) => ({ start_at: instant(from), end_at: instant(from + minutes) })
const holds = ({ seq_from, seq_to, time_from, time_to }: Area, seq: number, time: Date) =>
  seq > seq_from && seq <= seq_to && (!time_from || time >= time_from) && (!time_to || time < time_to)

async function addHistory({ interval, events }: History): Promise<ExportRow> {
  const { id } = await insertProject(app.db, organization_id, {}, NOW)
  const stored = events.map((minute) =>
    storedEvent({ uuid: crypto.randomUUID(), timestamp: BigInt(instant(minute).getTime()) * 1000n }),
  )
  if (stored.length > 0) await app.services.eventStore.write([eventsOf(id, ...stored)], NOW)
  return addExport(app.db, id, { interval, created_at: NOW, paused: true })
}

/** Does what a worker does, without a destination. */
async function work(run: RunRow, fate: Request['fate'], now: Date): Promise<void> {
  if (fate !== 'cancelled early') await claimEvents(app.db, run)
  const status = fate === 'cancelled early' ? 'Cancelled' : fate
  await app.db.transaction(async (tx) => {
    await tx.run(sql`
      UPDATE batch_export_run SET status = ${status}, finished_at = ${now} WHERE id = ${run.id}`)
    await advanceBackfill(tx, run.backfill_id!, now)
  })
}

async function ask(row: ExportRow, request: Request, now: Date): Promise<BackfillRow> {
  const range = rangeOf(request)
  const estimate = await estimateBackfill(app.services, row, range, now)
  const { backfill_id } = await app.db.transaction((tx) => createBackfill(tx, row, range, estimate, now))
  for (;;) {
    const live = (await runsOf(app.db, row)).filter(({ finished_at }) => finished_at === null)
    if (live.length === 0) break
    expect(live.length).toBeLessThanOrEqual(4)
    for (const run of live) await work(run, request.fate, now)
  }
  return app.db.only(sql`SELECT ${BACKFILL_COLUMNS} FROM batch_export_backfill WHERE id = ${backfill_id}`)
}

/** For each event: the deliveries that claimed it, and whether one of their runs completed. */
async function ownersOf(row: ExportRow, events: readonly number[]) {
  const runs = await runsOf(app.db, row)
  const claims = await listClaims(app.db, row.id, [...new Set(runs.map(deliveryIdOf))])
  const isDone = (delivery_id: string) =>
    runs.some((run) => deliveryIdOf(run) === delivery_id && run.status === 'Completed')
  return events.map((minute, index) =>
    claims
      .filter((claim) => holds(claim, index + 1, instant(minute)))
      .map(({ run_id }) => (isDone(run_id) ? 'delivered' : 'undelivered')),
  )
}

it('each request delivers what its range lacks, once, and leaves the rest alone', async () => {
  for (const past of fc.sample(history, { numRuns: HISTORIES, seed: SEED })) {
    const told = JSON.stringify(past)
    const row = await addHistory(past)
    const states: ('free' | 'undelivered' | 'delivered')[] = past.events.map(() => 'free')
    for (const [number, request] of past.requests.entries()) {
      const size = SIZES[past.interval]
      const { start_at, end_at } = rangeOf(request)
      // Whole intervals: from the one that the range begins in to the last that ends in it.
      const [from, to] = [start_at, end_at].map((edge) => Math.floor(edge.getTime() / size) * size)
      const isAsked = (minute: number) =>
        instant(minute).getTime() >= from! && instant(minute).getTime() < to!
      const asked = [...past.events.keys()].filter((index) => isAsked(past.events[index]!))
      const lacking = asked.filter((index) => states[index] !== 'delivered')

      const backfill = await ask(row, request, new Date(NOW.getTime() + number * 1000))
      expect(backfill, told).toMatchObject({
        status: 'Completed',
        rows_to_deliver: lacking.length,
        rows_delivered_before: asked.length - lacking.length,
      })
      if (lacking.length === 0) expect(backfill.total_runs, told).toBe(0)
      for (const index of lacking) {
        if (request.fate === 'Completed') states[index] = 'delivered'
        else if (request.fate === 'Failed') states[index] = 'undelivered'
      }
      const owners = states.map((state) => (state === 'free' ? [] : [state]))
      expect(await ownersOf(row, past.events), told).toEqual(owners)
    }
  }
})
