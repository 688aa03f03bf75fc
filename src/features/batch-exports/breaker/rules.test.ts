import { expect, it } from 'vitest'
import { pauseMs } from './rules.ts'

it.each([
  [5, 30],
  [6, 60],
  [7, 120],
  [8, 240],
  [9, 300],
  [1000, 300],
])('after %i failures in a row the destination is left alone for %i s', (failures, seconds) => {
  expect(pauseMs(failures)).toBe(seconds * 1000)
})
