// Which properties get a column, and when one goes.
import { describe, expect, it } from 'vitest'
import { chooseColumns, MAX_COLUMNS, MIN_READS, UNUSED_DAYS, type Read } from './choice.ts'
import { PropertyReads } from './reads.ts'

const TODAY = 20_000
const reads = (counts: Record<string, number>, day = TODAY) =>
  new Map<string, Read>(Object.entries(counts).map(([property, count]) => [property, { count, day }]))
const full = (day: number) =>
  Array.from({ length: MAX_COLUMNS }, (_, index) => ({ property: `p${index}`, day: day - index }))
const names = (columns: readonly { property: string }[]) => columns.map(({ property }) => property)

describe('the choice of columns', () => {
  it('takes those that were read often enough, the most read first, and no more than there is room for', () => {
    expect(chooseColumns([], reads({ rare: MIN_READS - 1, some: MIN_READS, most: 50 }), TODAY)).toEqual([
      { property: 'most', day: TODAY },
      { property: 'some', day: TODAY },
    ])
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`p${index}`, 100 - index]))
    expect(names(chooseColumns([], reads(many), TODAY))).toEqual(names(full(TODAY)))
  })

  it('keeps what is read, and drops what nobody has read for a month', () => {
    const kept = [
      { property: 'read', day: TODAY - UNUSED_DAYS },
      { property: 'unread', day: TODAY - UNUSED_DAYS },
      { property: 'of late', day: TODAY - UNUSED_DAYS + 1 },
    ]
    expect(chooseColumns(kept, reads({ read: 1 }), TODAY)).toEqual([
      { property: 'read', day: TODAY },
      { property: 'of late', day: TODAY - UNUSED_DAYS + 1 },
    ])
  })

  it('makes room for another by what nobody has read for a week, the longest unread first', () => {
    const kept = full(TODAY)
    expect(names(chooseColumns(kept, reads({ one: 9, two: 8 }), TODAY))).toEqual([
      ...names(kept.slice(0, MAX_COLUMNS - 2)),
      'one',
      'two',
    ])
    const busy = kept.map(({ property }) => ({ property, day: TODAY - 6 }))
    expect(chooseColumns(busy, reads({ one: 999 }), TODAY)).toEqual(busy)
  })
})

describe('reads', () => {
  it('count half after a day, and are bounded by project and in all', () => {
    const counted = new PropertyReads()
    for (let times = 0; times < 8; times++) counted.count(1, ['a', '__proto__'], TODAY)
    counted.count(1, ['b'], TODAY + 1)
    expect([...counted.of(1, TODAY + 1)]).toEqual([
      ['a', { count: 4, day: TODAY }],
      ['__proto__', { count: 4, day: TODAY }],
      ['b', { count: 1, day: TODAY + 1 }],
    ])
    expect(counted.of(2, TODAY)).toEqual(new Map())
    for (let index = 0; index < 500; index++) counted.count(1, [`p${index}`], TODAY + 1)
    expect(counted.of(1, TODAY + 1).size).toBe(200)
    expect(counted.of(1, TODAY + 1).get('a')).toEqual({ count: 4, day: TODAY })
    for (let project = 2; project < 2_000; project++) counted.count(project, ['a'], TODAY)
    expect(counted.of(1, TODAY).size).toBe(0)
    counted.forget(1_999)
    expect(counted.of(1_999, TODAY).size).toBe(0)
  })
})
