// Trial ranges: they grow from the side a page starts on, stay within what was asked, and end with all of it.
import { describe, expect, it } from 'vitest'
import { trialRanges, type Bound } from './window.ts'

const HOUR = 3_600_000_000n
const DAY = 24n * HOUR
const at = (micros: bigint, id: string | null = null): Bound => ({ micros, id })
const now = 1_717_236_000_000_000n
const before = at(now, 'b')

describe('trialRanges', () => {
  it.each<[string, Bound | null, bigint[]]>([
    ['no start', null, [HOUR, DAY, 7n * DAY, 30n * DAY]],
    ['a start years ago', at(now - 3000n * DAY), [HOUR, DAY, 7n * DAY, 30n * DAY]],
    ['a start three days ago', at(now - 3n * DAY), [HOUR, DAY]],
    ['a start exactly a day ago', at(now - DAY), [HOUR]],
    ['a second', at(now - 1_000_000n), []],
    ['nothing between the ends', at(now + DAY), []],
  ])('newest first, %s', (_, after, widths) => {
    expect(trialRanges({ after, before }, 'newest_first')).toEqual([
      ...widths.map((width) => ({ after: at(now - width), before })),
      { after, before },
    ])
  })

  it('oldest first they grow from the start', () => {
    const after = at(now - 3n * DAY, 'a')
    expect(trialRanges({ after, before }, 'oldest_first')).toEqual([
      { after, before: at(after.micros + HOUR) },
      { after, before: at(after.micros + DAY) },
      { after, before },
    ])
  })

  it('oldest first without a start there is only the whole', () => {
    expect(trialRanges({ after: null, before }, 'oldest_first')).toEqual([{ after: null, before }])
  })

  it('never ask an engine for a time before year 1', () => {
    const early = at(-62_135_596_800_000_000n + DAY + 1n)
    expect(trialRanges({ after: null, before: early }, 'newest_first')).toEqual([
      { after: at(early.micros - HOUR), before: early },
      { after: at(early.micros - DAY), before: early },
      { after: null, before: early },
    ])
  })
})
