// Any areas, any events: the tree of questions says the same of each as looking at all areas one by one.
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api'
import * as fc from 'fast-check'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Area } from '../export-rows.ts'
import { inAnyArea } from '../area-tree.ts'
import { engineType, engineValue } from './bind.ts'
import { eventRows } from './event-rows.ts'
import { planSql } from './export-sql.ts'
import { newParameters } from './parameters.ts'

let connection: DuckDBConnection
beforeAll(async () => {
  connection = await (await DuckDBInstance.create(':memory:')).connect()
})
afterAll(() => connection.closeSync())

const MOST = 12
const DAY_MS = 86_400_000

/** Every event of a small plane: positions from 1 to 12, times of days from 0 to 11. */
const PLANE = `SELECT position, epoch_ms(day * ${DAY_MS}) AS time, day
  FROM range(1, ${MOST + 1}) AS p(position), range(0, ${MOST}) AS d(day)`

const edges = fc
  .tuple(fc.integer({ min: 0, max: MOST }), fc.integer({ min: 0, max: MOST }))
  .map(([one, other]) => [Math.min(one, other), Math.max(one, other)] as const)

const area = fc
  .record({ seq: edges, times: edges, is_open: fc.constantFrom('both', 'from', 'to', 'none') })
  .map(({ seq, times, is_open }): Area => ({
    seq_from: seq[0],
    seq_to: seq[1],
    time_from: is_open === 'both' || is_open === 'from' ? null : new Date(times[0] * DAY_MS),
    time_to: is_open === 'both' || is_open === 'to' ? null : new Date(times[1] * DAY_MS),
  }))

function holds({ seq_from, seq_to, time_from, time_to }: Area, position: number, time_ms: number): boolean {
  return (
    position > seq_from &&
    position <= seq_to &&
    (time_from === null || time_ms >= time_from.getTime()) &&
    (time_to === null || time_ms < time_to.getTime())
  )
}

async function found(areas: readonly Area[], from: number, to: number): Promise<string[]> {
  const parameters = newParameters()
  const condition = inAnyArea(areas, { from, to }, { position: 'position', time: 'time' }, parameters)
  const result = await connection.run(
    `SELECT position, day FROM (${PLANE}) WHERE position > ${from} AND position <= ${to} AND ${condition} ORDER BY ALL`,
    parameters.bound.map(engineValue),
    parameters.bound.map(engineType),
  )
  return (await result.getRows()).map((row) => row.map(Number).join(' '))
}

it('finds exactly the events that lie in any area, within any range of positions', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(area, { maxLength: 9 }), edges, async (areas, [from, to]) => {
      const expected = []
      for (let position = from + 1; position <= to; position++) {
        for (let day = 0; day < MOST; day++) {
          if (areas.some((one) => holds(one, position, day * DAY_MS))) expected.push(`${position} ${day}`)
        }
      }
      expect(await found(areas, from, to)).toEqual(expected)
    }),
    { numRuns: 300 },
  )
})

it('asks nothing where areas that touch leave no gap', () => {
  const day = (at: number) => new Date(at * DAY_MS)
  const areas: Area[] = [
    { seq_from: 0, seq_to: 9, time_from: null, time_to: day(3) },
    { seq_from: 4, seq_to: 9, time_from: day(3), time_to: day(4) },
    { seq_from: 0, seq_to: 9, time_from: day(4), time_to: null },
  ]
  const write = (from: number, to: number) =>
    inAnyArea(areas, { from, to }, { position: 'p', time: 't' }, newParameters())
  expect(write(4, 9)).toBe('true')
  expect(write(9, 12)).toBe('false')
  expect(write(0, 4)).toContain('CASE')
})

it('is a step behind the reader of the files, also where it asks for times alone', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'area-tree-'))
  const file = join(folder, 'plane.parquet')
  await connection.run(`COPY (${PLANE}) TO '${file}'`)
  const areas = [2, 4, 6].map((at): Area => ({
    seq_from: 0,
    seq_to: MOST,
    time_from: new Date(at * DAY_MS),
    time_to: new Date((at + 1) * DAY_MS),
  }))
  const query = { sql: `FROM read_parquet('${file}')`, position: 'position', uuid: 'day', time: 'time' }
  const { sql, parameters } = eventRows(
    { model: 'events', query: { ...query, parameters: [], properties: [] }, areas },
    null,
  )
  const plan = planSql({ sql, parameters })
  const result = await connection.run(plan.sql, parameters.map(engineValue), parameters.map(engineType))
  const [row] = await result.getRows()
  const steps = String(row![1]).match(/(?<="name": ")[^"]*/g)!
  await rm(folder, { recursive: true })
  expect(steps.map((name) => name.trim())).toEqual(['FILTER', 'READ_PARQUET'])
})

it('asks as few questions of an event as many areas allow', () => {
  const areas = Array.from({ length: 500 }, (_, index) => ({
    seq_from: 0,
    seq_to: 100,
    time_from: new Date(2 * index),
    time_to: new Date(2 * index + 1),
  }))
  const tree = inAnyArea(areas, { from: 0, to: 100 }, { position: 'p', time: 't' }, newParameters())
  let [depth, deepest] = [0, 0]
  for (const word of tree.match(/CASE|END/g)!)
    deepest = Math.max(deepest, (depth += word === 'CASE' ? 1 : -1))
  expect(tree.match(/CASE/g)!.length).toBeLessThan(1100)
  expect(deepest).toBeLessThan(14)
})
