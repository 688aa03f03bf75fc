// One attempt seen from outside, with a clock that the test moves.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  Passing,
  type Delivery,
  type DeliveryContext,
  type Destination,
} from '../destinations/destination.ts'
import { stillOurs } from '../destinations/fixture/still-ours.ts'
import type { OutputFile } from '../formats/encoding.ts'
import { Watch } from './watch.ts'

const MINUTE_MS = 60_000
const START = new Date('2026-03-01T10:00:00Z')
const context = {} as DeliveryContext

/** A destination each of whose calls ends when the test says so. */
function watched() {
  let elapsed_ms = 0
  let answer = (_error?: Error) => {}
  const call = () =>
    new Promise<void>((resolve, reject) => {
      answer = (error) => (error ? reject(error) : resolve())
    })
  const delivery: Delivery = {
    write: call,
    names: () => ['a'],
    finish: (confirm) =>
      call()
        .then(() => confirm([]))
        .then(() => ({ rows: 0, files: [] })),
    abort: call,
  }
  const destination = { open: () => call().then(() => delivery) } as unknown as Destination
  let waits = 0
  const watch = new Watch({
    elapsed_ms: () => elapsed_ms,
    now: () => new Date(START.getTime() + elapsed_ms),
    onWaiting: () => (waits += 1),
  })
  return {
    watch,
    waits: () => waits,
    destination: watch.over(destination),
    answer: (error?: Error) => answer(error),
    pass: (ms: number) => void (elapsed_ms += ms),
    async open() {
      const opened = this.destination.open(context)
      answer()
      return opened
    },
  }
}

const file = (bytes: number) => ({ bytes }) as OutputFile

describe('a run waits', () => {
  it('once its destination has taken half a second to answer, until it answers', async () => {
    const { watch, destination, answer, pass } = watched()
    expect(watch.waitingSince()).toBeNull()
    pass(MINUTE_MS)
    const opening = destination.open(context)
    pass(499)
    expect(watch.waitingSince()).toBeNull()
    pass(1)
    expect(watch.waitingSince()).toEqual(new Date(START.getTime() + MINUTE_MS))
    answer()
    const delivery = await opening
    pass(MINUTE_MS)
    expect(watch.waitingSince()).toBeNull()
    expect(delivery.names!()).toEqual(['a'])
  })

  it.each(['write', 'finish', 'abort'] as const)('also in %s, and not after a failure', async (part) => {
    const { watch, answer, pass, ...rest } = watched()
    const delivery = await rest.open()
    const call = (part === 'write' ? delivery.write(file(1)) : delivery[part](stillOurs)).catch(
      () => undefined,
    )
    pass(500)
    expect(watch.waitingSince()).toEqual(START)
    answer(new Error('lost'))
    await call
    expect(watch.waitingSince()).toBeNull()
  })
})

it('the delivery is told how to ask whether the run is still ours', async () => {
  const { answer, ...rest } = watched()
  const delivery = await rest.open()
  const finished = delivery.finish(() => Promise.reject(new Error('taken over')))
  answer()
  await expect(finished).rejects.toThrow('taken over')
})

describe('whoever wants its place', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('is told once it waits, and not of answers that come soon', async () => {
    const { waits, answer, ...rest } = watched()
    const delivery = await rest.open()
    const soon = delivery.write(file(1))
    await vi.advanceTimersByTimeAsync(499)
    answer()
    await soon
    await vi.advanceTimersByTimeAsync(1_000)
    expect(waits()).toBe(0)
    const late = delivery.finish(stillOurs)
    await vi.advanceTimersByTimeAsync(510)
    expect(waits()).toBe(1)
    answer()
    await late
  })
})

describe('a destination is silent for too long', () => {
  it.each([
    ['open', 15],
    // 15 minutes, and 12 more for 45 MiB.
    ['write', 27],
    ['finish', 180],
  ] as const)('in %s', async (part, minutes) => {
    const { watch, answer, pass, ...rest } = watched()
    const delivery = part === 'open' ? null : await rest.open()
    const call =
      part === 'open'
        ? rest.destination.open(context)
        : part === 'write'
          ? delivery!.write(file(45 * 1024 * 1024))
          : delivery!.finish(stillOurs)
    pass(minutes * MINUTE_MS - 1)
    expect(watch.silence()).toBeNull()
    pass(1)
    expect(watch.silence()).toBeInstanceOf(Passing)
    expect(watch.silence()!.message).toContain(`did not answer for ${minutes} minutes`)
    answer()
    await call
    expect(watch.silence()).toBeNull()
  })
})
