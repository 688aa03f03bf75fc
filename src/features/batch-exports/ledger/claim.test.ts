// The guards of the ledger, each on a real PostgreSQL: nobody gets what another has, whoever comes first, however many
// come at once.
import fc from 'fast-check'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganization } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { Redactor } from '../../../platform/secrets/redactor.ts'
import { sql } from '../../../platform/db/sql.ts'
import type { Area } from '../../../platform/event-store/export-rows.ts'
import { eventsOf, storedEvent } from '../../../platform/event-store/fixture/suite.ts'
import { freeze } from '../engine/freeze.ts'
import { RunLog } from '../engine/run-log.ts'
import { RunTally } from '../engine/tally.ts'
import { Watch } from '../engine/watch.ts'
import type { ExportRow, RunRow } from '../rows.ts'
import { addBackfill, addExport, addRun, claimEvents } from '../runs/fixture/rows.ts'
import { deliveryIdOf } from './claim.ts'
import { insertClaims, listClaims, lockLedger } from './queries.ts'

const HOUR = 3_600_000
const EVENTS = 6

let app: TestApp
let project_id: number
let this_hour: number
beforeAll(async () => {
  app = await startTestApp()
  project_id = (await createOrganization(app)).project.id
  this_hour = Math.floor(app.services.now().getTime() / HOUR) * HOUR
  // All arrive in the hour that has begun; the first half happened in the hour before.
  const events = Array.from({ length: EVENTS }, (_, index) =>
    storedEvent({
      uuid: randomUUID(),
      timestamp: BigInt(hour(index < EVENTS / 2 ? -1 : 0).getTime() + index) * 1000n,
    }),
  )
  await app.services.eventStore.write([eventsOf(project_id, ...events)], hour(0))
})
afterAll(() => app.close())

/** The hour that has begun, and those around it. */
const hour = (index: number) => new Date(this_hour + index * HOUR)
const newExport = () => addExport(app.db, project_id, hour(0))
const area = (seq_from: number, seq_to: number, from: number | null, to: number | null): Area => ({
  seq_from,
  seq_to,
  time_from: from === null ? null : hour(from),
  time_to: to === null ? null : hour(to),
})
const claimsOf = async (row: ExportRow, ...runs: RunRow[]) =>
  (await listClaims(app.db, row.id, runs.map(deliveryIdOf))).map(
    ({ seq_from, seq_to, time_from, time_to }) => ({ seq_from, seq_to, time_from, time_to }),
  )

describe('the table of claims', () => {
  const insert = (row: ExportRow, run: RunRow, claimed: Area) =>
    insertClaims(app.db, row.id, run.id, [{ ...claimed, events: null }])

  it.each<[string, Parameters<typeof area>]>([
    ['the same', [0, 10, -1, 0]],
    ['part of its positions, at any time', [9, 20, null, null]],
    ['part of its times', [0, 100, null, -0.5]],
    ['what lies within', [4, 5, -0.75, -0.5]],
  ])('refuses %s, whoever asks', async (_what, overlapping) => {
    const row = await newExport()
    const [one, other] = [await addRun(app.db, row, hour(0)), await addRun(app.db, row, hour(1))]
    await insert(row, one, area(0, 10, -1, 0))
    for (const run of [one, other]) {
      await expect(insert(row, run, area(...overlapping))).rejects.toMatchObject({ code: '23P01' })
    }
    expect(await claimsOf(row, one, other)).toEqual([area(0, 10, -1, 0)])
  })

  it('takes what lies beside, and the same for another export', async () => {
    const [row, other] = [await newExport(), await newExport()]
    const run = await addRun(app.db, row, hour(0))
    const beside = [area(0, 10, -1, 0), area(10, 20, -1, 0), area(0, 10, 0, 1), area(0, 10, null, -1)]
    for (const each of beside) await insert(row, run, each)
    expect(await claimsOf(row, run)).toHaveLength(beside.length)
    await insert(other, await addRun(app.db, other, hour(0)), area(0, 100, null, null))
  })
})

const EDGE = 4
const anArea = fc
  .tuple(fc.nat(EDGE - 1), fc.nat(EDGE - 1), fc.nat(EDGE - 1), fc.nat(EDGE - 1), fc.boolean())
  .map(([one, other, from, to, isOfAnyTime]) => {
    const positions = [Math.min(one, other), Math.max(one, other) + 1] as const
    return isOfAnyTime
      ? area(...positions, null, null)
      : area(...positions, Math.min(from, to), Math.max(from, to) + 1)
  })
const POINTS = Array.from({ length: EDGE * (EDGE + 1) }, (_, index) => ({
  seq: (index % EDGE) + 1,
  // The last lies after all that have an end.
  at: hourMs(Math.floor(index / EDGE)),
}))
function hourMs(index: number): number {
  return index * HOUR + HOUR / 2
}
const holds = ({ seq_from, seq_to, time_from, time_to }: Area, { seq, at }: (typeof POINTS)[number]) =>
  seq > seq_from &&
  seq <= seq_to &&
  (time_from === null || this_hour + at >= time_from.getTime()) &&
  (time_to === null || this_hour + at < time_to.getTime())

it('any runs, in any order, have each what those before them have left', async () => {
  const histories = fc.sample(fc.array(anArea, { minLength: 1, maxLength: 7 }), { numRuns: 30, seed: 6 })
  for (const candidates of histories) {
    const row = await newExport()
    const taken: Area[] = []
    for (const [index, candidate] of candidates.entries()) {
      const isOfAnyTime = candidate.time_from === null
      const run = await addRun(app.db, row, hour(index), {
        selection: isOfAnyTime ? 'arrival' : 'timestamp',
        seq_from: candidate.seq_from,
        seq_to: candidate.seq_to,
        ...(isOfAnyTime
          ? {}
          : { data_interval_start: candidate.time_from, data_interval_end: candidate.time_to! }),
      })
      const claimed = await claimEvents(app.db, run)
      for (const point of POINTS) {
        const isLeft = holds(candidate, point) && !taken.some((each) => holds(each, point))
        const told = JSON.stringify({ candidates, index, point })
        expect(claimed.filter((part) => holds(part, point)).length, told).toBe(isLeft ? 1 : 0)
      }
      taken.push(...claimed)
      // Whoever asks again gets the same, though nothing of it is free any more.
      expect(new Set(await claimEvents(app.db, run))).toEqual(
        new Set((await claimsOf(row, run)).map((each) => expect.objectContaining(each))),
      )
    }
  }
})

describe('freezing', () => {
  /** As a worker has it that has just taken the run. */
  async function workOn(row: ExportRow, run: RunRow) {
    const owner = randomUUID()
    await app.db.run(sql`
      UPDATE batch_export_run SET lease_owner = ${owner}, lease_until = ${hour(9)}, attempt = attempt + 1
      WHERE id = ${run.id}`)
    const { services } = app
    const redactor = new Redactor([])
    return {
      services,
      row,
      project: { id: project_id, timezone: 'UTC' },
      run,
      lease: { run_id: run.id, owner, attempt: run.attempt + 1 },
      log: new RunLog(services, { project_id, batch_export_id: row.id, run_id: run.id }, redactor),
      redactor,
      signal: new AbortController().signal,
      watch: new Watch({ elapsed_ms: () => 0, now: () => app.services.now(), onWaiting: () => undefined }),
      tally: new RunTally(),
      onProgress: undefined,
    }
  }
  const live = (row: ExportRow, fields: Partial<RunRow>) =>
    addRun(app.db, row, hour(0), { status: 'Starting', data_interval_start: hour(-1), ...fields })
  /** All positions, by arrival; and by their own time those of the hour before. */
  const scheduled = (row: ExportRow) => live(row, { seq_from: 0, seq_to: EVENTS })
  const backfilled = async (row: ExportRow) => {
    const { id } = await addBackfill(app.db, row, hour(0))
    return live(row, { selection: 'timestamp', seq_from: 0, seq_to: EVENTS, backfill_id: id })
  }

  const waiting = async () =>
    (
      await app.db.only<{ count: number }>(sql`
        SELECT count(*)::int AS count FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`)
    ).count

  it('two runs at the same moment, on two connections, never claims an event twice', async () => {
    const row = await newExport()
    const runs = [await scheduled(row), await backfilled(row)]
    const works = await Promise.all(runs.map((run) => workOn(row, run)))
    let freezing: Promise<unknown[]> | undefined
    await app.db.transaction(async (tx) => {
      await lockLedger(tx, project_id, row.id)
      freezing = Promise.all(works.map(freeze))
      // Both stand before the ledger and wait for their turn.
      await expect.poll(waiting).toBe(2)
      expect(await claimsOf(row, ...runs)).toEqual([])
    })
    await freezing
    const claims = await listClaims(
      app.db,
      row.id,
      runs.map(({ id }) => id),
    )
    for (let seq = 1; seq <= EVENTS; seq++) {
      const at = seq <= EVENTS / 2 ? -HOUR / 2 : HOUR / 2
      expect(claims.filter((claim) => holds(claim, { seq, at }))).toHaveLength(1)
    }
  })

  it('a repeat before its first run claims under the first run’s id; the first then has the same', async () => {
    const row = await newExport()
    const first = await live(row, { data_interval_end: hour(1) })
    const { id } = await addBackfill(app.db, row, hour(0), { kind: 'retry', retry_of: first.id })
    const repeat = await live(row, {
      data_interval_end: hour(1),
      seq_from: 0,
      seq_to: 4,
      repeats: first.id,
      backfill_id: id,
    })
    expect((await freeze(await workOn(row, repeat))).areas).toEqual([area(0, 4, null, null)])
    expect(await listClaims(app.db, row.id, [repeat.id])).toEqual([])
    expect(await listClaims(app.db, row.id, [first.id])).toEqual([
      { ...area(0, 4, null, null), run_id: first.id, events: 4 },
    ])
    const frozen = await freeze(await workOn(row, first))
    expect(frozen).toMatchObject({ seq_from: 0, seq_to: 4, areas: [area(0, 4, null, null)] })
    expect(await claimsOf(row, first, repeat)).toHaveLength(1)
  })

  it('by a worker that has lost its lease claims nothing', async () => {
    const row = await newExport()
    const run = await scheduled(row)
    const lost = await workOn(row, run)
    await workOn(row, { ...run, attempt: 1 })
    await expect(freeze(lost)).rejects.toMatchObject({ why: 'lost' })
    expect(await claimsOf(row, run)).toEqual([])
    const { is_claimed } = await app.db.only<{ is_claimed: boolean }>(
      sql`SELECT is_claimed FROM batch_export_run WHERE id = ${run.id}`,
    )
    expect(is_claimed).toBe(false)
  })

  it('leaves nothing to claim where all is taken, and says so for good', async () => {
    const row = await newExport()
    const [own, late] = [await scheduled(row), await backfilled(row)]
    await freeze(await workOn(row, own))
    expect((await freeze(await workOn(row, late))).areas).toEqual([])
    // What is taken up again does not become more, whatever has arrived since.
    await app.db.run(sql`DELETE FROM batch_export_claim WHERE run_id = ${own.id}`)
    expect((await freeze(await workOn(row, { ...late, attempt: 1 }))).areas).toEqual([])
  })
})
