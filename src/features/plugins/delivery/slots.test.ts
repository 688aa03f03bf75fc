import { expect, it } from 'vitest'
import { Slots } from './slots.ts'

/** Work that goes on until it is told to end. */
function crowd(slots: Slots, begun: string[]) {
  const ends: (() => void)[] = []
  const come = (party: string) =>
    slots.within(party, () => {
      begun.push(party)
      return new Promise<void>((resolve) => ends.push(resolve))
    })
  return { come, endNext: () => ends.shift()!() }
}

it('one party has its share and no more, and what it leaves is there for others', async () => {
  const begun: string[] = []
  const { come, endNext } = crowd(new Slots(4, 2), begun)
  const all = ['a', 'a', 'a', 'b', 'c', 'c'].map(come)
  expect(begun).toEqual(['a', 'a', 'b', 'c'])
  // The first party has its two again; only then is the next one's turn.
  for (const expected of [5, 6, 6, 6, 6, 6]) {
    endNext()
    await expect.poll(() => begun.length).toBe(expected)
  }
  await Promise.all(all)
  expect(begun).toEqual(['a', 'a', 'b', 'c', 'a', 'c'])
})

it('keeps what is beyond a share waiting although there is room', async () => {
  const begun: string[] = []
  const { come, endNext } = crowd(new Slots(4, 2), begun)
  const all = ['a', 'a', 'a'].map(come)
  expect(begun).toEqual(['a', 'a'])
  all.push(come('b'))
  expect(begun).toEqual(['a', 'a', 'b'])
  for (let n = 0; n < 4; n++) {
    endNext()
    await expect.poll(() => begun.length).toBe(4)
  }
  await Promise.all(all)
  expect(begun).toEqual(['a', 'a', 'b', 'a'])
})

it('parties that wait have their turns one after the other', async () => {
  const begun: string[] = []
  const { come, endNext } = crowd(new Slots(1, 1), begun)
  const all = ['a', 'a', 'a', 'b', 'c'].map(come)
  for (const expected of [2, 3, 4, 5, 5]) {
    endNext()
    await expect.poll(() => begun.length).toBe(expected)
  }
  await Promise.all(all)
  expect(begun).toEqual(['a', 'a', 'b', 'c', 'a'])
})
