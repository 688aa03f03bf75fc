import { describe, expect, it } from 'vitest'
import { untilTrue } from '../../test/harness/until.ts'
import { WriteLater } from './write-later.ts'

/** Writes that end when they are told to. */
function openWriter(delay_ms = 1) {
  const faults: unknown[] = []
  const started: PromiseWithResolvers<void>[] = []
  const later = new WriteLater({
    delay_ms,
    write: () => {
      const writing = withResolvers()
      started.push(writing)
      return writing.promise
    },
    onFault: (error) => void faults.push(error),
  })
  return { later, started, faults }
}

type PromiseWithResolvers<T> = {
  promise: Promise<T>
  resolve(value: T): void
  reject(error: unknown): void
}

function withResolvers(): PromiseWithResolvers<void> {
  let resolve!: () => void
  let reject!: (error: unknown) => void
  const promise = new Promise<void>((one, other) => ([resolve, reject] = [one, other]))
  return { promise, resolve, reject }
}

describe('WriteLater', () => {
  it('writes once for all that is handed over meanwhile', async () => {
    const { later, started } = openWriter()
    for (let number = 0; number < 10; number++) later.soon()
    await untilTrue(() => started.length > 0)
    later.soon()
    started[0]!.resolve()
    await untilTrue(() => started.length === 2)
    started[1]!.resolve()
    const closed = later.close()
    await untilTrue(() => started.length === 3)
    started[2]!.resolve()
    await closed
  })

  it('has one write under way at a time', async () => {
    const { later, started } = openWriter()
    const [first, second] = [later.now(), later.now()]
    await untilTrue(() => started.length === 1)
    started[0]!.resolve()
    await first
    await untilTrue(() => started.length === 2)
    started[1]!.resolve()
    await second
  })

  it('tries again by itself after a fault, and says so', async () => {
    const { later, started, faults } = openWriter()
    later.soon()
    await untilTrue(() => started.length === 1)
    started[0]!.reject('away')
    await untilTrue(() => started.length === 2)
    expect(faults).toEqual(['away'])
    started[1]!.resolve()
  })

  it('tells whoever waits for a write that it failed, and tries again', async () => {
    const { later, started, faults } = openWriter()
    const asked = later.now()
    await untilTrue(() => started.length === 1)
    started[0]!.reject('away')
    await expect(asked).rejects.toBe('away')
    await untilTrue(() => started.length === 2)
    started[1]!.resolve()
    expect(faults).toEqual([])
  })

  it('writes a last time when it is closed, and never fails then', async () => {
    const { later, started, faults } = openWriter(60_000)
    later.soon()
    const closed = later.close()
    await untilTrue(() => started.length === 1)
    started[0]!.reject('away')
    await closed
    expect(faults).toEqual(['away'])
    later.soon()
    expect(started).toHaveLength(1)
  })
})
