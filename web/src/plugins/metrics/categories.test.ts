import { describe, expect, it } from 'vitest'
import { callsOf, linesAround, momentOf, positionIn } from './categories.ts'

const offering = (capabilities: object) => callsOf({ plugin_info: { capabilities } } as never)

describe('which calls are counted', () => {
  it.each([
    [{ methods: ['processEvent', 'setupPlugin'] }, ['processEvent']],
    [{ methods: ['exportEvents', 'onEvent'] }, ['exportEvents']],
    [
      { methods: ['composeWebhook'], scheduled_tasks: ['runEveryHour'] },
      ['composeWebhook', 'webhook', 'scheduledTask'],
    ],
    [{}, []],
  ])('%j', (capabilities, calls) => expect(offering(capabilities)).toEqual(calls))
})

describe('the place of an error', () => {
  it('is the first in the author’s file', () => {
    expect(
      positionIn(
        'TypeError: no\n    at inner (native)\n    at processEvent (index.ts:3:86)\n    at index.ts:9:1',
      ),
    ).toEqual({ line: 3, column: 86 })
    expect(positionIn('at (native)')).toBeNull()
  })

  it('is shown with the lines around it', () => {
    expect(linesAround('a\nb\nc\nd', 1)).toEqual([
      { number: 1, text: 'a' },
      { number: 2, text: 'b' },
      { number: 3, text: 'c' },
    ])
    expect(linesAround('a\nb', 9)).toEqual([])
  })
})

it('dates are in UTC', () => {
  expect(momentOf('2026-11-16')).toBe(Date.UTC(2026, 10, 16))
  expect(momentOf('2026-11-16 14:00:00')).toBe(Date.UTC(2026, 10, 16, 14))
})
