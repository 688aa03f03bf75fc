// A run that is done again and has no rows by now: nothing of it stays at the destination, and its account says so.
// @module-tag slow
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sql } from '../../../platform/db/sql.ts'
import { neighbourOf, openWorkbench, type Workbench } from '../fixture/workbench.ts'
import { addRun } from '../runs/fixture/rows.ts'
import {
  openAzure,
  openFolder,
  openS3,
  type FilePlace,
  type FileWorld,
} from '../verification/fixture/file-places.ts'

describe.each([
  ['File', openFolder],
  ['S3', openS3],
  ['AzureBlob', openAzure],
])('%s', (_type, openWorld) => {
  let world: FileWorld
  let first: Workbench
  let bench: Workbench
  let place: FilePlace
  beforeAll(async () => {
    world = await openWorld()
    first = await openWorkbench({ OUTBOUND_ALLOW: '127.0.0.1' })
  })
  afterAll(async () => {
    await first.app.close()
    await world.close()
  })
  beforeEach(async () => {
    bench = await neighbourOf(first)
    place = world.open(bench)
  })
  afterEach(async () => {
    await bench.deleteExports()
    await place.clear()
  })

  const accountOf = (run_id: string) =>
    bench.app.db.only(sql`
      SELECT status, records_completed::int, files, published FROM batch_export_run WHERE id = ${run_id}`)
  const NOTHING = { status: 'Completed', records_completed: 0, files: [], published: [] }

  const identify = async (name: string) => {
    const event = { event: '$identify', distinct_id: 'somebody', properties: { $set: { name } } }
    const body = { api_key: bench.workspace.project.api_token, ...event }
    expect((await bench.app.post('/capture/', body)).status).toBe(200)
  }

  it('a repair of persons who have all changed since removes the files and their manifest', async () => {
    const id = await bench.create(place.destination({ max_file_size_mb: 1 }), { model: 'persons' })
    await identify('Ann')
    await bench.pass()
    const before = await place.names()
    expect(before.filter((name) => name.endsWith('_manifest.json'))).toHaveLength(1)
    expect(before).toHaveLength(2)
    expect(await bench.verify(id)).toMatchObject({ verdict: 'intact', files: 2, problems: [] })
    await identify('Anna')
    const [run] = await bench.runs(id)
    await bench.act(id, 'repair', { start_at: run!.data_interval_start, end_at: run!.data_interval_end })
    await bench.work()
    const repair = (await bench.runs(id)).at(-1)!
    expect(await accountOf(repair.id)).toEqual(NOTHING)
    expect(await place.names()).toEqual([])
    expect(await bench.verify(id)).toMatchObject({ problems: [], files: 0, runs: 0 })
  })

  it('a retry without rows removes what its earlier attempts left', async () => {
    const id = await bench.create(place.destination({ max_file_size_mb: 1 }))
    const owner = { id, project_id: bench.workspace.project.id }
    const now = bench.app.services.now()
    await bench.capture(['seen'])
    await bench.pass()
    const kept = await place.names()
    const run = await addRun(bench.app.db, owner, now, { status: 'Running', attempt: 1 })
    const left = ['out/left.jsonl', 'out/left_manifest.json']
    await bench.app.db.run(sql`
      UPDATE batch_export_run SET published = ${JSON.stringify(left)}::jsonb WHERE id = ${run.id}`)
    for (const name of left) await place.write(name, '{}\n')
    await bench.work()
    expect(await accountOf(run.id)).toEqual(NOTHING)
    expect(await place.names()).toEqual(kept)
    expect(await bench.verify(id)).toMatchObject({ verdict: 'intact', problems: [] })
  })
})
