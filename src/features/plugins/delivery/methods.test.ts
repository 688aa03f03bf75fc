import { describe, expect, it } from 'vitest'
import { waitAfter } from './methods.ts'

describe('waitAfter', () => {
  it('follows the rule of the function, and ends', () => {
    const waits = (method: 'onEvent' | 'composeWebhook' | 'exportEvents') =>
      [1, 2, 3, 4, 5, 6].map((attempt) => waitAfter(method, attempt, null, 0))
    expect(waits('composeWebhook')).toEqual([1_000, 5_000, 30_000, 120_000, 600_000, null])
    expect(waits('onEvent')).toEqual(waits('composeWebhook'))
    expect(waits('exportEvents')).toEqual([6_000, 12_000, 24_000, null, null, null])
  })

  it('is longer by chance, never shorter', () => {
    for (const chance of [0, 0.3, 0.999]) {
      const wait = waitAfter('composeWebhook', 2, null, chance)!
      expect(wait).toBeGreaterThanOrEqual(5_000)
      expect(wait).toBeLessThanOrEqual(6_000)
    }
    expect(waitAfter('composeWebhook', 2, null, 0.999)).toBeGreaterThan(5_900)
  })

  it('is as long as the other side asks, up to ten minutes and not below the rule', () => {
    expect(waitAfter('composeWebhook', 1, 42_000, 0)).toBe(42_000)
    expect(waitAfter('composeWebhook', 1, 86_400_000, 0)).toBe(600_000)
    expect(waitAfter('composeWebhook', 3, 2_000, 0)).toBe(30_000)
    expect(waitAfter('composeWebhook', 6, 2_000, 0)).toBe(null)
  })
})
