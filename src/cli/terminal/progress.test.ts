import { expect, test } from 'vitest'
import { timeLeft } from './progress.ts'

test.each([
  [0, 0, ''],
  [0, 60_000, ''],
  [NaN, 1_000, ''],
  [Infinity, 1_000, ''],
  [1, 1_000, ''],
  [0.5, 10_000, '10 s left'],
  [0.001, 10_000, '3 h left'],
  [0.1, 60_000, '9 min left'],
  [0.999, 1_000, '1 s left'],
])('%s done after %s ms: %s', (share, elapsed_ms, expected) => {
  expect(timeLeft(share, elapsed_ms)).toBe(expected)
})
