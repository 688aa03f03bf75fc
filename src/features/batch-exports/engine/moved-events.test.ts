// Exports after `longshore events move`: what was delivered is not delivered again, what was pending is, and accounts add up.
// @module-tag slow
import { mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { TEST_ENGINE } from '../../../../test/harness/clickhouse.ts'
import { openDuckDbSide } from '../../../platform/event-store/duckdb/moving/side.ts'
import { moveEvents } from '../../../platform/event-store/moving/move.ts'
import { HOUR_MS } from '../fixture/clock.ts'
import { openWorkbench } from '../fixture/workbench.ts'

async function deliveredTo(folder: string): Promise<string[]> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true })
  const names = files.filter((file) => file.isFile() && file.name.endsWith('.jsonl'))
  const texts = await Promise.all(names.map((file) => readFile(join(file.parentPath, file.name), 'utf8')))
  return texts.flatMap((text) =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { uuid: string }).uuid),
  )
}

it.skipIf(TEST_ENGINE !== 'duckdb')('go on where they were', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'longshore-moved-'))
  const [data, exported] = [join(folder, 'data'), join(folder, 'exported')]
  const bench = await openWorkbench({ DATA_DIR: data, EXPORT_DIR: exported })
  const { app, key } = bench
  const id = await bench.create({ type: 'File', config: { file_format: 'JSONLines' } })
  const uuids = await bench.capture(['one', 'two', 'three'])
  await bench.pass()
  expect((await deliveredTo(exported)).toSorted()).toEqual(uuids.toSorted())
  // The next run is due when the server is stopped.
  uuids.push(...(await bench.capture(['four', 'five'])))
  app.advance(HOUR_MS)
  await app.services.eventStore.close()

  const events = join(data, 'events')
  await rename(events, join(data, 'old'))
  const [source, target] = [await openDuckDbSide(join(data, 'old')), await openDuckDbSide(events)]
  const { id: project_id } = bench.workspace.project
  expect(
    await moveEvents({ source, target, signal: new AbortController().signal, onProgress: () => undefined }),
  ).toContainEqual({ project_id, events: 5, first: 1, last: 5, persons: 1 })
  await source.close()
  await target.close()

  await bench.work()
  uuids.push(...(await bench.capture(['six'])))
  await bench.pass()
  expect((await deliveredTo(exported)).toSorted()).toEqual(uuids.toSorted())
  expect(await bench.verify(id)).toMatchObject({ verdict: 'intact', problems: [] })
  const account = await app.get(`${bench.base}/${id}/reconciliation/`, { key })
  expect(account.body.totals).toMatchObject({ received: 6, exported: 6, pending: 0, skipped: 0 })
  await bench.deleteExports()
  await app.close()
  await rm(folder, { recursive: true, force: true })
})
