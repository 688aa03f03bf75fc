// Exports across the nights in which clocks are set, and after days without a server: each interval comes once, and each
// event is in one file.
// @module-tag slow
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { HOUR_MS } from '../fixture/clock.ts'
import { neighbourOf, openWorkbench, type Workbench } from '../fixture/workbench.ts'

let first: Workbench
let bench: Workbench
beforeAll(async () => {
  first = await openWorkbench()
})
afterAll(() => first.app.close())
beforeEach(async () => {
  bench = await neighbourOf(first)
})
afterEach(() => bench.deleteExports())

const destination = { type: 'File', config: { prefix: 'out/{export_id}' } }

/** Their lengths in hours. Throws where one does not begin with the end of the one before. */
async function intervalsOf(id: string): Promise<number[]> {
  const runs: { data_interval_start: string; data_interval_end: string; status: string }[] = []
  for (let next = `${bench.base}/${id}/runs/?ordering=data_interval_end&limit=100`; next;) {
    const { body } = await bench.app.get(next, { key: bench.key })
    runs.push(...body.results)
    next = body.next
  }
  expect(new Set(runs.map(({ status }) => status))).toEqual(new Set(['Completed']))
  const inOrder = runs.toSorted((a, b) => a.data_interval_end.localeCompare(b.data_interval_end))
  for (const [index, run] of inOrder.slice(1).entries())
    expect(run.data_interval_start).toBe(inOrder[index]!.data_interval_end)
  return inOrder.map(
    ({ data_interval_start, data_interval_end }) =>
      (Date.parse(data_interval_end) - Date.parse(data_interval_start)) / HOUR_MS,
  )
}

/** The uuids in all its files. */
async function deliveredBy(id: string): Promise<string[]> {
  const { services } = bench.app
  const folder = join(services.settings.export_folder, String(bench.workspace.project.id), 'out', id)
  const names = await readdir(folder)
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
  return texts
    .flatMap((text) => text.trimEnd().split('\n'))
    .map((line) => (JSON.parse(line) as { uuid: string }).uuid)
}

const STEP_H = 6
/** A day and a half before, and as much after it. */
const STEPS = 12

/** In the order of their time: the clock of an application only goes ahead. `odd_day_h` is how long that day is. */
const CHANGES = [
  { zone: 'America/New_York', at: '2027-03-14T07:00:00Z', odd_day_h: 23 },
  { zone: 'Europe/Berlin', at: '2027-03-28T01:00:00Z', odd_day_h: 23 },
  { zone: 'Australia/Lord_Howe', at: '2027-04-03T15:00:00Z', odd_day_h: 24.5 },
  { zone: 'Australia/Lord_Howe', at: '2027-10-02T15:30:00Z', odd_day_h: 23.5 },
  { zone: 'Europe/Berlin', at: '2027-10-31T01:00:00Z', odd_day_h: 25 },
  { zone: 'America/New_York', at: '2027-11-07T06:00:00Z', odd_day_h: 25 },
]

describe('the night in which clocks are set', () => {
  it.each(CHANGES)('in $zone, $at', async ({ zone, at, odd_day_h }) => {
    const { app } = bench
    app.advance(Date.parse(at) - (STEPS / 2) * STEP_H * HOUR_MS + 600_000 - app.services.now().getTime())
    // Two o'clock comes twice that night, or not at all.
    const daily = await bench.create(destination, { interval: 'day', timezone: zone, offset_hour: 2 })
    const uuids: string[] = []
    for (let step = 0; step < STEPS; step++) {
      uuids.push(...(await bench.capture(['seen'])))
      app.advance(STEP_H * HOUR_MS)
      await bench.work()
    }
    app.advance(25 * HOUR_MS)
    await bench.work()
    const days = await intervalsOf(daily)
    expect(days.filter((hours) => hours !== 24)).toEqual([odd_day_h])
    expect((await deliveredBy(daily)).toSorted()).toEqual(uuids.toSorted())
  })
})

it('after four days without a server every interval is made up for, once', async () => {
  const { app } = bench
  const exports = [
    await bench.create(destination, { interval: 'hour' }),
    await bench.create(destination, { interval: 'day' }),
  ]
  const uuids = await bench.capture(['before'])
  app.advance(96 * HOUR_MS)
  uuids.push(...(await bench.capture(['after'])))
  await bench.work()
  app.advance(24 * HOUR_MS)
  await bench.work()
  const [hours, days] = await Promise.all(exports.map(intervalsOf))
  expect(hours).toEqual(Array.from({ length: 120 }, () => 1))
  expect(new Set(days)).toEqual(new Set([24]))
  for (const id of exports) expect((await deliveredBy(id)).toSorted()).toEqual(uuids.toSorted())
})
