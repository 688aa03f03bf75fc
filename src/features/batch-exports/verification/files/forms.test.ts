// Files of every form, and what a verification makes of runs that failed, of single runs and of columns of the user.
// @module-tag slow
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sql } from '../../../../platform/db/sql.ts'
import { openFolder, type FilePlace } from '../fixture/file-places.ts'
import { deliverHours, neighbourOf, openWorkbench, type Workbench } from '../../fixture/workbench.ts'

let first: Workbench
let bench: Workbench
let place: FilePlace
beforeAll(async () => {
  first = await openWorkbench()
})
afterAll(() => first.app.close())
beforeEach(async () => {
  bench = await neighbourOf(first)
  place = (await openFolder()).open(bench)
})
afterEach(() => bench.deleteExports())

async function deliver(config: object = {}, fields: object = {}): Promise<{ id: string; names: string[] }> {
  const id = await bench.create(place.destination(config), fields)
  await deliverHours(bench, 2)
  return { id, names: await place.names() }
}

const kindsOf = async (id: string) => (await bench.verify(id)).problems.map(({ kind }) => kind)

describe.each([
  { file_format: 'JSONLines', compression: 'gzip' },
  { file_format: 'JSONLines', compression: 'brotli' },
  { file_format: 'Parquet', compression: 'zstd' },
  { file_format: 'Parquet', compression: null },
])('in the form %o', (config) => {
  it('everything is as it was delivered, until a byte is flipped', async () => {
    const { id, names } = await deliver(config)
    expect(await bench.verify(id)).toMatchObject({ verdict: 'intact', files: 2, rows: 6 })
    const content = await place.read(names[0]!)
    const at = Math.floor(content.length / 2)
    content[at] = content[at]! ^ 0x55
    await place.write(names[0]!, content)
    expect(await bench.verify(id)).toMatchObject({
      verdict: 'problems',
      problems: [{ kind: 'changed_file', file: names[0] }],
      problems_count: 1,
    })
  })
})

it('a byte more', async () => {
  const { id, names } = await deliver()
  const content = await place.read(names[0]!)
  await place.write(names[0]!, Buffer.concat([content, Buffer.from('\n')]))
  const message = `The file has ${content.length + 1} bytes; ${content.length} were delivered.`
  expect(await bench.verify(id)).toMatchObject({ problems: [{ kind: 'changed_file', message }] })
})

it('a missing manifest, and one that was changed', async () => {
  const { id, names } = await deliver({ max_file_size_mb: 1 })
  expect(await bench.verify(id)).toMatchObject({ verdict: 'intact', files: 4 })
  const manifests = names.filter((name) => name.endsWith('_manifest.json'))
  await place.remove(manifests[0]!)
  await place.write(manifests[1]!, '{}')
  expect(await bench.verify(id)).toMatchObject({
    problems: [
      { kind: 'missing_file', file: manifests[0] },
      { kind: 'changed_file', file: manifests[1] },
    ],
    problems_count: 2,
  })
})

it('files left by a run that failed are strays with a name, and a retry puts it right', async () => {
  const { id, names } = await deliver()
  const [run] = await bench.runs(id)
  // As if it had made its file visible and was given up before it could say so.
  await bench.app.db.run(sql`
    UPDATE batch_export_run SET status = 'FailedRetryable', records_completed = NULL, files = NULL WHERE id = ${run!.id}`)
  const retry = `${bench.base}/${id}/runs/${run!.id}/retry/`
  expect(await bench.verify(id)).toMatchObject({
    problems: [
      {
        kind: 'stray_file',
        file: names[0],
        run: run!.id,
        what_to_do: `Retry the run, which removes what it has left: POST ${retry}.`,
      },
    ],
    problems_count: 1,
  })
  await bench.app.post(retry, {}, { key: bench.key })
  // One that is at work accounts for what it is going to write.
  expect(await bench.verify(id)).toMatchObject({ verdict: 'intact', runs: 1 })
  await bench.work()
  expect(await bench.verify(id)).toMatchObject({ verdict: 'intact', runs: 2 })
})

it('files of an earlier run over the same events, that a later one did not take away', async () => {
  const { id, names } = await deliver()
  const content = await place.read(names[0]!)
  await bench.app.patch(
    `${bench.base}/${id}/`,
    { destination: { config: { compression: 'gzip' } } },
    { key: bench.key },
  )
  const [run] = await bench.runs(id)
  await bench.app.post(`${bench.base}/${id}/runs/${run!.id}/retry/`, {}, { key: bench.key })
  await bench.work()
  expect(await bench.verify(id)).toMatchObject({ verdict: 'intact', runs: 2, files: 2 })
  await place.write(names[0]!, content)
  expect(await bench.verify(id)).toMatchObject({
    problems: [{ kind: 'stray_file', file: names[0], run: run!.id, what_to_do: 'Delete the file.' }],
    problems_count: 1,
  })
})

it('one run, or the intervals of a range, are verified alone', async () => {
  const { id, names } = await deliver()
  for (const name of names) await place.remove(name)
  const [one, other] = await bench.runs(id)
  expect(await bench.verify(id, { run: other!.id })).toMatchObject({
    run: other!.id,
    runs: 1,
    problems: [{ kind: 'missing_file', file: names[1] }],
    problems_count: 1,
  })
  const range = { start_at: one!.data_interval_start, end_at: one!.data_interval_end }
  expect(await bench.verify(id, range)).toMatchObject({
    run: null,
    ...range,
    runs: 1,
    problems: [{ kind: 'missing_file', file: names[0] }],
    problems_count: 1,
  })
})

it.each([
  ['with a uuid', 'SELECT event AS what, uuid FROM events', 'wrong_uuids'],
  ['without one', 'SELECT event AS what FROM events', 'wrong_rows'],
])('columns of the user, %s, against the events', async (_what, hogql_query, kind) => {
  const { id } = await deliver({}, { hogql_query })
  expect(await bench.verify(id)).toMatchObject({ verdict: 'intact', rows: 6 })
  const [run] = await bench.runs(id)
  await bench.app.db.run(sql`
    UPDATE batch_export_claim SET positions = int8range(0, 2, '(]') WHERE run_id = ${run!.id}`)
  expect(await kindsOf(id)).toEqual([kind])
})

it('persons go by what their runs say', async () => {
  const { id, names } = await deliver({}, { model: 'persons' })
  expect(names.length).toBeGreaterThan(0)
  expect(await bench.verify(id)).toMatchObject({ verdict: 'intact', rows: names.length })
  await place.write(names[0]!, '{}\n')
  expect(await kindsOf(id)).toEqual(['changed_file'])
})
