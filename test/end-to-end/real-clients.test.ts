// The published PostHog clients, unchanged, against the program: everything they send is listed, each event once.
import { PostHog } from 'posthog-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildProgram, type Program } from './program.ts'
import { inBrowser, openWebSite, type WebSite } from './web-site.ts'

const KEY = `phx_${'realclients'.repeat(4)}`

type Listed = {
  id: string
  event: string
  distinct_id: string
  properties: Record<string, unknown>
  person: unknown
  elements: unknown[]
}

let program: Program
let url: string
let token: string

beforeAll(async () => {
  program = await buildProgram()
  const server = program.serve({ DATA_DIR: program.newDataDir(), BOOTSTRAP_API_KEY: KEY, RATE_LIMITS: 'off' })
  url = await server.url
  token = String((await ask('/api/projects/@current/')).api_token)
})
afterAll(() => program?.remove())

async function ask(path: string): Promise<Record<string, unknown>> {
  const address = path.startsWith('http') ? path : `${url}${path}`
  const response = await fetch(address, { headers: { authorization: `Bearer ${KEY}` } })
  expect(response.status, path).toBe(200)
  return (await response.json()) as Record<string, unknown>
}

/** Follows `next` to its end. */
async function listAll(filter: string): Promise<Listed[]> {
  const all: Listed[] = []
  for (let next: string | null = `/api/projects/@current/events/?limit=997&${filter}`; next !== null;) {
    const page: Record<string, unknown> = await ask(next)
    all.push(...(page.results as Listed[]))
    next = page.next as string | null
  }
  return all
}

async function comes(filter: string, times = 1): Promise<void> {
  await expect.poll(async () => (await listAll(filter)).length, { timeout: 20_000 }).toBe(times)
}

describe('posthog-node', () => {
  it('sends 10,000 events; all are listed, each once', async () => {
    const client = new PostHog(token, { host: url, flushAt: 100, maxQueueSize: 20_000 })
    const failures: unknown[] = []
    client.on('error', (error: unknown) => failures.push(error))
    for (let number = 0; number < 10_000; number++) {
      client.capture({ distinctId: `node-${number % 500}`, event: 'counted', properties: { number } })
    }
    client.identify({ distinctId: 'node-1', properties: { email: 'one@example.com' } })
    await client.shutdown()
    expect(failures).toEqual([])
    const listed = await listAll('event=counted')
    expect(listed).toHaveLength(10_000)
    expect(new Set(listed.map(({ id }) => id)).size).toBe(10_000)
    const numbers = listed.map(({ properties }) => Number(properties.number)).sort((a, b) => a - b)
    expect(numbers).toEqual(Array.from({ length: 10_000 }, (_, number) => number))
    const [one] = await listAll('event=%24identify&distinct_id=node-1')
    expect(one!.person).toMatchObject({ properties: { email: 'one@example.com' } })
  }, 120_000)
})

describe('posthog-js in Chromium', () => {
  let site: WebSite

  beforeAll(async () => {
    site = await openWebSite(
      () => `<!doctype html><title>Shop</title>
      <button id="buy" class="big red">Buy now</button>
      <script src="/posthog.js"></script>
      <script>
        // Otherwise the library takes a browser that is driven for a robot, whose visits do not count.
        posthog.init(${JSON.stringify(token)}, { api_host: ${JSON.stringify(url)}, ui_host: ${JSON.stringify(url)},
          capture_pageview: true, opt_out_useragent_filter: true, person_profiles: 'always', request_batching: true, disable_surveys: true })
      </script>`,
    )
  })
  afterAll(() => site?.close())

  it('sends pageviews, an autocaptured click and an identify; all are listed, each once', async () => {
    const problems = await inBrowser(async (page) => {
      await page.goto(`${site.url}/first?utm_source=newsletter`)
      // Pageviews and identifies travel by themselves, packed in the background: a page left at once would lose them.
      await comes('event=%24pageview')
      await page.click('#buy')
      await page.goto(`${site.url}/second`)
      await comes('event=%24pageview', 2)
      await page.evaluate(`posthog.identify('browser-user', { email: 'browser@example.com' })`)
      await comes('event=%24identify&distinct_id=browser-user')
      await page.evaluate(`posthog.capture('order completed')`)
      // Leaving the page sends what is still waiting, as a beacon.
      await page.goto('about:blank')
      await comes('event=order%20completed')
    })
    expect(problems).toEqual([])
    const pageviews = await listAll('event=%24pageview')
    expect(pageviews.map(({ properties }) => String(properties.$pathname)).toSorted()).toEqual([
      '/first',
      '/second',
    ])
    const [identified] = await listAll('event=%24identify&distinct_id=browser-user')
    expect(identified!.person).toMatchObject({
      is_identified: true,
      properties: { email: 'browser@example.com' },
    })
    const [click] = await listAll('event=%24autocapture')
    expect(click!.elements).toMatchObject([
      { tag_name: 'button', attr_id: 'buy', attr_class: ['big', 'red'], text: 'Buy now' },
      { tag_name: 'body' },
    ])
    // The visitor from before the sign-in and the user are one person.
    const people = await ask(`/api/projects/@current/persons/?distinct_id=browser-user`)
    const [person] = people.results as { distinct_ids: string[]; properties: Record<string, unknown> }[]
    expect(person!.distinct_ids).toEqual(expect.arrayContaining(['browser-user', pageviews[0]!.distinct_id]))
    expect(person!.properties).toMatchObject({ $initial_utm_source: 'newsletter' })
  }, 90_000)
})
