import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { isKnown, remember, rememberAll, type KnownIds } from './known-ids.ts'

const DAY = 86_400_000_000n
const isNear = (one: bigint, other: bigint) => one - other <= DAY && other - one <= DAY

it('an id is known within a day of any of its times, and nowhere else', () => {
  const time = fc.bigInt({ min: -4n * DAY, max: 4n * DAY })
  fc.assert(
    fc.property(
      fc.array(time, { maxLength: 8 }),
      fc.array(time, { maxLength: 8 }),
      time,
      (some, others, asked) => {
        const [ids, more]: KnownIds[] = [new Map(), new Map()]
        for (const each of some) remember(ids!, 'a', each)
        for (const each of others) remember(more!, 'a', each)
        rememberAll(ids!, more!)
        expect(isKnown(ids!, 'a', asked)).toBe([...some, ...others].some((each) => isNear(each, asked)))
        expect(isKnown(ids!, 'b', asked)).toBe(false)
      },
    ),
  )
})

it.each([
  [0n, DAY, true],
  [0n, DAY + 1n, false],
  [-1n, DAY, false],
  [-DAY, 0n, true],
  [-DAY - 1n, 0n, false],
])('%s and %s are within a day: %s', (one, other, is_near) => {
  const ids: KnownIds = new Map()
  remember(ids, 'a', one)
  expect(isKnown(ids, 'a', other)).toBe(is_near)
  remember(ids, 'a', one + 100n * DAY)
  expect(isKnown(ids, 'a', other)).toBe(is_near)
})

it('any number of events with one id take no longer than as many with ids of their own', () => {
  const took = (id: (index: number) => string) => {
    const ids: KnownIds = new Map()
    const began = performance.now()
    for (let index = 0; index < 100_000; index++) {
      const time = BigInt(index) * 2n * DAY
      if (!isKnown(ids, id(index), time)) remember(ids, id(index), time)
    }
    return performance.now() - began
  }
  const apart = took(String)
  // One by one they took a hundred times as long.
  expect(took(() => 'a')).toBeLessThan(1000 + 10 * apart)
})
