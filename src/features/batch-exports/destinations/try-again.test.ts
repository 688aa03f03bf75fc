// How often, and after which pauses, what fails in passing is tried again.
import { expect, test } from 'vitest'
import { Passing, Refused } from './destination.ts'
import { tryAgain } from './try-again.ts'

function script(...errors: Error[]) {
  const pauses: number[] = []
  let calls = 0
  return {
    pauses,
    calls: () => calls,
    work: async () => {
      const error = errors[(calls += 1) - 1]
      if (error) throw error
      return 'done'
    },
    pause: async (ms: number) => void pauses.push(ms),
  }
}

const never = new AbortController().signal
const passing = () => new Passing('later')

test('five tries, the second at once', async () => {
  const { work, pause, pauses, calls } = script(...Array.from({ length: 9 }, passing))
  await expect(tryAgain(never, work, pause)).rejects.toThrow('later')
  expect(calls()).toBe(5)
  expect(pauses).toEqual([0, 2_000, 8_000, 18_000])
})

test('ends with the first success, and waits as long as it was told', async () => {
  const { work, pause, pauses } = script(passing(), new Passing('later', 700))
  expect(await tryAgain(never, work, pause)).toBe('done')
  expect(pauses).toEqual([0, 700])
})

test('what is refused, and what is stopped, is not tried again', async () => {
  const refused = script(new Refused('no'))
  await expect(tryAgain(never, refused.work, refused.pause)).rejects.toThrow(Refused)
  expect(refused.calls()).toBe(1)
  const controller = new AbortController()
  const stopped = script(passing(), passing())
  const pause = async () => controller.abort(new Error('stopped'))
  await expect(tryAgain(controller.signal, stopped.work, pause)).rejects.toThrow('stopped')
  expect(stopped.calls()).toBe(1)
})
