import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { downsampling } from './downsampling.ts'
import { madeEvent } from './fixture/event.ts'

const BY_EVENT = { samplingMethod: 'Random sampling' }

function keptShare(config: Record<string, unknown>, of: 'distinct_id' | 'uuid'): number {
  const events = Array.from({ length: 4000 }, (_, index) =>
    madeEvent({}, of === 'uuid' ? { uuid: randomUUID() } : { distinct_id: `person ${index}` }),
  )
  return events.filter((event) => downsampling.open(config)(event) !== null).length / events.length
}

describe('the share that is kept', () => {
  test.each([
    ['0', 0],
    ['10', 0.1],
    [' 50 ', 0.5],
    ['12.5', 0.125],
    [75, 0.75],
    ['100', 1],
  ])('%s %% of distinct ids and of events', (percentage, share) => {
    expect(Math.abs(keptShare({ percentage }, 'distinct_id') - share)).toBeLessThan(0.04)
    expect(Math.abs(keptShare({ percentage, ...BY_EVENT }, 'uuid') - share)).toBeLessThan(0.04)
  })
})

test('by distinct id, all events of somebody or none', () => {
  for (let person = 0; person < 50; person += 1) {
    const distinct_id = `person ${person}`
    const outcomes = Array.from({ length: 20 }, () =>
      downsampling.open({ percentage: '50' })(madeEvent({}, { distinct_id, uuid: randomUUID() })),
    )
    expect(new Set(outcomes.map((event) => event === null)).size).toBe(1)
  }
})

test('whoever is kept at a small share is kept at a larger one', () => {
  const keptAt = (percentage: string) =>
    Array.from({ length: 500 }, (_, index) => `person ${index}`).filter((distinct_id) =>
      downsampling.open({ percentage })(madeEvent({}, { distinct_id })),
    )
  expect(keptAt('40')).toEqual(expect.arrayContaining(keptAt('20')))
})

test('a repeated event gets the same answer', () => {
  const event = madeEvent({})
  const config = { percentage: '50', ...BY_EVENT }
  const outcomes = Array.from({ length: 20 }, () => downsampling.open(config)(event))
  expect(new Set(outcomes).size).toBe(1)
})

test('only the events that are named', () => {
  const config = { percentage: '0', triggeringEvents: 'a, b' }
  expect(downsampling.open(config)(madeEvent({}, { event: 'a' }))).toBeNull()
  expect(downsampling.open(config)(madeEvent({}, { event: 'b' }))).toBeNull()
  expect(downsampling.open(config)(madeEvent({}, { event: 'c' }))).toMatchObject({ event: 'c' })
})

test.each(['', 'half', '-1', '101', 'NaN', 'Infinity', null, undefined, {}])(
  '%j is a fault',
  (percentage) => {
    expect(() => downsampling.open({ percentage })(madeEvent({}))).toThrow('from 0 to 100')
  },
)
