// A site app from its author to the visitor: written through the API, loaded by the published posthog-js, run by a browser.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildProgram, type Program } from './program.ts'
import { inBrowser, openWebSite, type WebSite } from './web-site.ts'

const KEY = `phx_${'siteapps'.repeat(5)}`
const SECRET = 'never-on-a-page-5d1f'
const INTERNAL = 'of-no-concern-to-pages-77ab'
const GREETING = `Hello </script><b>"you"</b> \u2028`

const SITE_TS = `
  interface Given { config: Record<string, unknown>; posthog: { capture(name: string, properties: object): void } }

  export function inject({ config, posthog }: Given): void {
    const banner: HTMLElement = document.createElement('div')
    banner.id = 'banner'
    banner.textContent = String(config.greeting)
    document.body.appendChild(banner)
    posthog.capture('site app ran', { settings: config })
  }
`

let program: Program
let url: string
let token: string
let site: WebSite

beforeAll(async () => {
  program = await buildProgram()
  const server = program.serve({ DATA_DIR: program.newDataDir(), BOOTSTRAP_API_KEY: KEY, RATE_LIMITS: 'off' })
  url = await server.url
  token = String((await ask('GET', '/api/projects/@current/')).api_token)
  site = await openWebSite(
    (path) => `<!doctype html><title>Shop</title><body>
      <script src="/posthog-js/dist/array.full.js"></script>
      <script>
        posthog.init(${JSON.stringify(token)}, { api_host: ${JSON.stringify(url)}, opt_out_useragent_filter: true,
          disable_surveys: true, opt_in_site_apps: ${path === '/opted-in'}, debug: ${path === '/opted-out'} })
      </script>`,
  )
  await addSiteApp()
})
afterAll(async () => {
  site?.close()
  await program?.remove()
})

async function ask(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  expect(response.ok, `${method} ${path}: ${response.status}`).toBe(true)
  return (await response.json()) as Record<string, unknown>
}

async function addSiteApp(): Promise<void> {
  const plugins = '/api/organizations/@current/plugins/'
  const plugin = await ask('POST', plugins, {
    name: 'Banner',
    config_schema: [
      { key: 'greeting', type: 'string', site: true },
      { key: 'colour', type: 'string', site: true, default: 'red' },
      { key: 'internal', type: 'string' },
      { key: 'api_key', type: 'string', secret: true },
    ],
  })
  await ask('PATCH', `${plugins}${String(plugin.id)}/update_source/`, { 'site.ts': SITE_TS })
  await ask('POST', '/api/projects/@current/plugin_configs/', {
    plugin: plugin.id,
    enabled: true,
    config: { greeting: GREETING, internal: INTERNAL, api_key: SECRET },
  })
}

const eventsNamed = async (name: string) =>
  (await ask('GET', `/api/projects/@current/events/?event=${encodeURIComponent(name)}`)).results as {
    properties: Record<string, unknown>
  }[]

/** Everything the page was sent. */
function collectAnswers(page: Page): Promise<string>[] {
  const answers: Promise<string>[] = []
  // Preflights and redirects have no body.
  page.on('response', (answer) => void answers.push(answer.text().catch(() => '')))
  return answers
}

it('runs in a page that opted in, with the settings meant for pages and nothing else', async () => {
  let shown = ''
  const problems = await inBrowser(async (page) => {
    const answers = collectAnswers(page)
    await page.goto(`${site.url}/opted-in`)
    await page.waitForSelector('#banner')
    expect(await page.textContent('#banner')).toBe(GREETING)
    await expect.poll(() => eventsNamed('site app ran')).toHaveLength(1)
    shown = [await page.content(), ...(await Promise.all(answers))].join('\n')
  })
  expect(problems).toEqual([])
  const [ran] = await eventsNamed('site app ran')
  expect(ran!.properties.settings).toEqual({ greeting: GREETING, colour: 'red' })
  expect(shown).toContain('.inject({config:')
  expect(shown).not.toContain(SECRET)
  expect(shown).not.toContain(INTERNAL)
}, 90_000)

it('does not run in a page that did not', async () => {
  const asked: string[] = []
  const problems = await inBrowser(async (page) => {
    page.on('request', (request) => void asked.push(request.url()))
    // With `debug` the library says so once it has seen the list.
    const refused = page.waitForEvent('console', {
      predicate: (line) => line.text().includes('site apps are disabled'),
    })
    await page.goto(`${site.url}/opted-out`)
    await refused
    expect(await page.$('#banner')).toBeNull()
  })
  expect(problems).toEqual([expect.stringContaining('opt_in_site_apps')])
  expect(asked.filter((address) => address.includes('/site_app/'))).toEqual([])
  expect(await eventsNamed('site app ran')).toHaveLength(1)
}, 90_000)
