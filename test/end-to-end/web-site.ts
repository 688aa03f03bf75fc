// A web site with posthog-js on its pages, and the browser that visits it.
import { createServer, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { launchChromium } from '../harness/chromium.ts'

const PACKAGES = new URL('../../node_modules/', import.meta.url)
const LIBRARY = /^\/(posthog-js[\d.-]*\/dist\/[\w.-]+\.m?js)$/

export type WebSite = { url: string; close(): void }

/** `pageAt` gives the HTML of a path; `/posthog-js/dist/…` are files of the installed library, of any version. */
export async function openWebSite(pageAt: (path: string) => string): Promise<WebSite> {
  const answer = async (path: string, response: ServerResponse) => {
    const file = LIBRARY.exec(path)?.[1]
    if (path === '/favicon.ico') response.statusCode = 204
    response.setHeader('content-type', file === undefined ? 'text/html' : 'text/javascript')
    response.end(file === undefined ? pageAt(path) : await readFile(new URL(file, PACKAGES)))
  }
  const site = createServer((request, response) => void answer(request.url ?? '/', response))
  site.listen(0, '127.0.0.1')
  await once(site, 'listening')
  return {
    url: `http://127.0.0.1:${(site.address() as AddressInfo).port}`,
    close: () => void site.close(),
  }
}

export type Browser = {
  /** As a visitor of its own. Tells what went wrong in the page meanwhile, in the browser's own words. */
  visit(work: (page: Page) => Promise<void>): Promise<string[]>
  close(): Promise<void>
}

export async function openBrowser(): Promise<Browser> {
  const browser = await launchChromium()
  return {
    async visit(work) {
      const problems: string[] = []
      const context = await browser.newContext()
      try {
        const page = await context.newPage()
        page.on('console', (line) => void (line.type() === 'error' && problems.push(line.text())))
        page.on('pageerror', (error) => void problems.push(String(error)))
        page.on('response', (answer) => {
          if (answer.status() >= 400) problems.push(`${answer.status()} ${answer.url()}`)
        })
        await work(page)
      } finally {
        await context.close()
      }
      return problems
    },
    close: () => browser.close(),
  }
}

/** For a single visit. */
export async function inBrowser(work: (page: Page) => Promise<void>): Promise<string[]> {
  const browser = await openBrowser()
  try {
    return await browser.visit(work)
  } finally {
    await browser.close()
  }
}
