// The published PostHog clients, unchanged, against the program: everything they send is listed, each event once. One
// server and one browser for all versions.
import { PostHog } from 'posthog-node'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { IS_LONG } from '../harness/long.ts'
import { NODE_VERSIONS, packageOf, runNodeClient } from './clients/node.ts'
import { PAGES } from './clients/pages.ts'
import { buildProgram, type Program } from './program.ts'
import { openBrowser, openWebSite, type Browser, type WebSite } from './web-site.ts'

const KEY = `phx_${'realclients'.repeat(4)}`
/** Each look at the events costs a query. */
const PATIENCE = { timeout: 60_000, interval: 500 }

type Listed = {
  id: string
  event: string
  distinct_id: string
  properties: Record<string, unknown>
  person: { properties: Record<string, unknown> } | null
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
async function listAll(filter = ''): Promise<Listed[]> {
  const all: Listed[] = []
  for (let next: string | null = `/api/projects/@current/events/?limit=997&${filter}`; next !== null;) {
    const page: Record<string, unknown> = await ask(next)
    all.push(...(page.results as Listed[]))
    next = page.next as string | null
  }
  return all
}

describe('posthog-node', () => {
  it('first and last version of each line: events, identify, alias, group and flags', async () => {
    const said = (['error', 'warn'] as const).map((name) =>
      vi.spyOn(console, name).mockImplementation(() => undefined),
    )
    try {
      for (const version of NODE_VERSIONS) {
        const { failures, flag, flags } = await runNodeClient(version, { url, token, key: KEY })
        expect([version, failures]).toEqual([version, []])
        expect([version, flag ?? false]).toEqual([version, false])
        expect([version, flags ?? {}]).toEqual([version, {}])
      }
      const lines = said.flatMap(({ mock }) => mock.calls.map(String))
      expect(lines.filter((line) => !line.includes('is deprecated'))).toEqual([])
    } finally {
      for (const spy of said) spy.mockRestore()
    }
    // The first line is done before its first request is, and has no groups; later ones tell of flags they were asked for.
    const sent = NODE_VERSIONS.length * 4 - 1
    let listed: Listed[] = []
    const count = async () => {
      listed = (await listAll()).filter(({ event }) => event !== '$feature_flag_called')
      return listed.length
    }
    await expect.poll(count, PATIENCE).toBe(sent)
    for (const version of NODE_VERSIONS) {
      const own = listed.filter(({ distinct_id }) => distinct_id === `node-${version}`)
      const named = (name: string) => own.find(({ event }) => event === name)!
      expect(named('node event').properties, version).toMatchObject({
        version,
        nested: { list: [1, 'ü'] },
        $lib: 'posthog-node',
        $lib_version: expectedVersion(version),
      })
      expect(named('$identify').person?.properties, version).toMatchObject({
        email: `${version}@example.com`,
      })
      expect(named('$create_alias').properties, version).toMatchObject({ alias: `alias-${version}` })
      const group = listed.find(({ properties }) => properties.$group_key === `company-${version}`)
      expect(group?.event, version).toBe(version === '1.0.0' ? undefined : '$groupidentify')
    }
  }, 120_000)

  const COUNT = IS_LONG ? 10_000 : 1_500
  it(`sends ${COUNT} events; all are listed, each once`, async () => {
    const client = new PostHog(token, { host: url, flushAt: 100, maxQueueSize: 20_000 })
    const failures: unknown[] = []
    client.on('error', (error: unknown) => failures.push(error))
    for (let number = 0; number < COUNT; number++) {
      client.capture({ distinctId: `counted-${number % 500}`, event: 'counted', properties: { number } })
    }
    await client.shutdown()
    expect(failures).toEqual([])
    const listed = await listAll('event=counted')
    expect(new Set(listed.map(({ id }) => id)).size).toBe(COUNT)
    const numbers = listed.map(({ properties }) => Number(properties.number)).sort((a, b) => a - b)
    expect(numbers).toEqual(Array.from({ length: COUNT }, (_, number) => number))
  }, 120_000)
})

function expectedVersion(version: (typeof NODE_VERSIONS)[number]): unknown {
  return version.startsWith('newest')
    ? expect.stringMatching(/^5\.\d+\.\d+$/)
    : packageOf(version).split('-')[2]
}

describe('posthog-js in Chromium', () => {
  let site: WebSite
  let browser: Browser

  beforeAll(async () => {
    site = await openWebSite((path) => PAGES[path.split(/[/?]/)[1]!]?.({ url, token }) ?? '')
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    site?.close()
  })

  const eventsOf = async (name: string) =>
    (await listAll('after=-1h')).filter(({ properties }) => properties.page === name)

  it.each([
    ['snippet', ['$autocapture', '$exception', '$identify', '$pageview', '$web_vitals', 'order completed']],
    ['npm', ['$autocapture', '$exception', '$identify', '$pageview', '$web_vitals', 'order completed']],
    ['1.0.0', ['$autocapture', '$identify', '$pageview', 'order completed']],
  ])(
    '%s: everything is stored, once, with a clean console',
    async (name, expected) => {
      const names = async () => [...new Set((await eventsOf(name)).map(({ event }) => event))].toSorted()
      const asked: string[] = []
      const problems = await browser.visit(async (page) => {
        page.on('request', (request) => void asked.push(request.url().replace(url, '')))
        await page.goto(`${site.url}/${name}?utm_source=newsletter`)
        // It has asked for its settings, and for the parts that they switch on.
        await page.waitForFunction('window.posthog && window.posthog.__loaded')
        await page.waitForLoadState('networkidle')
        await page.click('#buy')
        await page.evaluate(`setTimeout(() => { throw new Error('boom in ${name}') })`)
        await page.evaluate(`posthog.identify('visitor-of-${name}', { email: 'visitor@example.com' })`)
        // The first version takes no properties there.
        if (name === '1.0.0') await page.evaluate(`posthog.people.set({ email: 'visitor@example.com' })`)
        await page.evaluate(`posthog.capture('order completed')`)
        await expect.poll(names, PATIENCE).toEqual(expect.arrayContaining(expected))
      })
      expect(problems).toEqual([expect.stringContaining(`boom in ${name}`)])
      const events = await eventsOf(name)
      for (const once of ['$pageview', '$identify', 'order completed'])
        expect([once, events.filter(({ event }) => event === once).length]).toEqual([once, 1])
      await checkEvents(name, events)
      if (name === 'snippet') expect(asked).toContain('/static/array.js')
      if (name !== '1.0.0')
        expect(asked).toContainEqual(expect.stringMatching(/^\/static\/.*exception-autocapture\.js/))
    },
    180_000,
  )

  type Person = { distinct_ids: string[]; properties: Record<string, unknown> }

  async function identified(name: string): Promise<Person> {
    let person: Person | undefined
    const look = async () => {
      const people = await ask(`/api/projects/@current/persons/?distinct_id=visitor-of-${name}`)
      person = (people.results as Person[])[0]
      return person?.properties.email
    }
    await expect.poll(look, PATIENCE).toBe('visitor@example.com')
    return person!
  }

  async function checkEvents(name: string, events: readonly Listed[]): Promise<void> {
    const first = (event: string) => events.find((each) => each.event === event)
    expect(first('$pageview')!.properties).toMatchObject({
      $current_url: `${site.url}/${name}?utm_source=newsletter`,
      utm_source: 'newsletter',
    })
    expect(first('$autocapture')!.elements[0]).toMatchObject({
      tag_name: 'button',
      attr_id: 'buy',
      attr_class: ['big', 'red'],
      text: 'Buy now',
    })
    const person = await identified(name)
    // The visitor from before the sign-in and the user are one person.
    expect(person.distinct_ids).toContain(first('$pageview')!.distinct_id)
    if (name === '1.0.0') return
    expect(first('$exception')!.properties).toMatchObject({
      $exception_list: [{ type: 'Error', value: `boom in ${name}` }],
    })
    const vitals = events.filter(({ event }) => event === '$web_vitals').map(({ properties }) => properties)
    expect(Object.assign({}, ...vitals)).toMatchObject({
      $web_vitals_FCP_value: expect.any(Number) as number,
    })
  }
})
