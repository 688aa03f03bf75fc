// A web site with posthog-js on its pages, and the browser that visits it.
import { createServer, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { chromium, type Page } from 'playwright-core'

const CHROMIUM = '/usr/bin/chromium'
const LIBRARY = new URL('../../node_modules/posthog-js/dist/array.full.js', import.meta.url)

export type WebSite = { url: string; close(): void }

/** `pageAt` gives the HTML of a path; `/posthog.js` is the library. */
export async function openWebSite(pageAt: (path: string) => string): Promise<WebSite> {
  const answer = async (path: string, response: ServerResponse) => {
    if (path !== '/posthog.js') response.setHeader('content-type', 'text/html').end(pageAt(path))
    else response.setHeader('content-type', 'text/javascript').end(await readFile(LIBRARY))
  }
  const site = createServer((request, response) => void answer(request.url ?? '/', response))
  site.listen(0, '127.0.0.1')
  await once(site, 'listening')
  return {
    url: `http://127.0.0.1:${(site.address() as AddressInfo).port}`,
    close: () => void site.close(),
  }
}

/** What went wrong in the page meanwhile, in the browser's own words. */
export async function inBrowser(work: (page: Page) => Promise<void>): Promise<string[]> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  const problems: string[] = []
  try {
    const page = await browser.newPage()
    page.on('console', (line) => void (line.type() === 'error' && problems.push(line.text())))
    page.on('pageerror', (error) => void problems.push(String(error)))
    page.on('response', (answer) => {
      if (answer.status() >= 400) problems.push(`${answer.status()} ${answer.url()}`)
    })
    await work(page)
  } finally {
    await browser.close()
  }
  return problems.filter((problem) => !problem.includes('favicon'))
}
