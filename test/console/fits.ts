import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** Nothing of the page lies beyond the edge of the window. */
export async function fits(page: Page): Promise<void> {
  const [needed, there] = (await page.evaluate('[document.documentElement.scrollWidth, innerWidth]')) as [
    number,
    number,
  ]
  expect(needed, `width of ${page.url()}`).toBeLessThanOrEqual(there)
}
