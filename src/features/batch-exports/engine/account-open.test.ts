// Runs whose figures do not add up end, and say which positions are in question.
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganization } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { sql } from '../../../platform/db/sql.ts'
import { HOUR_MS, setTenPastTheHour } from '../fixture/clock.ts'
import type { FrozenRun } from '../runs/frozen.ts'
import { assertDelivered, assertWithinClaims } from './account-open.ts'

const run = (model = 'events', destination_type = 'File') =>
  ({
    definition: { model, destination_type },
    areas: [
      { seq_from: 0, seq_to: 4, time_from: null, time_to: null },
      { seq_from: 9, seq_to: 10, time_from: null, time_to: new Date(0) },
    ],
  }) as unknown as FrozenRun
const POSITIONS = 'Positions in question: 1 to 4, 10 to 10.'

describe('figures', () => {
  it('of rows may be fewer than events, for filters left them out, but not more', () => {
    assertWithinClaims(run(), 4, 5)
    assertWithinClaims(run(), 5, 5)
    expect(() => assertWithinClaims(run(), 6, 5)).toThrow(
      `account_open: The run found 6 rows, and has claimed 5 events. ${POSITIONS}`,
    )
  })

  it('of the destination must be those of the run', () => {
    assertDelivered(run(), 5, 5)
    for (const delivered of [4, 6]) {
      expect(() => assertDelivered(run(), 5, delivered)).toThrow(
        `account_open: The run had 5 rows, and the destination says it has ${delivered}. ${POSITIONS}`,
      )
    }
  })

  it('of persons and sessions may change, and nothing is nowhere', () => {
    for (const model of ['persons', 'sessions']) {
      assertWithinClaims(run(model), 6, 0)
      assertDelivered(run(model), 5, 6)
    }
    assertDelivered(run('events', 'NoOp'), 5, 0)
  })
})

describe('a run', () => {
  let app: TestApp
  beforeAll(async () => void (app = await startTestApp()))
  afterAll(() => app.close())

  it('that finds more rows than it has claimed fails before anything is delivered', async () => {
    const { project, owner } = await createOrganization(app)
    const base = `/api/projects/${project.id}/batch_exports`
    const folder = join(app.services.settings.export_folder, String(project.id))
    setTenPastTheHour(app)
    const destination = { type: 'File', config: { prefix: 'out' } }
    const body = { name: 'Nightly', interval: 'hour', destination }
    const { id } = (await app.post(`${base}/`, body, { key: owner.key })).body
    const batch = ['one', 'two'].map((event) => ({ event, distinct_id: 'somebody' }))
    await app.post('/batch/', { api_key: project.api_token, batch })
    const work = async () => {
      await app.exports.tick()
      await app.exports.idle()
      return (await app.get(`${base}/${id}/runs/`, { key: owner.key })).body.results
    }
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'out'), 'in the way')
    app.advance(HOUR_MS)
    const [failed] = await work()
    expect(failed).toMatchObject({ status: 'Failed' })
    await rm(join(folder, 'out'))

    // The ledger and the event store no longer speak of the same events.
    await app.db.run(sql`UPDATE batch_export_claim SET events = 1 WHERE batch_export_id = ${id}`)
    await app.post(`${base}/${id}/runs/${failed.id}/retry/`, {}, { key: owner.key })
    const [retried] = await work()
    expect(retried).toMatchObject({
      status: 'Failed',
      latest_error:
        'account_open: The run found 2 rows, and has claimed 1 events. Positions in question: 1 to 2.',
      records_completed: null,
    })
    expect(await readdir(folder)).toEqual([])
  })
})
