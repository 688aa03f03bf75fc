// Every case gives on DuckDB what it gave on ClickHouse, whose answers are recorded. Differences that stay are in
// docs/hogql.md with both answers, so that a change of either is noticed.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { AREAS, casesOf, recordedOf, type Answer, type Case } from './cases.ts'
import { knownDifferences, shown } from './known-differences.ts'
import { openDuckdb } from './fixture/on-duckdb.ts'
import { isSame } from './same.ts'

let duckdb: Awaited<ReturnType<typeof openDuckdb>>
beforeAll(async () => {
  duckdb = await openDuckdb()
})
afterAll(() => duckdb.close())

const known = knownDifferences()

/** What is wrong with a case, if anything. */
function complaintAbout({ key }: Case, ours: Answer, theirs: Answer | undefined): string[] {
  if (!theirs) return [`${key}\n  has no recorded answer: run \`npm run hogql:oracle\``]
  const difference = known.get(key)
  if (isSame(ours, theirs))
    return difference ? [`${key}\n  is the same by now: take it out of docs/hogql.md`] : []
  if (difference?.ours === shown(ours) && difference.theirs === shown(theirs)) return []
  return [`${key}\n  DuckDB:     ${JSON.stringify(ours)}\n  ClickHouse: ${JSON.stringify(theirs)}`]
}

it.each(AREAS)('%s', async (area) => {
  const recorded = recordedOf(area)
  const complaints: string[] = []
  for (const one of casesOf(area)) {
    complaints.push(...complaintAbout(one, await duckdb.ask(one), recorded.get(one.key)))
  }
  expect(complaints.join('\n')).toBe('')
})

it('records no answer to what is no case', () => {
  for (const area of AREAS) {
    const keys = casesOf(area).map(({ key }) => key)
    expect(keys).toEqual([...recordedOf(area).keys()])
    expect(new Set(keys).size).toBe(keys.length)
  }
})

it('has every known difference among the cases', () => {
  const keys = new Set(AREAS.flatMap((area) => casesOf(area).map(({ key }) => key)))
  expect([...known.keys()].filter((key) => !keys.has(key))).toEqual([])
})

it('asks enough', () => {
  const all = AREAS.flatMap(casesOf)
  expect(all.filter(({ is_query }) => !is_query).length).toBeGreaterThanOrEqual(1_500)
  expect(all.filter(({ is_query }) => is_query).length).toBeGreaterThanOrEqual(300)
})
