// What can happen to delivered files behind our back, one test for each, in every place that files are delivered to.
// @module-tag slow
import { createHash } from 'node:crypto'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sql } from '../../../../platform/db/sql.ts'
import { openAzure, openFolder, openS3, type FilePlace, type FileWorld } from '../fixture/file-places.ts'
import { deliverHours, neighbourOf, openWorkbench, type Workbench } from '../../fixture/workbench.ts'

describe.each([
  ['File', openFolder],
  ['S3', openS3],
  ['AzureBlob', openAzure],
])('%s', (type, openWorld) => {
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

  /** Two hours of three events, a file each. */
  async function deliver(config: object = {}): Promise<{ id: string; names: string[] }> {
    const id = await bench.create(place.destination(config))
    await deliverHours(bench, 2)
    return { id, names: await place.names() }
  }

  it('everything is as it was delivered', async () => {
    const { id, names } = await deliver()
    const sizes = await Promise.all(names.map(async (name) => (await place.read(name)).length))
    expect(await bench.verify(id)).toMatchObject({
      status: 'Completed',
      verdict: 'intact',
      run: null,
      runs: 2,
      files: 2,
      rows: 6,
      bytes: sizes[0]! + sizes[1]!,
      problems: [],
      problems_count: 0,
      notes: [],
    })
    expect(await place.names()).toEqual(names)
  })

  it('a flipped byte', async () => {
    const { id, names } = await deliver()
    const content = await place.read(names[1]!)
    const at = content.indexOf('deep')
    content[at] = content[at]! ^ 1
    await place.write(names[1]!, content)
    const [, run] = await bench.runs(id)
    const range = { start_at: run!.data_interval_start, end_at: run!.data_interval_end }
    expect(await bench.verify(id)).toMatchObject({
      verdict: 'problems',
      files: 2,
      rows: 6,
      problems: [
        {
          kind: 'changed_file',
          run: run!.id,
          file: names[1],
          uuid: null,
          position: null,
          message: 'The file has another SHA-256 than was delivered.',
          what_to_do: `Repair the interval: POST ${bench.base}/${id}/repair/ with ${JSON.stringify(range)}.`,
        },
      ],
      problems_count: 1,
    })
  })

  it('a missing file', async () => {
    const { id, names } = await deliver()
    await place.remove(names[0]!)
    expect(await bench.verify(id)).toMatchObject({
      verdict: 'problems',
      files: 1,
      rows: 3,
      problems: [{ kind: 'missing_file', file: names[0], run: (await bench.runs(id))[0]!.id }],
      problems_count: 1,
    })
  })

  it('a stray file, of data or a manifest; nothing else is one', async () => {
    const { id, names } = await deliver()
    const strays = ['out/of-somebody.jsonl', 'out/old.parquet.zst', 'out/old_manifest.json']
    const others = ['out/notes.txt', 'out/deeper/other.jsonl', 'elsewhere.jsonl']
    for (const name of [...strays, ...others]) await place.write(name, 'x')
    expect(await bench.verify(id)).toMatchObject({
      verdict: 'problems',
      files: 2,
      problems: strays.map((file) => ({
        kind: 'stray_file',
        file,
        run: null,
        what_to_do: 'Delete the file, or move it to another folder.',
      })),
      problems_count: 3,
    })
    expect(await place.names()).toEqual(expect.arrayContaining([...names, ...strays]))
  })

  it.runIf(type === 'File')(
    'a link that bears the name of a file, and nothing that is called otherwise',
    async () => {
      const { id, names } = await deliver()
      const { export_folder } = bench.app.services.settings
      const folder = join(export_folder, String(bench.workspace.project.id), 'out')
      await symlink(join(folder, names[0]!.split('/').at(-1)!), join(folder, 'again.jsonl'))
      await symlink(folder, join(folder, 'a-folder'))
      expect(await bench.verify(id)).toMatchObject({
        verdict: 'problems',
        problems: [{ kind: 'stray_file', file: 'out/again.jsonl' }],
      })
    },
  )

  it('a file that a cancelled run has left, in a folder that nothing was delivered to', async () => {
    const { id, names } = await deliver({ prefix: 'out/{hour}' })
    const left = 'out/of-a-cancelled-run/left.jsonl'
    const [run] = await bench.runs(id)
    const cancelled = crypto.randomUUID()
    await bench.app.db.run(sql`
      INSERT INTO batch_export_run (id, project_id, batch_export_id, status, data_interval_start, data_interval_end, selection,
        definition, published, run_after, created_at, finished_at, last_updated_at)
      SELECT ${cancelled}, project_id, batch_export_id, 'Cancelled', data_interval_end, data_interval_end + interval '3 hours',
        selection, jsonb_set(definition, '{config,compression}', '"gzip"'), ${JSON.stringify([left])}::jsonb, run_after, created_at,
        finished_at, last_updated_at
      FROM batch_export_run WHERE id = ${run!.id}`)
    await place.write(left, '{}\n')
    expect(await bench.verify(id)).toMatchObject({
      verdict: 'problems',
      files: names.length,
      problems: [{ kind: 'stray_file', file: left, run: cancelled }],
      problems_count: 1,
    })
    // Another export has written a file of that name since.
    const other = await bench.create(place.destination({ prefix: 'other' }))
    await bench.app.db.run(
      sql`UPDATE batch_export_run SET batch_export_id = ${other} WHERE id = ${cancelled}`,
    )
    await bench.app.db.run(sql`
      UPDATE batch_export_run SET published = published || ${JSON.stringify([left])}::jsonb WHERE id = ${run!.id}`)
    await bench.app.db.run(sql`
      UPDATE batch_export_run SET status = 'Failed' WHERE batch_export_id = ${id} AND id = ${run!.id}`)
    const { problems } = await bench.verify(id)
    expect(problems.map(({ file }) => file)).not.toContain(left)
  })

  describe('although the run is made to say that its file has always been so:', () => {
    let id: string
    let names: string[]
    let lines: string[]
    beforeEach(async () => {
      ;({ id, names } = await deliver({ compression: 'gzip' }))
      lines = gunzipSync(await place.read(names[0]!))
        .toString()
        .split('\n')
        .slice(0, 3)
    })

    async function forge(forged: readonly string[], rows = forged.length): Promise<unknown[]> {
      const content = gzipSync(forged.map((line) => `${line}\n`).join(''))
      await place.write(names[0]!, content)
      const sha256 = createHash('sha256').update(content).digest('hex')
      const files = JSON.stringify([{ name: names[0], rows, bytes: content.length, sha256 }])
      const [run] = await bench.runs(id)
      await bench.app.db.run(sql`
        UPDATE batch_export_run SET files = ${files}::jsonb, records_completed = ${rows} WHERE id = ${run!.id}`)
      const { problems } = await bench.verify(id)
      expect(problems.every((problem) => problem.run === run!.id)).toBe(true)
      return problems.map(({ kind }) => kind)
    }

    it('the order of rows is nobody’s matter', async () => {
      expect(await forge(lines.toReversed())).toEqual([])
    })

    it('a missing row', async () => {
      expect(await forge(lines.slice(1))).toEqual(['wrong_uuids'])
    })

    it('a missing row that is counted', async () => {
      expect(await forge(lines.slice(1), 3)).toEqual(['wrong_rows'])
    })

    it('a doubled row', async () => {
      expect(await forge([lines[0]!, lines[0]!, lines[2]!])).toEqual(['wrong_uuids'])
    })

    it('a row nobody delivered', async () => {
      const other = lines[2]!.replace(/"uuid":"[^"]+"/, `"uuid":"${crypto.randomUUID()}"`)
      expect(await forge([lines[0]!, lines[1]!, other])).toEqual(['wrong_uuids'])
    })
  })

  it('what a repair heals is intact afterwards', async () => {
    const { id, names } = await deliver()
    const before = await Promise.all(names.map((name) => place.read(name)))
    await place.remove(names[0]!)
    await place.write(names[1]!, 'nonsense')
    const { problems } = await bench.verify(id)
    expect(problems.map(({ kind }) => kind)).toEqual(['missing_file', 'changed_file'])
    for (const { what_to_do } of problems) {
      const [, path, body] = /POST (\S+) with (.*)\.$/.exec(what_to_do)!
      expect((await bench.app.post(path!, JSON.parse(body!), { key: bench.key })).status).toBe(200)
      await bench.work()
    }
    expect(await bench.verify(id)).toMatchObject({ verdict: 'intact', problems: [] })
    expect(await Promise.all(names.map((name) => place.read(name)))).toEqual(before)
  })
})
