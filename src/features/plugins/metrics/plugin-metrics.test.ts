import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { untilTrue } from '../../../../test/harness/until.ts'
import { sql } from '../../../platform/db/sql.ts'
import { AppFault } from '../../../platform/sandbox/sandbox.ts'
import { addConfig } from '../fixture/rows.ts'
import type { AppIds } from '../running/running-app.ts'
import { PluginMetrics } from './plugin-metrics.ts'

const HOUR = 3_600_000

let app: TestApp
let workspace: Workspace
let ids: AppIds
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
})
afterAll(() => app.close())
beforeEach(async () => {
  ids = await addConfig(app, workspace.project.id)
})

/** A clock that a test moves itself, from the beginning of an hour on. */
function openMetrics(db = app.db) {
  let now_ms = Math.ceil(app.services.now().getTime() / HOUR) * HOUR
  const metrics = new PluginMetrics({ ...app.services, db, now: () => new Date(now_ms) })
  return {
    metrics,
    hour: () => new Date(now_ms - (now_ms % HOUR)),
    advance: (ms: number) => void (now_ms += ms),
  }
}

const countsOf = ({ config_id }: AppIds) =>
  app.db.rows(sql`
    SELECT category, hour, job_id, successes::int AS successes, successes_on_retry::int AS successes_on_retry,
      failures::int AS failures
    FROM plugin_metric WHERE plugin_config_id = ${config_id} ORDER BY hour, category, job_id`)

type StoredError = {
  category: string
  job_id: string
  error_type: string
  details: { error: { name: string; message: string; stack: string }; event: Record<string, unknown> | null }
}
const errorsOf = ({ config_id }: AppIds) =>
  app.db.rows<StoredError>(sql`
    SELECT category, job_id, error_type, details FROM plugin_metric_error
    WHERE plugin_config_id = ${config_id} ORDER BY timestamp, id`)

describe('count', () => {
  it('adds up by config, category, hour and job, over several writings', async () => {
    const { metrics, hour, advance } = openMetrics()
    const first = hour()
    metrics.count(ids, 'processEvent', 'success', { by: 40 })
    metrics.count(ids, 'processEvent', 'success')
    metrics.count(ids, 'processEvent', 'failure')
    metrics.count(ids, 'onEvent', 'success_on_retry')
    await metrics.flush()
    metrics.count(ids, 'processEvent', 'success', { by: 2 })
    metrics.count(ids, 'exportEvents', 'success', { job_id: 'job-1' })
    metrics.count(ids, 'exportEvents', 'success', { job_id: 'job-2' })
    await metrics.flush()
    advance(HOUR)
    metrics.count(ids, 'processEvent', 'success')
    await metrics.close()
    const none = { successes: 0, successes_on_retry: 0, failures: 0 }
    expect(await countsOf(ids)).toEqual([
      { ...none, category: 'exportEvents', hour: first, job_id: 'job-1', successes: 1 },
      { ...none, category: 'exportEvents', hour: first, job_id: 'job-2', successes: 1 },
      { ...none, category: 'onEvent', hour: first, job_id: '', successes_on_retry: 1 },
      { ...none, category: 'processEvent', hour: first, job_id: '', successes: 43, failures: 1 },
      { ...none, category: 'processEvent', hour: hour(), job_id: '', successes: 1 },
    ])
  })

  it('is written within five seconds, by itself', async () => {
    const { metrics } = openMetrics()
    metrics.count(ids, 'webhook', 'success')
    const begun_at = Date.now()
    await untilTrue(async () => (await countsOf(ids)).length > 0)
    expect(Date.now() - begun_at).toBeLessThan(5_000)
    await metrics.close()
  })

  it('loses and doubles nothing while the database is away', async () => {
    let is_away = true
    const db = {
      ...app.db,
      transaction: ((work) =>
        is_away ? Promise.reject(new Error('away')) : app.db.transaction(work)) as typeof app.db.transaction,
    }
    const { metrics } = openMetrics(db)
    metrics.count(ids, 'onEvent', 'success')
    metrics.error(ids, 'onEvent', new AppFault('threw', 'no'), null)
    await expect(metrics.flush()).rejects.toThrow('away')
    metrics.count(ids, 'onEvent', 'success')
    is_away = false
    await metrics.flush()
    await metrics.close()
    expect(await countsOf(ids)).toMatchObject([{ successes: 2 }])
    expect(await errorsOf(ids)).toHaveLength(1)
  })

  it('leaves out configs that are gone and keeps the rest', async () => {
    const gone = await addConfig(app, workspace.project.id)
    await app.db.run(sql`DELETE FROM plugin_config WHERE id = ${gone.config_id}`)
    const { metrics } = openMetrics()
    for (const each of [gone, ids]) {
      metrics.count(each, 'onEvent', 'failure')
      metrics.error(each, 'onEvent', new AppFault('threw', 'no'), null)
    }
    await metrics.close()
    expect([(await countsOf(ids)).length, (await errorsOf(ids)).length]).toEqual([1, 1])
    expect(await countsOf(gone)).toEqual([])
  })

  it('takes no more than so much memory, whatever jobs there are', async () => {
    const { metrics } = openMetrics()
    for (let number = 0; number < 12_000; number++) {
      metrics.count(ids, 'exportEvents', 'success', { job_id: `job-${number}` })
    }
    await metrics.close()
    const counts = (await countsOf(ids)) as { job_id: string; successes: number }[]
    expect(counts).toHaveLength(10_001)
    expect(counts.find(({ job_id }) => job_id === '')!.successes).toBe(2_000)
  })
})

describe('error', () => {
  it('keeps name, message, stack and event as they were at that moment', async () => {
    const { metrics } = openMetrics()
    const event = { uuid: 'u', event: 'e', properties: { a: 1 } as Record<string, unknown> }
    metrics.error(
      ids,
      'onEvent',
      new AppFault('threw', 'bad', { name: 'TypeError', stack: 'at x' }),
      event,
      'job-1',
    )
    event.properties.changed = true
    await metrics.close()
    expect(await errorsOf(ids)).toEqual([
      {
        category: 'onEvent',
        job_id: 'job-1',
        error_type: 'TypeError',
        details: {
          error: { name: 'TypeError', message: 'bad', stack: 'at x' },
          event: { uuid: 'u', event: 'e', properties: { a: 1 } },
        },
      },
    ])
  })

  it('takes whatever an app throws, and cuts what is too long', async () => {
    const { metrics } = openMetrics()
    const long = 'x'.repeat(50_000)
    metrics.error(
      ids,
      'processEvent',
      new AppFault('threw', `\0\ud800${long}`, { name: `N\0${'n'.repeat(500)}`, stack: long }),
      { uuid: 'u', event: 'e', distinct_id: 'd', properties: { long, half: '\ud800', nul: '\0' } },
    )
    metrics.error(ids, 'processEvent', new AppFault('threw', '', { name: '' }), { nul: '\0', half: '\udc00' })
    await metrics.close()
    const kept = await errorsOf(ids)
    expect(kept).toHaveLength(2)
    const cut = kept.find(({ error_type }) => error_type.startsWith('N'))
    const odd = kept.find(({ error_type }) => error_type === 'Error')
    expect(Buffer.byteLength(cut!.error_type)).toBeLessThanOrEqual(200)
    expect(Buffer.byteLength(cut!.details.error.message)).toBeLessThanOrEqual(10 * 1024)
    expect(Buffer.byteLength(cut!.details.error.stack)).toBeLessThanOrEqual(10 * 1024)
    const { cut: text, ...rest } = cut!.details.event as { cut: string }
    expect(rest).toEqual({ uuid: 'u', event: 'e', distinct_id: 'd' })
    expect(text).toMatch(/^\{"uuid":"u".*x…$/)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(10 * 1024)
    expect(odd!.details.event).toEqual({ nul: '\0', half: '\udc00' })
  })

  it('keeps the first 100 of each config, category and hour', async () => {
    const { metrics, advance } = openMetrics()
    const fail = (category: 'onEvent' | 'webhook', message: string) =>
      metrics.error(ids, category, new AppFault('threw', message), null)
    for (let number = 0; number < 150; number++) fail('onEvent', `${number}`)
    fail('webhook', 'of another category')
    await metrics.flush()
    fail('onEvent', 'too late')
    advance(HOUR)
    fail('onEvent', 'in time again')
    await metrics.close()
    const messages = (await errorsOf(ids)).map(({ details }) => details.error.message)
    expect(messages).toHaveLength(102)
    expect(messages).not.toContain('100')
    expect(messages).not.toContain('too late')
    expect(messages).toEqual(expect.arrayContaining(['99', 'of another category', 'in time again']))
  })
})
