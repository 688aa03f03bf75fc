// From navigation to a list that can be used, beside a bare page that fetches the same answers and writes the same rows
// into a table. Both in one browser, turn by turn: the machine is the same for both.
import type { BrowserContext, Page } from 'playwright-core'
import { EXPORTS, type ServedConsole } from './served-console.ts'

const TURNS = 15
const MOST_TIMES = 1.5
const PATIENCE_MS = 60_000
const BARE = '/bare'
const ROW = '[aria-rowindex="2"]'
const LISTS = [
  { name: 'events', path: '/events', answer: /\/events\/\?/, rows: (count: number) => count >= 50 },
  { name: 'exports', path: '/exports', answer: /\/status\//, rows: (count: number) => count === EXPORTS },
] as const

type Call = { url: string; method: string; body: string | null }

/** False when a list takes longer than it may. */
export async function printLoading(served: ServedConsole): Promise<boolean> {
  let isMet = true
  for (const list of LISTS) {
    const context = await served.enterWithProfile()
    const bare = await served.enterWithProfile()
    try {
      const url = served.project + list.path
      // With nothing in the browser's cache.
      const cold = await timeOf(context, url, ROW)
      const calls = await callsOf(context, url)
      const index = calls.findIndex(({ url }) => list.answer.test(url))
      const page = barePage(calls, index)
      const turns: { console: number; bare: number }[] = []
      for (let turn = 0; turn < TURNS; turn++)
        turns.push({
          console: await timeOf(context, url, ROW),
          bare: await timeOf(bare, `${served.url}${BARE}`, 'tr', { page, holds: list.rows }),
        })
      const ratio = median(turns.map((turn) => turn.console / turn.bare))
      isMet &&= ratio <= MOST_TIMES
      console.log(
        `${list.name}: usable after ${median(turns.map((turn) => turn.console)).toFixed(0)} ms, bare page ` +
          `${median(turns.map((turn) => turn.bare)).toFixed(0)} ms: ${ratio.toFixed(2)} times; goal: at most ${MOST_TIMES}: ` +
          `${ratio <= MOST_TIMES ? 'met' : 'NOT met'} (${calls.length} answers; the very first visit took ${cold.toFixed(0)} ms)`,
      )
    } finally {
      await context.close()
      await bare.close()
    }
  }
  return isMet
}

/** What a page asks for until its list is there. A first visit takes so long that it would also ask what may wait. */
async function callsOf(context: BrowserContext, url: string): Promise<Call[]> {
  const calls: Call[] = []
  context.on('request', (request) => {
    if (/\/api\//.test(request.url()) && !/\/stream\//.test(request.url()))
      calls.push({ url: request.url(), method: request.method(), body: request.postData() })
  })
  await timeOf(context, url, ROW)
  context.removeAllListeners('request')
  return calls
}

type Given = { page: string; holds: (rows: number) => boolean }

/** @param given in place of what the server would answer, and how many rows it has to show */
async function timeOf(
  context: BrowserContext,
  url: string,
  selector: string,
  given?: Given,
): Promise<number> {
  const page = await context.newPage()
  if (given) await serveInPlace(page, given.page)
  await page.addInitScript(watchFor(selector))
  await page.goto(url, { waitUntil: 'commit' })
  const ms = await usableAt(page)
  const rows = await page.locator(selector).count()
  if (given && !given.holds(rows)) throw new Error(`${url} shows ${rows} rows`)
  await page.close()
  return ms
}

/** This one request alone passes through here. `page.route` would hold up all of them, and switch the cache off. */
async function serveInPlace(page: Page, html: string): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  devtools.on('Fetch.requestPaused', ({ requestId }) => {
    const body = Buffer.from(html).toString('base64')
    const responseHeaders = [{ name: 'content-type', value: 'text/html' }]
    void devtools.send('Fetch.fulfillRequest', { requestId, responseCode: 200, responseHeaders, body })
  })
  await devtools.send('Fetch.enable', { patterns: [{ urlPattern: `*${BARE}` }] })
}

/** Noted in the frame after the one that has it. */
const watchFor = (selector: string) => `(() => {
  const look = () => requestAnimationFrame(() => {
    if (document.querySelector(${JSON.stringify(selector)})) requestAnimationFrame(() => (globalThis.usableAt = performance.now()))
    else look()
  })
  look()
})()`

async function usableAt(page: Page): Promise<number> {
  const until = Date.now() + PATIENCE_MS
  while (Date.now() < until) {
    const at = (await page.evaluate('globalThis.usableAt ?? 0')) as number
    if (at > 0) return at
  }
  throw new Error(`${page.url()} did not become usable`)
}

const barePage = (
  calls: readonly Call[],
  index: number,
) => `<!doctype html><title>Bare</title><table></table><script>
Promise.all(${JSON.stringify(calls)}.map(async ({ url, method, body }) => {
  const answer = await fetch(url, { method, body, headers: body === null ? {} : { 'content-type': 'application/json' } })
  if (!answer.ok) throw new Error(url + ' answered ' + answer.status)
  return answer.json()
})).then((answers) => {
  for (const row of answers[${index}].results) {
    const line = document.createElement('tr')
    for (const value of Object.values(row).slice(0, 6)) {
      const cell = document.createElement('td')
      cell.textContent = typeof value === 'object' ? JSON.stringify(value) : String(value)
      line.append(cell)
    }
    document.querySelector('table').append(line)
  }
})
</script>`

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}
