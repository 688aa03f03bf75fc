import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Line } from './line.ts'

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

const evenOrNull = (number: number) => (number % 2 === 0 ? number : null)

/** A line that writes down how large its batches were, and gives null for odd numbers. */
function watchedLine(takes_ms: number) {
  const sizes: number[] = []
  const line = new Line<number, number | null>(async (batch) => {
    sizes.push(batch.length)
    if (takes_ms > 0) await sleep(takes_ms)
    return batch.map(evenOrNull)
  })
  return { line, sizes }
}

it('batches grow where apps are fast, up to 1,500', async () => {
  const { line, sizes } = watchedLine(0)
  expect(await line.add(numbers(10_000))).toEqual(numbers(10_000).map(evenOrNull))
  expect(sizes[0]).toBe(100)
  expect(Math.max(...sizes)).toBe(1_500)
  expect(sizes.reduce((sum, size) => sum + size)).toBe(10_000)
})

it('stay at a hundred where a hundred take longer than anybody should wait', async () => {
  const { line, sizes } = watchedLine(200)
  await line.add(numbers(350))
  expect(sizes).toEqual([100, 100, 100, 50])
})

it('each request gets its own events, in order, though batches hold those of several', async () => {
  const { line, sizes } = watchedLine(0)
  const kept = await Promise.all([
    line.add([0, 1, 2]),
    line.add([]),
    line.add(numbers(120)),
    line.add([7, 8]),
  ])
  expect(kept).toEqual([[0, null, 2], [], numbers(120).map(evenOrNull), [null, 8]])
  expect(sizes[0]).toBe(100)
})
