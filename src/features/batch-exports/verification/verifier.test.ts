// The work on verifications: taken over when its process dies, stopped when it is lost, waiting while runs wait, and
// untouched by what people do to the export meanwhile.
// @module-tag slow
import { existsSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { MemoryTables } from '../../../../test/stand-ins/memory-tables.ts'
import { sql } from '../../../platform/db/sql.ts'
import { StoreGone } from '../../../platform/event-store/event-store.ts'
import { isRunWaiting } from '../runs/claim.ts'
import { addBackfill, addRun } from '../runs/fixture/rows.ts'
import { openReader, replaceTables, tableDestination } from './fixture/memory-world.ts'
import { deliverHours, neighbourOf, openWorkbench, type Workbench } from '../fixture/workbench.ts'
import { givingWay } from './giving-way.ts'
import { VERIFICATION_COLUMNS } from './queries.ts'
import type { VerificationRow } from './rows.ts'
import { Verifier } from './verifier.ts'

const LEASE_MS = 30_000

let place: MemoryTables
let restore: () => void
let first: Workbench
let bench: Workbench
let id: string
beforeAll(async () => {
  ;({ place, restore } = replaceTables())
  first = await openWorkbench({ OUTBOUND_ALLOW: '127.0.0.1' }, { openReader })
})
afterAll(async () => {
  await first.app.close()
  restore()
})
beforeEach(async () => {
  bench = await neighbourOf(first)
  id = await bench.create(tableDestination(bench))
  await deliverHours(bench, 1)
  await bench.settle()
})
afterEach(async () => {
  place.onRead = async () => {}
  await bench.deleteExports()
})

const rowOf = (verification: string) =>
  bench.app.db.only<VerificationRow>(sql`
    SELECT ${VERIFICATION_COLUMNS} FROM batch_export_verification WHERE id = ${verification}`)

async function ask(body: object = {}): Promise<string> {
  const reply = await bench.app.post(`${bench.base}/${id}/verify/`, body, { key: bench.key })
  return reply.body.id
}

/** Statements that wait for a lock. */
async function countWaiting(): Promise<number> {
  const { count } = await bench.app.db.only<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`)
  return count
}

type Held = { verification: string; goOn(): void; fail(error: Error): void }

/** Begins the verification and leaves it waiting for the table, until `goOn` or `fail` is called. */
async function beginAndHold(verifier: Verifier, body: object = {}): Promise<Held> {
  let goOn = () => {}
  let fail: Held['fail'] = () => {}
  const held = new Promise<void>((resolve, reject) => ([goOn, fail] = [resolve, reject]))
  const reached = new Promise<void>((resolve) => {
    place.onRead = () => {
      resolve()
      return held
    }
  })
  const verification = await ask(body)
  await verifier.tick()
  await reached
  return { verification, goOn, fail }
}

describe('while it is at work', () => {
  it('its figures are shown, and a second one waits', async () => {
    const { verification, goOn } = await beginAndHold(bench.verifier)
    await bench.verifier.beat()
    expect(await rowOf(verification)).toMatchObject({ status: 'Running', runs: 1, rows: 0, attempt: 1 })
    await deliverHours(bench, 1)
    await bench.verifier.tick()
    const { running } = await bench.app.db.only<{ running: number }>(sql`
      SELECT count(*)::int AS running FROM batch_export_verification WHERE status = 'Running'`)
    expect(running).toBe(1)
    goOn()
    await bench.settle()
    expect(await rowOf(verification)).toMatchObject({
      status: 'Completed',
      verdict: 'intact',
      lease_owner: null,
    })
  })

  it.each<[string, () => Promise<unknown>]>([
    ['renamed', () => bench.app.patch(`${bench.base}/${id}/`, { name: 'Other' }, { key: bench.key })],
    ['paused', () => bench.act(id, 'pause')],
    [
      'given another table',
      () =>
        bench.app.patch(
          `${bench.base}/${id}/`,
          { destination: { config: { table_name: 'moved' } } },
          { key: bench.key },
        ),
    ],
    [
      'retried',
      async () => {
        const [run] = await bench.runs(id)
        await bench.app.post(`${bench.base}/${id}/runs/${run!.id}/retry/`, {}, { key: bench.key })
        await bench.work()
      },
    ],
    ['fed with new events', () => deliverHours(bench, 1)],
  ])('the export can be %s, and nothing false is found', async (_what, act) => {
    const { verification, goOn } = await beginAndHold(bench.verifier)
    await act()
    goOn()
    await bench.settle()
    expect(await rowOf(verification)).toMatchObject({ status: 'Completed', verdict: 'intact', problems: [] })
  })

  it('the export can be deleted: it ends, and one that waits ends without a look', async () => {
    const { verification, goOn } = await beginAndHold(bench.verifier)
    const [run] = await bench.runs(id)
    const waiting = await bench.app.post(`${bench.base}/${id}/verify/`, { run: run!.id }, { key: bench.key })
    await bench.deleteExports()
    goOn()
    await bench.settle()
    expect(await rowOf(verification)).toMatchObject({ status: 'Completed' })
    expect(await rowOf(waiting.body.id)).toMatchObject({
      status: 'Completed',
      verdict: 'nothing_to_verify',
      runs: 0,
    })
  })
})

describe('a verifier that dies', () => {
  it('is succeeded when its lease has run out, and can say nothing any more', async () => {
    const dead = new Verifier(bench.app.services, { openReader })
    const { verification, goOn } = await beginAndHold(dead)
    await bench.verifier.tick()
    expect(await rowOf(verification)).toMatchObject({ attempt: 1, status: 'Running' })
    bench.app.advance(LEASE_MS + 1_000)
    place.onRead = async () => {}
    await bench.settle()
    const ended = await rowOf(verification)
    expect(ended).toMatchObject({ attempt: 2, status: 'Completed', verdict: 'intact', rows: 3 })
    goOn()
    await dead.beat()
    await dead.idle()
    expect(await rowOf(verification)).toEqual(ended)
    expect(dead.countEnded()).toEqual({})
    await dead.close()
  })

  it('stops at its next beat when it has lost the lease', async () => {
    const slow = new Verifier(bench.app.services, { openReader })
    const { verification } = await beginAndHold(slow)
    await bench.app.db.run(sql`
      UPDATE batch_export_verification SET lease_owner = gen_random_uuid() WHERE id = ${verification}`)
    await slow.beat()
    // Nobody has let the table answer.
    await slow.idle()
    expect(await rowOf(verification)).toMatchObject({ status: 'Running', finished_at: null })
    await slow.close()
    await bench.app.db.run(sql`
      UPDATE batch_export_verification SET lease_until = '-infinity' WHERE id = ${verification}`)
    place.onRead = async () => {}
    await bench.settle()
  })

  it('a beat that is answered once it has ended does not stop the next one', async () => {
    const [run] = await bench.runs(id)
    const verifier = new Verifier(bench.app.services, { openReader })
    const { verification, fail } = await beginAndHold(verifier)
    const { next, beat } = await bench.app.db.transaction(async (tx) => {
      await tx.run(sql`SELECT FROM batch_export_verification WHERE id = ${verification} FOR UPDATE`)
      const answered = verifier.beat()
      await expect.poll(countWaiting).toBe(1)
      fail(new StoreGone())
      await verifier.idle()
      const held = await beginAndHold(verifier, { run: run!.id })
      await tx.run(sql`
        UPDATE batch_export_verification SET status = 'Waiting', lease_owner = NULL, lease_until = NULL
        WHERE id = ${verification}`)
      return { next: held, beat: answered }
    })
    await beat
    next.goOn()
    await verifier.idle()
    expect(await rowOf(next.verification)).toMatchObject({ status: 'Completed', verdict: 'intact' })
    await verifier.close()
    place.onRead = async () => {}
    await bench.settle()
  })

  it('right after a restart is succeeded at once', async () => {
    const dead = new Verifier(bench.app.services, { openReader })
    const { verification } = await beginAndHold(dead)
    place.onRead = async () => {}
    const next = new Verifier(bench.app.services, { openReader })
    await next.start({ takes_over: true })
    await expect.poll(async () => (await rowOf(verification)).status).toBe('Completed')
    expect(await rowOf(verification)).toMatchObject({ verdict: 'intact', attempt: 2 })
    await next.close()
    await dead.close()
  })

  it('again and again is the end of the verification', async () => {
    const verification = await ask()
    await bench.app.db.run(sql`UPDATE batch_export_verification SET attempt = 3 WHERE id = ${verification}`)
    await bench.settle()
    expect(await rowOf(verification)).toMatchObject({
      status: 'Failed',
      verdict: null,
      notes: ['The worker process was lost 3 times during this verification; giving up.'],
    })
  })

  it('gives back what it has begun when it is closed, and leaves no files', async () => {
    const closing = new Verifier(bench.app.services, { openReader })
    const { verification } = await beginAndHold(closing)
    const folder = `${bench.app.services.settings.scratch_folder}/${verification}`
    expect(existsSync(folder)).toBe(true)
    await closing.close()
    expect(await rowOf(verification)).toMatchObject({ status: 'Waiting', attempt: 0, lease_owner: null })
    expect(existsSync(folder)).toBe(false)
    place.onRead = async () => {}
    await bench.settle()
    expect(await rowOf(verification)).toMatchObject({ status: 'Completed', verdict: 'intact', attempt: 1 })
  })
})

it('a fault of ours is tried again, three times, and told to those who run the server', async () => {
  const failing = new Verifier(bench.app.services, { openReader })
  place.onRead = () => Promise.reject(new TypeError('a fault of ours'))
  const verification = await ask()
  for (let attempt = 1; attempt <= 3; attempt++) {
    expect(await rowOf(verification)).toMatchObject({ status: 'Waiting', attempt: attempt - 1 })
    await failing.tick()
    await failing.idle()
    await failing.tick()
    bench.app.advance(61_000)
  }
  expect(await rowOf(verification)).toMatchObject({ status: 'Failed', verdict: null, problems: [] })
  expect((await rowOf(verification)).notes).toEqual([
    expect.stringMatching(/^Something went wrong on our side/),
  ])
  expect(bench.app.logs.filter((line) => line.includes('a fault of ours'))).toHaveLength(3)
  expect(failing.countEnded()).toEqual({ failed: 1 })
  await failing.close()
})

it('stands still while a run waits to be begun, and goes on when it was', async () => {
  const { db, services } = bench.app
  let looks = 0
  const counting = {
    ...db,
    row: <Row>(statement: Parameters<typeof db.row>[0]) => {
      looks++
      return db.row<Row>(statement)
    },
  }
  const stop = new AbortController()
  const giveWay = givingWay({ db: counting, now: services.now })
  await giveWay(stop.signal)
  // Another verification of the process right after it does not look again.
  await giveWay(new AbortController().signal)
  expect(looks).toBe(1)
  const owner = { id, project_id: bench.workspace.project.id }
  const due = new Date(services.now().getTime() - 10_000)
  const { id: run } = await addRun(db, owner, due, { status: 'Starting', selection: 'timestamp' })
  let is_done = false
  const next = givingWay({ db: counting, now: services.now })
  const waiting = next(stop.signal).then(() => (is_done = true))
  await expect.poll(() => looks).toBeGreaterThan(3)
  expect(is_done).toBe(false)
  await db.run(
    sql`UPDATE batch_export_run SET lease_owner = gen_random_uuid(), lease_until = now() WHERE id = ${run}`,
  )
  await waiting
  await db.run(sql`UPDATE batch_export_run SET lease_owner = NULL, lease_until = NULL WHERE id = ${run}`)
  const stopped = givingWay({ db: counting, now: services.now })(stop.signal)
  stop.abort(new Error('stopped'))
  await expect(stopped).rejects.toThrow('stopped')
  await db.run(sql`DELETE FROM batch_export_run WHERE id = ${run}`)
})

describe('goes on although a run waits', () => {
  const owner = () => ({ id, project_id: bench.workspace.project.id })
  const isHeldUp = () => isRunWaiting(bench.app.db, new Date(bench.app.services.now().getTime() - 1_000))
  const addDue = (fields: object = {}) =>
    addRun(bench.app.db, owner(), new Date(bench.app.services.now().getTime() - 10_000), {
      status: 'Starting',
      selection: 'timestamp',
      ...fields,
    })

  it('that goes to a destination which is left alone for a while', async () => {
    const run = await addDue()
    expect(await isHeldUp()).toBe(true)
    const probe_at = new Date(bench.app.services.now().getTime() + 60_000)
    await bench.app.db.run(sql`
      INSERT INTO batch_export_breaker (project_id, destination, failures, opened_at, probe_at)
      SELECT project_id, coalesce(destination_key, id::text), 5, ${probe_at}, ${probe_at} FROM batch_export WHERE id = ${id}`)
    expect(await isHeldUp()).toBe(false)
    await bench.app.db.run(sql`DELETE FROM batch_export_run WHERE id = ${run.id}`)
  })

  it('of a backfill that has as many at work as it may', async () => {
    const { id: backfill_id } = await addBackfill(bench.app.db, owner(), bench.app.services.now())
    const run = await addDue({ backfill_id })
    expect(await isHeldUp()).toBe(true)
    const slotOf = (active: number) =>
      bench.app.db.run(sql`
        UPDATE batch_export_slot SET active = ${active} WHERE project_id = ${owner().project_id}`)
    await slotOf(3)
    expect(await isHeldUp()).toBe(false)
    await slotOf(0)
    await bench.app.db.run(sql`DELETE FROM batch_export_run WHERE id = ${run.id}`)
  })
})
