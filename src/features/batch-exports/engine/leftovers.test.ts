// Whose a file is that a run is about to remove, and what it costs to ask: other exports may have had any number of runs.
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { sql } from '../../../platform/db/sql.ts'
import type { Definition } from '../definition.ts'
import { addExport, addRun } from '../runs/fixture/rows.ts'
import { withoutNeighbours } from './leftovers.ts'

const RUNS = 20_000

let app: TestApp
let workspace: Workspace
let neighbour: Workspace
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
  neighbour = await createOrganization(app)
})
afterAll(() => app.close())

const definition = {
  model: 'events',
  destination_type: 'File',
  config: { prefix: 'out', file_format: 'JSONLines', compression: null },
  filters: null,
  hogql_query: null,
  timezone: 'UTC',
} as unknown as Definition

type Plan = {
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: Plan[]
}

function runsRead(plan: Plan): number {
  const rows =
    plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Index Recheck'] ?? 0)
  const own = plan['Relation Name'] === 'batch_export_run' ? rows * plan['Actual Loops'] : 0
  return own + (plan.Plans ?? []).reduce((sum, each) => sum + runsRead(each), 0)
}

it('a file that another export has named stays, and runs with other files are not looked at', async () => {
  const project_id = workspace.project.id
  const now = app.services.now()
  const owner = await addExport(app.db, project_id, now)
  const other = await addExport(app.db, project_id, now)
  const like = await addRun(app.db, other, now, { definition })
  await app.db.run(sql`
    INSERT INTO batch_export_run (id, project_id, batch_export_id, status, data_interval_end, selection, run_after,
      created_at, finished_at, last_updated_at, definition, published)
    SELECT gen_random_uuid(), project_id, batch_export_id, status, data_interval_end - n * interval '1 hour', selection,
      run_after, created_at, finished_at, last_updated_at, definition,
      jsonb_build_array('out/' || n || '.jsonl', 'out/' || n || '_manifest.json')
    FROM batch_export_run, generate_series(1, ${RUNS}::int) AS n WHERE id = ${like.id}`)
  await app.db.pool.query('ANALYZE batch_export_run')
  const spy = vi.spyOn(app.db, 'rows')
  const warned: string[] = []
  const files = ['out/7.jsonl', 'out/own.jsonl']
  const left = await withoutNeighbours(
    app.db,
    { batch_export_id: owner.id, project_id, definition },
    files,
    (message) => warned.push(message),
  )
  const { text, values } = spy.mock.lastCall![0]
  spy.mockRestore()
  expect(left).toEqual(['out/own.jsonl'])
  expect(warned).toEqual(['Not removed, because another export has files of the same name: out/7.jsonl.'])
  const { rows } = await app.db.pool.query(`EXPLAIN (ANALYZE, FORMAT json) ${text}`, values)
  expect(runsRead(rows[0]['QUERY PLAN'][0].Plan)).toBeLessThan(10)
  // What has named the same file is of the owner itself, or elsewhere.
  const own = { batch_export_id: other.id, project_id, definition }
  expect(await withoutNeighbours(app.db, own, files, () => undefined)).toEqual(files)
  const elsewhere = { batch_export_id: owner.id, project_id: neighbour.project.id, definition }
  expect(await withoutNeighbours(app.db, elsewhere, files, () => undefined)).toEqual(files)
})
