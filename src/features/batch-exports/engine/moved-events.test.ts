// Exports after `longshore events move` there and back: what was delivered is not delivered again, what was pending is, and
// accounts add up.
// @module-tag slow
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeClickHouseDatabase, TEST_ENGINE } from '../../../../test/harness/clickhouse.ts'
import type { Database } from '../../../platform/db/database.ts'
import { openClickHouse } from '../../../platform/event-store/clickhouse/client.ts'
import { openClickHouseSide } from '../../../platform/event-store/clickhouse/moving/side.ts'
import { TABLES } from '../../../platform/event-store/clickhouse/tables.ts'
import { openDuckDbSide } from '../../../platform/event-store/duckdb/moving/side.ts'
import { moveEvents } from '../../../platform/event-store/moving/move.ts'
import type { MoveSide } from '../../../platform/event-store/moving/side.ts'
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

/** The store of an application: what it is told of it, how a move opens it, and how it is emptied. */
type Place = { env: Record<string, string>; open(): Promise<MoveSide>; empty(): Promise<void> }

const inFolder = (data: string): Place => {
  const events = join(data, 'events')
  const empty = () => rm(events, { recursive: true })
  return { env: { DATA_DIR: data }, open: () => openDuckDbSide(events), empty }
}

const onClickHouse = (url: string, db: () => Database): Place => ({
  env: { CLICKHOUSE_URL: url },
  open: () => openClickHouseSide({ url, cluster: null, db: db() }),
  async empty() {
    const clickhouse = openClickHouse({ url, cluster: null })
    for (const table of TABLES) await clickhouse.command(`TRUNCATE TABLE ${table}`)
    await clickhouse.close()
  },
})

async function move(from: () => Promise<MoveSide>, to: () => Promise<MoveSide>) {
  const [source, target] = [await from(), await to()]
  try {
    await target.begin()
    const signal = new AbortController().signal
    return await moveEvents({ source, target, signal, onProgress: () => undefined })
  } finally {
    await source.close()
    await target.close()
  }
}

it('go on where they were', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'longshore-moved-'))
  const exported = join(folder, 'exported')
  const clickhouse = TEST_ENGINE === 'clickhouse' ? await makeClickHouseDatabase() : null
  const place = clickhouse ? onClickHouse(clickhouse.url, () => app.db) : inFolder(join(folder, 'data'))
  const bench = await openWorkbench({ ...place.env, EXPORT_DIR: exported })
  const { app, key } = bench
  const id = await bench.create({ type: 'File', config: { file_format: 'JSONLines' } })
  const uuids = await bench.capture(['one', 'two', 'three'])
  await bench.pass()
  expect((await deliveredTo(exported)).toSorted()).toEqual(uuids.toSorted())
  // The next run is due when the server is stopped.
  uuids.push(...(await bench.capture(['four', 'five'])))
  app.advance(HOUR_MS)
  const { eventStore } = app.services
  const { missingCopies } = eventStore
  // A server that is stopped does not look: it would open the store in the middle of the move.
  eventStore.missingCopies = async () => null
  await eventStore.close()

  const moved = { project_id: bench.workspace.project.id, events: 5, first: 1, last: 5, persons: 1 }
  const aside = () => openDuckDbSide(join(folder, 'aside'))
  expect(await move(place.open, aside)).toContainEqual(moved)
  await place.empty()
  expect(await move(aside, place.open)).toContainEqual(moved)
  eventStore.missingCopies = missingCopies

  await bench.work()
  uuids.push(...(await bench.capture(['six'])))
  await bench.pass()
  expect((await deliveredTo(exported)).toSorted()).toEqual(uuids.toSorted())
  expect(await bench.verify(id)).toMatchObject({ verdict: 'intact', problems: [] })
  const account = await app.get(`${bench.base}/${id}/reconciliation/`, { key })
  expect(account.body.totals).toMatchObject({ received: 6, exported: 6, pending: 0, skipped: 0 })
  await bench.deleteExports()
  await app.close()
  await clickhouse?.drop()
  await rm(folder, { recursive: true, force: true })
})
