// How far back a preview looks, told by what it asks of the event store.
import { expect, it } from 'vitest'
import type { ExportRows } from '../../../platform/event-store/export-rows.ts'
import type { Bounds, Model } from '../definition.ts'
import type { SelectedRows } from '../source/select.ts'
import { sampleRows } from './sample.ts'

const NOW = new Date('2026-03-31T12:00:00Z')

/** A store that answers with these lines, one list for each time it is asked. */
async function sample(model: Model, last: number, answers: string[][]) {
  const asked: Bounds[] = []
  const select = (bounds: Bounds) => {
    asked.push(bounds)
    return { rows: {} as ExportRows, columns: [], found_by: '' } satisfies SelectedRows
  }
  const left = [...answers]
  const store = { lastPosition: async () => last, lastRows: async () => left.shift()! }
  return { rows: await sampleRows(store, 1, { model, select, end: NOW }, NOW), asked }
}
const lines = (count: number, text = 'x') =>
  Array.from({ length: count }, (_, n) => JSON.stringify({ n, text }))

it('looks at the newest ten thousand, and at a million once those are not enough', async () => {
  const enough = await sample('events', 5_000_000, [lines(10)])
  expect(enough.asked).toMatchObject([{ seq_from: 4_990_000, seq_to: 5_000_000, selection: 'arrival' }])
  expect(enough.rows).toHaveLength(10)
  const few = await sample('events', 5_000_000, [lines(9), lines(10)])
  expect(few.asked.map(({ areas }) => areas)).toEqual(
    [4_990_000, 4_000_000].map((seq_from) => [
      { seq_from, seq_to: 5_000_000, time_from: null, time_to: null },
    ]),
  )
  expect(few.rows).toHaveLength(10)
  const young = await sample('events', 7, [lines(7), lines(7)])
  expect(young.asked.map(({ seq_from }) => seq_from)).toEqual([0, 0])
})

it('looks at all persons once those of a day are not enough, at sessions of a month', async () => {
  const starts = async (model: Model) =>
    (await sample(model, 10, [[], []])).asked.map(({ interval }) => interval.start?.toISOString() ?? null)
  expect(await starts('persons')).toEqual(['2026-03-30T12:00:00.000Z', null])
  expect(await starts('sessions')).toEqual(['2026-03-30T12:00:00.000Z', '2026-03-01T12:00:00.000Z'])
})

it('leaves out what a megabyte does not hold', async () => {
  const { rows } = await sample('events', 10, [lines(10, 'x'.repeat(300_000))])
  expect(rows.map(({ n }) => n)).toEqual([0, 1, 2])
})
