// Who gets the next slot: by the real claims, on the real database, without anybody who works.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createOrganization } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { sql } from '../../../platform/db/sql.ts'
import { countFailure } from '../breaker/queries.ts'
import type { Definition } from '../definition.ts'
import type { ExportRow, RunRow } from '../rows.ts'
import { claimRun, makeSlots, type Claim } from './claim.ts'
import { MOST_RUNS_PER_PROJECT } from './claimable.ts'
import { addBackfill, addExport, addRun } from './fixture/rows.ts'
import {
  cancelRun,
  endRun,
  freezeRun,
  keepLeases,
  leaseKey,
  reapRuns,
  releaseRun,
  returnRun,
  updateRun,
} from './queries.ts'

const MINUTE_MS = 60_000

let app: TestApp
let now: Date
let one: number
let other: number
beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.close())
beforeEach(async () => {
  await app.db.run(sql`DELETE FROM project`)
  one = (await createOrganization(app)).project.id
  other = (await createOrganization(app)).project.id
  now = app.services.now()
})

const owner = randomUUID()
const exportTo = (host: string, project_id = one) =>
  addExport(app.db, project_id, now, {
    destination_type: 'HTTP',
    config: { url: `http://${host}.example/batch` },
  })

let intervals = 0

/** Due runs, oldest first, each of another interval. */
async function due(row: ExportRow, count: number, fields: Partial<RunRow> = {}): Promise<string[]> {
  const ids: string[] = []
  for (let index = 0; index < count; index++) {
    const at = new Date(now.getTime() + (intervals++ - 1000) * MINUTE_MS)
    ids.push((await addRun(app.db, row, at, { status: 'Starting', run_after: now, ...fields })).id)
  }
  await makeSlots(app.db)
  return ids
}

async function claim(claim: Claim = {}): Promise<RunRow | undefined> {
  return claimRun(app.db, owner, now, claim)
}

/** Until nothing is given any more. */
async function claimAll(options: Claim = {}): Promise<RunRow[]> {
  const run = await claim(options)
  return run ? [run, ...(await claimAll(options))] : []
}

const giveBack = ({ id, attempt }: RunRow) =>
  returnRun(app.db, { run_id: id, owner, attempt }, { run_after: now, failure: null }, now)

const exportsOf = (runs: readonly RunRow[]) => runs.map(({ batch_export_id }) => batch_export_id)

async function open(row: ExportRow): Promise<void> {
  for (let failures = 0; failures < 5; failures++)
    await countFailure(app.db, row, { began_at: now, asked_ms: 0 }, now)
}

describe('the slots of a project', () => {
  it('are four, and two more for the schedule where nothing is at work', async () => {
    const [stuck, second, third, fourth] = [
      await exportTo('stuck'),
      await exportTo('second'),
      await exportTo('third'),
      await exportTo('fourth'),
    ]
    await due(stuck, 6)
    expect(exportsOf(await claimAll())).toEqual(Array.from({ length: 4 }, () => stuck.id))
    for (const row of [second, third, fourth]) await due(row, 2)
    const more = await claimAll()
    expect(new Set(exportsOf(more)).size).toBe(2)
    expect(exportsOf(more)).not.toContain(stuck.id)
    const [slot] = await app.db.rows(sql`SELECT active FROM batch_export_slot WHERE project_id = ${one}`)
    expect(slot).toEqual({ active: MOST_RUNS_PER_PROJECT })
  })

  it('go to destinations in turn, and two exports to the same place count as one', async () => {
    const [first, same, elsewhere] = [await exportTo('x'), await exportTo('x'), await exportTo('y')]
    await due(first, 3)
    await due(same, 3)
    await due(elsewhere, 1)
    const runs = exportsOf(await claimAll())
    expect(runs).toHaveLength(4)
    expect(runs.indexOf(elsewhere.id)).toBeLessThan(2)
  })

  it('are left to the schedule by backfills, wherever they go', async () => {
    const [filled, elsewhere] = [await exportTo('x'), await exportTo('y')]
    for (const row of [filled, elsewhere]) {
      const { id: backfill_id } = await addBackfill(app.db, row, now)
      await due(row, 4, { backfill_id, selection: 'timestamp' })
    }
    expect(await claimAll()).toHaveLength(3)
    await due(filled, 2)
    const [scheduled, ...none] = await claimAll()
    expect([scheduled?.backfill_id, none]).toEqual([null, []])
  })

  it('are as many when ten workers claim at once, and no run is given twice', async () => {
    for (const host of ['a', 'b', 'c', 'd']) await due(await exportTo(host), 5)
    const claims = Array.from({ length: 40 }, () => claimRun(app.db, randomUUID(), now))
    const runs = (await Promise.all(claims)).filter((run) => run !== undefined)
    const held = await app.db.rows<{ id: string }>(
      sql`SELECT id FROM batch_export_run WHERE lease_owner IS NOT NULL`,
    )
    const { active } = await app.db.only<{ active: number }>(
      sql`SELECT active FROM batch_export_slot WHERE project_id = ${one}`,
    )
    expect(held).toHaveLength(active)
    expect(active).toBe(4)
    expect(new Set(runs.map(({ id }) => id)).size).toBe(active)
  })
})

describe('runs of one delivery', () => {
  it('take turns: one that waits for its next attempt goes on before those that repeat it', async () => {
    const row = await exportTo('x')
    await due(row, 1)
    const begun = (await claim())!
    const frozen = { definition: { model: 'events' } as Definition, seq_from: 0, seq_to: 1 }
    await freezeRun(app.db, { run_id: begun.id, owner, attempt: begun.attempt }, frozen, now)
    const later = new Date(now.getTime() + MINUTE_MS)
    const lease = { run_id: begun.id, owner, attempt: begun.attempt }
    await returnRun(app.db, lease, { run_after: later, failure: null }, now)
    const { id: backfill_id } = await addBackfill(app.db, row, now)
    // A clock that was set back makes the second look older than the first.
    const created_at = new Date(begun.created_at.getTime() - MINUTE_MS)
    const again = { status: 'Starting', run_after: now, repeats: begun.id, backfill_id, created_at } as const
    const { id } = await addRun(app.db, row, begun.data_interval_end, again)
    expect(await claim()).toBeUndefined()
    expect((await claimRun(app.db, owner, later))?.id).toBe(begun.id)
    expect(await claimRun(app.db, owner, later)).toBeUndefined()
    await returnRun(
      app.db,
      { ...lease, attempt: begun.attempt + 1 },
      { run_after: later, failure: null },
      now,
    )
    await cancelRun(app.db, begun, now)
    expect((await claim())?.id).toBe(id)
  })
})

describe('the leases of a worker', () => {
  it('are kept for the runs that it works on, and not for those that it has given up', async () => {
    const row = await exportTo('x')
    await due(row, 2)
    const [kept, given_up] = (await claimAll()) as [RunRow, RunRow]
    const later = new Date(now.getTime() + MINUTE_MS)
    const held = await keepLeases(app.db, owner, [kept.id], new Map(), later)
    expect([...held]).toEqual([leaseKey({ run_id: kept.id, attempt: kept.attempt })])
    await reapRuns(app.db, later, later)
    const rows = await app.db.rows(
      sql`SELECT id, lease_owner FROM batch_export_run WHERE project_id = ${one} ORDER BY data_interval_end`,
    )
    expect(rows).toEqual([
      { id: kept.id, lease_owner: owner },
      { id: given_up.id, lease_owner: null },
    ])
  })

  it('end with a run that is cancelled', async () => {
    await due(await exportTo('x'), 1)
    const [run] = (await claimAll()) as [RunRow]
    await cancelRun(app.db, run, now)
    expect(await keepLeases(app.db, owner, [run.id], new Map(), now)).toEqual(new Set())
  })
})

describe('a worker that has lost its run', () => {
  const later = (ms: number) => new Date(now.getTime() + ms)
  const definition: Definition = {
    model: 'events',
    destination_type: 'HTTP',
    config: {},
    hogql_query: null,
    filters: null,
    timezone: 'UTC',
  }
  const ended = { records_completed: 9, bytes_exported: 9, files: null, latest_error: null }
  const failure = { latest_error: 'late', is_counted: true, waiting_for: null }
  const loseLease = () => reapRuns(app.db, later(MINUTE_MS), now)
  const cancel = (id: string) => cancelRun(app.db, { id, project_id: one }, now)

  it.each([
    ['its lease has run out', loseLease, { frees_slot: false }],
    // The next attempt is its own as well: only the number tells the two apart.
    ['it has claimed it again', async () => void (await loseLease(), await claim()), { frees_slot: false }],
    ['it was cancelled', cancel, { frees_slot: true }],
  ])('changes nothing any more when %s', async (_, lose, { frees_slot }) => {
    await due(await exportTo('x'), 2)
    const { id: run_id, attempt } = (await claim())!
    await lose(run_id)
    const rows = () => app.db.rows(sql`SELECT * FROM batch_export_run ORDER BY id`)
    const slot = () => app.db.only<{ active: number }>(sql`SELECT * FROM batch_export_slot`)
    const [before, slot_before] = [await rows(), await slot()]
    const lost = { run_id, owner, attempt }
    expect(await freezeRun(app.db, lost, { definition, seq_from: 1, seq_to: 9 }, now)).toBeUndefined()
    expect(await updateRun(app.db, lost, { is_committing: true }, now)).toBe(false)
    expect(await endRun(app.db, lost, { status: 'Completed', ...ended }, now)).toBe(false)
    expect(await returnRun(app.db, lost, { run_after: later(9), failure }, now)).toBe(false)
    expect([await rows(), await slot()]).toEqual([before, slot_before])
    await cancel(run_id)
    expect(await releaseRun(app.db, lost)).toBe(frees_slot)
    expect((await slot()).active).toBe(slot_before.active - (frees_slot ? 1 : 0))
  })
})

describe('projects', () => {
  it('with the fewest runs at work come first', async () => {
    await due(await exportTo('x'), 4)
    await claimAll({ fewer_than: 3 })
    await due(await exportTo('x', other), 4)
    const projects = (await claimAll()).map(({ project_id }) => project_id)
    expect(projects).toEqual([other, other, other, one, other])
  })

  it('with as many as are admitted get none, however many are due', async () => {
    await due(await exportTo('x'), 4)
    await due(await exportTo('x', other), 4)
    const projects = async (fewer_than: number) =>
      (await claimAll({ fewer_than })).map(({ project_id }) => project_id)
    expect(await projects(1)).toEqual([one, other])
    expect(await projects(1)).toEqual([])
    expect(await projects(2)).toEqual([one, other])
    expect(await projects(0)).toEqual([])
  })

  it('get the claim of a worker that finds the slots of another taken in the meantime', async () => {
    await due(await exportTo('x'), 1)
    await due(await exportTo('y', other), 1)
    const waiting = () =>
      app.db.rows(sql`
        SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
    let late: Promise<RunRow | undefined> | undefined
    const first = await app.db.transaction(async (tx) => {
      const run = await claimRun(tx, owner, now)
      late = claimRun(app.db, randomUUID(), now)
      await expect.poll(waiting).toHaveLength(1)
      return run
    })
    expect([first?.project_id, (await late)?.project_id]).toEqual([one, other])
    const slots = await app.db.rows(sql`SELECT active FROM batch_export_slot`)
    expect(slots).toEqual([{ active: 1 }, { active: 1 }])
  })
})

describe('a destination whose breaker is open', () => {
  it('is tried by one run at a time, and not before its time', async () => {
    const [row, elsewhere] = [await exportTo('x'), await exportTo('y')]
    await due(row, 3)
    await open(row)
    expect(await claimAll()).toEqual([])
    now = new Date(now.getTime() + 30_000)
    const [probe, ...none] = await claimAll()
    expect([probe?.batch_export_id, none]).toEqual([row.id, []])
    await due(elsewhere, 1)
    expect(exportsOf(await claimAll())).toEqual([elsewhere.id])
    await giveBack(probe!)
    expect(await claimAll()).toHaveLength(1)
  })

  it('is tried by the run that has failed least', async () => {
    const row = await exportTo('x')
    await due(row, 2, { failures: 5 })
    const [fresh] = await due(row, 1, { data_interval_end: now })
    await open(row)
    now = new Date(now.getTime() + 30_000)
    expect(await claim()).toMatchObject({ id: fresh })
  })

  it('is no concern of another project that goes to the same place', async () => {
    const [row, theirs] = [await exportTo('x'), await exportTo('x', other)]
    expect(row.destination_key).toBe(theirs.destination_key)
    await open(row)
    await due(row, 1)
    await due(theirs, 4)
    expect(exportsOf(await claimAll())).toEqual(Array.from({ length: 4 }, () => theirs.id))
  })

  it('of exports that are older than breakers concerns each of them alone', async () => {
    const [row, same] = [await exportTo('x'), await exportTo('x')]
    await app.db.run(sql`UPDATE batch_export SET destination_key = NULL`)
    await open({ ...row, destination_key: null })
    await due(row, 1)
    await due(same, 1)
    expect(exportsOf(await claimAll())).toEqual([same.id])
  })
})
