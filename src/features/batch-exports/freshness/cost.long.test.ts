// A thousand exports in a hundred projects: what their freshness costs does not depend on how many runs they have had.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { sql, type Statement } from '../../../platform/db/sql.ts'
import { addExport } from '../runs/fixture/rows.ts'
import { HOUR_MS } from '../fixture/clock.ts'
import { parseMetrics } from './fixture/prometheus.ts'
import { measureFreshness } from './measure.ts'
import { listWatched } from './queries.ts'

const PROJECTS = 100
const EXPORTS_PER_PROJECT = 10
const EXPORTS = PROJECTS * EXPORTS_PER_PROJECT

let app: TestApp
let workspace: Workspace
let now: Date
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
  now = new Date(Math.floor(app.services.now().getTime() / HOUR_MS) * HOUR_MS)
  await app.db.run(sql`
    INSERT INTO project (uuid, organization_id, name, api_token, created_at, updated_at)
    SELECT gen_random_uuid(), ${workspace.organization.id}, 'Another', 'phc_' || n, ${now}, ${now}
    FROM generate_series(2, ${PROJECTS}) AS n`)
  await addExport(app.db, workspace.project.id, now, { next_due_at: now })
  // Copies of the first, as many as are missing in each project.
  await app.db.run(sql`
    INSERT INTO batch_export (id, project_id, name, model, destination_type, config, secrets, interval, timezone, paused,
      next_due_at, created_at, last_updated_at)
    SELECT gen_random_uuid(), project.id, batch_export.name, model, destination_type, config, secrets, interval,
      batch_export.timezone, paused, next_due_at, batch_export.created_at, last_updated_at
    FROM batch_export, project, generate_series(1, ${EXPORTS_PER_PROJECT}) AS n
    WHERE n > 1 OR project.id <> ${workspace.project.id}`)
})
afterAll(() => app.close())

/** So many more hours of each export that were delivered, before those there are. */
async function addRuns(count: number, before: number): Promise<void> {
  await app.db.run(sql`
    WITH run AS (
      INSERT INTO batch_export_run (id, project_id, batch_export_id, status, data_interval_start, data_interval_end,
        selection, seq_from, seq_to, records_completed, attempt, run_after, created_at, started_at, finished_at,
        last_updated_at, is_claimed, is_delivered)
      SELECT gen_random_uuid(), project_id, id, 'Completed', ended - interval '1 hour', ended, 'arrival', 1000 - hour,
        1001 - hour, 1, 1, ended, ended, ended, ended, ended, true, true
      FROM batch_export, generate_series(${before}::int, ${before + count - 1}) AS hour,
        LATERAL (SELECT ${now}::timestamptz - hour * interval '1 hour' AS ended) AS run
      RETURNING id, batch_export_id, seq_from, seq_to)
    INSERT INTO batch_export_claim (batch_export_id, run_id, positions, times, events)
    SELECT batch_export_id, id, int8range(seq_from, seq_to, '(]'), tstzrange(NULL, NULL), 1 FROM run`)
  await app.db.pool.query('ANALYZE')
}

/** The statements about exports that a call sends; the job queue asks things of its own meanwhile. */
async function statementsOf(call: () => Promise<unknown>): Promise<Statement[]> {
  const spy = vi.spyOn(app.db.pool, 'query')
  try {
    await call()
    const statements = spy.mock.calls.map(([statement]) => statement as unknown as Statement)
    return statements.filter(({ text }) => /\bbatch_export/.test(text))
  } finally {
    spy.mockRestore()
  }
}

type Plan = {
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Plan[]
}

/** How many rows of runs and claims they look at. */
async function rowsReadBy(statements: readonly Statement[]): Promise<number> {
  let read = 0
  const count = (plan: Plan) => {
    const rows = plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)
    if (/^batch_export_(run|claim)$/.test(plan['Relation Name'] ?? '')) read += rows * plan['Actual Loops']
    plan.Plans?.forEach(count)
  }
  for (const { text, values } of statements) {
    const answer = await app.db.pool.query(`EXPLAIN (ANALYZE, FORMAT json) ${text}`, values)
    count(answer.rows[0]['QUERY PLAN'][0].Plan)
  }
  return read
}

const status = async () => {
  const url = `/api/projects/${workspace.project.id}/batch_exports/status/?recent_runs=24`
  const { body } = await app.get(url, { key: workspace.owner.key })
  expect(body.results).toHaveLength(EXPORTS_PER_PROJECT)
  expect(body.results[0]).toMatchObject({ runs_behind: 1, last_run: { status: 'Completed' } })
}
const scrape = async () => {
  const families = parseMetrics((await app.get('/metrics')).body)
  expect(families.get('longshore_export_rows_behind')!.samples).toHaveLength(EXPORTS)
}

describe('with few runs and with many', () => {
  it('asks the same, and reads the same', async () => {
    const measure = async () => {
      app.advance(10_000)
      const [of_status, of_scrape] = [await statementsOf(status), await statementsOf(scrape)]
      return {
        status: { statements: of_status.length, rows: await rowsReadBy(of_status) },
        scrape: { statements: of_scrape.length, rows: await rowsReadBy(of_scrape) },
      }
    }
    await addRuns(2, 0)
    // Positions are asked of the event store once, and kept.
    await measureFreshness(app.services, await listWatched(app.db, null), app.services.now())
    const few = await measure()
    await addRuns(98, 2)
    const many = await measure()
    // All exports, their standing, what they owe, positions; the status also lists recent runs; a scrape counts live
    // ones and what verifications have found.
    expect([few.status.statements, few.scrape.statements]).toEqual([5, 6])
    expect([many.status.statements, many.scrape.statements]).toEqual([5, 6])
    // The newest run, the one that ended last, and the recent ones: 2 that there are, then 24 of 100.
    expect([few.status.rows, few.scrape.rows]).toEqual([(2 + 2) * EXPORTS_PER_PROJECT, 2 * EXPORTS])
    expect([many.status.rows, many.scrape.rows]).toEqual([(2 + 24) * EXPORTS_PER_PROJECT, 2 * EXPORTS])
  })
})
