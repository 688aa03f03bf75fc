// The console in Chromium, on the whole application with real stores. Any message in the browser's console, failed
// request or refusal of the page's policy that a test did not announce fails it.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { TestApp } from '../harness/app.ts'
import { launchChromium } from '../harness/chromium.ts'
import { IS_LONG } from '../harness/long.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const WIDE = { width: 1280, height: 800 }

export type Visit = {
  page: Page
  /** Lets the next problems whose text matches pass: a refusal that the test is about. */
  expectProblem(pattern: RegExp): void
  /** Fails on what axe finds in the page as it is; in the long run in both themes, with their contrast. */
  audit(): Promise<void>
}

export type Console = {
  url: string
  /** As a visitor of their own, signed in when a session is given. */
  visit(options: VisitOptions, work: (visit: Visit) => Promise<void>): Promise<void>
  close(): Promise<void>
}

type VisitOptions = { session?: string; path?: string; width?: number }

/** On an application that listens already, or is made to listen here. */
export async function openConsole(app: Pick<TestApp, 'http'>): Promise<Console> {
  await app.http.listen({ host: '127.0.0.1', port: 0 })
  return openConsoleAt(`http://127.0.0.1:${(app.http.server.address() as AddressInfo).port}`)
}

/** Under the name that the application goes by, which providers on other sites send browsers back to. */
export async function openConsoleByName(app: Pick<TestApp, 'http' | 'services'>): Promise<Console> {
  await app.http.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.http.server.address() as AddressInfo
  const { site_url } = app.services.settings
  return openConsoleAt(site_url, 1, { [new URL(site_url).hostname]: `127.0.0.1:${port}` })
}

/** The console of a server that runs already; `scale` is the size of its pictures. */
export async function openConsoleAt(
  url: string,
  scale = 1,
  hosts: Record<string, string> = {},
): Promise<Console> {
  const browser = await launchChromium(hosts)
  return {
    url,
    visit: (options, work) => visit(browser, url, scale, options, work),
    close: () => browser.close(),
  }
}

async function visit(
  browser: Browser,
  url: string,
  scale: number,
  { session, path = '/', width }: VisitOptions,
  work: (visit: Visit) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext({
    baseURL: url,
    viewport: width === undefined ? WIDE : { width, height: WIDE.height },
    deviceScaleFactor: scale,
    reducedMotion: 'reduce',
    timezoneId: 'UTC',
    locale: 'en-GB',
    // Providers on other sites have certificates that the test made.
    ignoreHTTPSErrors: true,
  })
  context.setDefaultTimeout(60_000)
  try {
    if (session !== undefined) await context.addCookies([{ name: 'sessionid', value: session, url }])
    const problems = watch(context)
    const expected: RegExp[] = []
    const page = await context.newPage()
    await page.goto(path)
    try {
      await work({
        page,
        expectProblem: (pattern) => void expected.push(pattern),
        audit: () => audit(page),
      })
    } catch (error) {
      // What the browser said is often the reason.
      throw problems.length === 0
        ? error
        : new Error(`${String(error)}\n${problems.join('\n')}`, { cause: error })
    }
    expect(problems.filter((problem) => !expected.some((pattern) => pattern.test(problem)))).toEqual([])
  } finally {
    await context.close()
  }
}

function watch(context: BrowserContext): string[] {
  const problems: string[] = []
  context.on('console', (line) => void problems.push(`${line.type()}: ${line.text()} ${line.location().url}`))
  context.on('weberror', (error) => void problems.push(String(error.error())))
  context.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? ''
    // What a page no longer wants is cut off when one leaves it.
    if (reason !== 'net::ERR_ABORTED') problems.push(`${reason} ${request.method()} ${request.url()}`)
  })
  return problems
}

/** Nothing of the page is cut off at its side. */
export async function fits(page: Page): Promise<void> {
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
}

type Finding = { id: string; help: string; nodes: { html: string }[] }

async function audit(page: Page): Promise<void> {
  // Contrast takes most of the time and differs between the themes; web/src/ui/theme.test.ts holds the colours as well.
  const rules = { 'color-contrast': { enabled: IS_LONG } }
  const options = JSON.stringify({ resultTypes: ['violations'], rules })
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE)
  for (const colorScheme of IS_LONG ? (['light', 'dark'] as const) : (['light'] as const)) {
    await page.emulateMedia({ colorScheme })
    const found = (await page.evaluate(
      `axe.run(document, ${options}).then(({ violations }) => violations)`,
    )) as Finding[]
    const told = found.map(
      ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' … ')}`,
    )
    expect(told, `axe, ${colorScheme}`).toEqual([])
  }
  await page.emulateMedia({ colorScheme: 'light' })
}
