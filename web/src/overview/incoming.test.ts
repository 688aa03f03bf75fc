import { describe, expect, it } from 'vitest'
import { incomingOf, MINUTES, rowOf, type Row } from './incoming.ts'

const NOW = Date.parse('2026-11-17T14:30:20Z')
const minute = (back: number) => Math.floor(NOW / 60_000) * 60 - back * 60

describe('incomingOf', () => {
  it('puts counts into their minutes, the running one last', () => {
    const { minutes, kinds, total, lastMinute } = incomingOf(
      [
        [minute(0), 'a', 1],
        [minute(1), 'a', 5],
        [minute(1), 'b', 2],
        [minute(59), 'a', 3],
      ],
      NOW,
    )
    expect([minutes.length, new Date(minutes.at(-1)!).toISOString()]).toEqual([
      MINUTES,
      '2026-11-17T14:30:00.000Z',
    ])
    expect(kinds.map(({ label, total: count }) => [label, count])).toEqual([
      ['a', 9],
      ['b', 2],
    ])
    expect([kinds[0]!.values[0], kinds[0]!.values[58], kinds[0]!.values[59]]).toEqual([3, 5, 1])
    expect([total, lastMinute]).toEqual([11, 7])
  })

  it('leaves out what lies outside of the hour', () => {
    expect(
      incomingOf(
        [
          [minute(60), 'old', 1],
          [minute(-1), 'ahead', 1],
        ],
        NOW,
      ),
    ).toMatchObject({ kinds: [], total: 0 })
  })

  it('the least frequent kinds are one', () => {
    const rows = Array.from({ length: 12 }, (_, index): Row => [minute(2), `kind ${index}`, 100 - index])
    const { kinds, total } = incomingOf(rows, NOW)
    expect(kinds.map(({ label }) => label)).toEqual([
      ...rows.slice(0, 7).map(([, event]) => event),
      '5 others',
    ])
    expect(kinds.at(-1)).toMatchObject({ event: null, total: 93 + 92 + 91 + 90 + 89 })
    expect(total).toBe(rows.reduce((sum, [, , count]) => sum + count, 0))
  })

  it('what came since is a row like others', () => {
    const row = rowOf({ timestamp: '2026-11-17T14:30:05.5+00:00', event: 'a' })
    expect(row).toEqual([minute(0), 'a', 1])
    expect(incomingOf([[minute(0), 'a', 2], row], NOW).total).toBe(3)
  })
})
