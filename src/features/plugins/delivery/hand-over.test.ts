import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Outcome } from './attempt.ts'
import { handOver } from './hand-over.ts'

const DONE: Outcome = { kind: 'done' }
const LATER: Outcome = { kind: 'later' }
const items = Array.from({ length: 20 }, (_, index) => index)
const always = () => true

describe('handOver', () => {
  it('begins in order, and keeps no more than so many under way', async () => {
    const begun: number[] = []
    let now = 0
    let most = 0
    const outcomes = await handOver(items, 3, always, async (item) => {
      begun.push(item)
      most = Math.max(most, ++now)
      await nextTurn()
      now--
      return DONE
    })
    expect(begun).toEqual(items)
    expect(most).toBe(3)
    expect(outcomes).toEqual(items.map(() => DONE))
  })

  it('tells only what is settled from the first on, and begins nothing after one was put off', async () => {
    const begun: number[] = []
    const outcomes = await handOver(items, 2, always, async (item) => {
      begun.push(item)
      await nextTurn()
      return item === 4 ? LATER : DONE
    })
    expect(outcomes).toHaveLength(4)
    expect(begun).toEqual([0, 1, 2, 3, 4, 5])
  })

  it('stops when it is told to', async () => {
    let begun = 0
    const outcomes = await handOver(
      items,
      1,
      () => begun < 5,
      async () => {
        begun++
        return DONE
      },
    )
    expect([begun, outcomes.length]).toEqual([5, 5])
  })

  it('keeps what was settled before a fault, and throws the fault when that is nothing', async () => {
    const faultAt = (bad: number) =>
      handOver(items, 1, always, async (item) => {
        if (item === bad) throw new Error('the store is gone')
        return DONE
      })
    expect(await faultAt(3)).toHaveLength(3)
    await expect(faultAt(0)).rejects.toThrow('the store is gone')
  })
})
