// GET …/runs/:id/stream/ and …/logs/stream/ over real connections.
// @module-tag slow
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { listen, openStream } from '../../../../test/harness/stream.ts'
import { sql } from '../../../platform/db/sql.ts'
import { writeLog } from '../logs/write.ts'
import type { ExportRow, RunRow } from '../rows.ts'
import { addExport, addRun } from './fixture/rows.ts'

let app: TestApp
let origin: string
let workspace: Workspace
/** The export of each test. */
let owner: ExportRow
beforeAll(async () => {
  app = await startTestApp()
  origin = await listen(app)
  workspace = await createOrganization(app)
})
beforeEach(async () => {
  owner = await addExport(app.db, workspace.project.id, app.services.now())
})
afterAll(() => app.close())

const below = () => `/api/projects/${workspace.project.id}/batch_exports/${owner.id}`
const open = (path: string, headers: Record<string, string> = {}) =>
  openStream(`${origin}${below()}${path}`, { key: workspace.owner.key, ...headers })
const startRun = () =>
  addRun(app.db, owner, app.services.now(), {
    status: 'Running',
    lease_owner: randomUUID(),
    lease_until: app.services.now(),
  })
const write = (run: RunRow | null, text: string, level: 'INFO' | 'ERROR' = 'INFO') =>
  writeLog(
    app.db,
    { project_id: owner.project_id, batch_export_id: owner.id, run_id: run?.id ?? null },
    level,
    text,
    app.services.now(),
  )
const texts = (told: { data: { message: string } }[]) => told.map(({ data }) => data.message)

describe('a run', () => {
  it('is told as the API shows it, whenever that changes, with its log, until it has ended', async () => {
    const run = await startRun()
    await write(run, 'before')
    const stream = await open(`/runs/${run.id}/stream/`)
    const [first] = await stream.until('run')
    expect(first!.data).toEqual(
      (await app.get(`${below()}/runs/${run.id}/`, { key: workspace.owner.key })).body,
    )
    await write(run, 'while')
    await write(null, 'of the export')
    expect(texts(await stream.until('log'))).toEqual(['while'])
    await app.db.run(sql`UPDATE batch_export_run SET records_total_count = 7 WHERE id = ${run.id}`)
    const [, second] = await stream.until('run', 2)
    expect(second!.data).toMatchObject({ status: 'Running', records_total_count: 7 })
    await app.db.run(sql`
      UPDATE batch_export_run SET status = 'Completed', records_completed = 7, finished_at = now(), lease_owner = NULL,
        lease_until = NULL
      WHERE id = ${run.id}`)
    await stream.until('run', 3)
    await write(run, 'last words')
    await stream.untilOver()
    expect(stream.told.filter(({ event }) => event === 'run')).toHaveLength(3)
    expect(texts(stream.told.filter(({ event }) => event === 'log'))).toEqual(['while', 'last words'])
    expect(stream.told.at(-1)).toMatchObject({ event: 'end', data: { reason: 'finished' } })
  })

  it('that has ended is told once, with as much of its log as was asked for', async () => {
    const run = await addRun(app.db, owner, app.services.now())
    await write(run, 'one')
    await write(run, 'two', 'ERROR')
    const whole = await open(`/runs/${run.id}/stream/?last_event_id=0`)
    const errors = await open(`/runs/${run.id}/stream/?last_event_id=0&level=ERROR`)
    await Promise.all([whole.untilOver(), errors.untilOver()])
    expect(whole.told.map(({ event }) => event)).toEqual(['run', 'log', 'log', 'end'])
    expect(texts(errors.told.filter(({ event }) => event === 'log'))).toEqual(['two'])
  })

  it('ends the stream when it is deleted with its export', async () => {
    const run = await startRun()
    const stream = await open(`/runs/${run.id}/stream/`)
    await stream.until('run')
    await app.db.run(sql`DELETE FROM batch_export_run WHERE id = ${run.id}`)
    await stream.untilOver()
    expect(stream.told.at(-1)).toMatchObject({ event: 'end', data: { reason: 'error', code: 'not_found' } })
  })
})

describe('the log of an export', () => {
  it('line by line as the API shows them, and where it was left', async () => {
    const run = await startRun()
    const stream = await open('/logs/stream/')
    await write(run, 'a')
    await write(null, 'b')
    const told = await stream.until('log', 2)
    const { body } = await app.get(`${below()}/logs/?limit=2`, { key: workspace.owner.key })
    expect(told.map(({ data }) => data)).toEqual(body.results.toReversed())
    stream.close()
    await write(null, 'c')
    const again = await open('/logs/stream/', { 'last-event-id': stream.lastId() })
    await write(null, 'd')
    expect(texts(await again.until('log', 2))).toEqual(['c', 'd'])
    again.close()
  })

  it('a line that is committed after a later one is not passed over, and comes in its place', async () => {
    const stream = await open('/logs/stream/')
    const slow = app.db.transaction(async (tx) => {
      await tx.run(sql`
        INSERT INTO batch_export_log (project_id, batch_export_id, timestamp, level, message)
        VALUES (${owner.project_id}, ${owner.id}, now(), 'INFO', 'written first')`)
      await write(null, 'committed first')
      await new Promise((resolve) => setTimeout(resolve, 200))
    })
    await slow
    expect(texts(await stream.until('log', 2))).toEqual(['written first', 'committed first'])
    stream.close()
  })

  it('of more than 500 lines the newest', async () => {
    await app.db.run(sql`
      INSERT INTO batch_export_log (project_id, batch_export_id, timestamp, level, message)
      SELECT ${owner.project_id}, ${owner.id}, now(), 'INFO', 'line ' || n FROM generate_series(1, 510) AS n`)
    const stream = await open('/logs/stream/?last_event_id=0')
    const told = await stream.until('log', 500)
    expect(stream.told[0]).toMatchObject({ event: 'gap', data: { after: 0 } })
    expect([texts(told)[0], texts(told).at(-1)]).toEqual(['line 11', 'line 510'])
    stream.close()
  })

  it('400 for a level that does not exist', async () => {
    const reply = await app.get(`${below()}/logs/stream/?level=LOUD`, { key: workspace.owner.key })
    expect(reply).toMatchObject({ status: 400, body: { attr: 'level' } })
  })
})
