// Somebody with a browser who signs in through a provider on another site: the application under the name it goes by, the
// provider under an address.
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import type { TestApp } from '../harness/app.ts'
import { launchChromium } from '../harness/chromium.ts'

export type Visitor = {
  /** In a browser of their own, which knows nothing yet. */
  visit<T>(work: (page: Page) => Promise<T>): Promise<T>
  close(): Promise<void>
}

export async function openVisitor(app: TestApp): Promise<Visitor> {
  await app.http.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.http.server.address() as AddressInfo
  const { hostname } = new URL(app.services.settings.site_url)
  const browser = await launchChromium({ [hostname]: `127.0.0.1:${port}` })
  return {
    async visit(work) {
      const context = await browser.newContext()
      context.setDefaultTimeout(30_000)
      try {
        return await work(await context.newPage())
      } finally {
        await context.close()
      }
    },
    close: () => browser.close(),
  }
}

/** The page's text as JSON, for addresses of the API that a browser was sent to. */
export async function jsonOf(page: Page): Promise<Record<string, unknown>> {
  return JSON.parse((await page.textContent('body')) ?? '')
}
