// When an attempt that failed is made again.
import { expect, it } from 'vitest'
import { Passing } from '../destinations/destination.ts'
import { askedMs, classifyFailure, delayMs } from './classify-failure.ts'

it.each([
  ['the first failure', 0, null, 1_000],
  ['the tenth', 9, null, 120_000],
  ['a destination that asks for less', 9, 5_000, 120_000],
  ['one that asks for ten minutes', 0, 600_000, 600_000],
  ['one that asks for a day', 0, 86_400_000, 3_600_000],
])('after %s', (_what, failures, asked_ms, delay_ms) => {
  const verdict = classifyFailure(new Passing('busy', asked_ms))
  expect(delayMs(failures, askedMs(verdict), 1)).toBe(delay_ms)
})
