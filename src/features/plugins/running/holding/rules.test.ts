import { describe, expect, it } from 'vitest'
import type { FaultKind } from '../../../../platform/sandbox/sandbox.ts'
import { Passage } from '../ingestion/passage.ts'
import { isAlone, keepOrder, nextTry } from './rules.ts'

const passage = (event: string) =>
  new Passage(
    { uuid: event, event, distinct_id: 'ada', properties: {}, timestamp: 1n, created_at: 1n },
    undefined,
  )

describe('an event waits alone', () => {
  it.each<[FaultKind | null, boolean, boolean]>([
    ['threw', true, true],
    ['result', true, true],
    ['cpu', false, true],
    ['memory', false, true],
    ['killed', false, true],
    ['time', false, true],
    ['late', false, false],
    ['load', false, false],
    ['setup', false, false],
    ['gone', false, false],
    [null, false, false],
  ])('%s: %s beside others, %s by itself', (fault, beside, by_itself) => {
    expect([isAlone({ config_id: 1, fault }, false), isAlone({ config_id: 1, fault }, true)]).toEqual([
      beside,
      by_itself,
    ])
  })
})

describe('the order is kept', () => {
  it('by holding what is through behind the first that holds up others', () => {
    const [first, dropped, alone, held, through, gone] = ['a', 'b', 'c', 'd', 'e', 'f'].map(passage)
    dropped!.drop()
    alone!.hold({ config_id: 1, fault: 'threw' })
    held!.hold({ config_id: 2, fault: 'late' })
    gone!.drop()
    expect(keepOrder([first!, dropped!, alone!, held!, through!, gone!])).toBe(true)
    expect(first!.held).toBeNull()
    expect(through!.held).toEqual({ config_id: 2, fault: null })
    expect(gone!.held).toBeNull()
  })

  it('without holding anything where each that waits does so alone', () => {
    const [alone, through] = ['a', 'b'].map(passage)
    alone!.hold({ config_id: 1, fault: 'threw' })
    expect(keepOrder([alone!, through!])).toBe(false)
    expect(through!.held).toBeNull()
  })
})

it('tries again after 1, 2, 4 … minutes, and an hour at most', () => {
  const minutes = [0, 1, 2, 5, 6, 100].map((attempts) => nextTry(attempts, new Date(0)).getTime() / 60_000)
  expect(minutes).toEqual([1, 2, 4, 32, 60, 60])
})
