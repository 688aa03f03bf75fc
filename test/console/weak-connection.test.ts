// Pages on a server that is slow, gone for a while, broken, or of an older version.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../factories.ts'
import { startTestApp, type TestApp } from '../harness/app.ts'
import { openConsole, openConsoleAt, type Console } from './browser.ts'
import { openWeakServer, type WeakServer } from './weak-server.ts'

let app: TestApp
let strong: Console
let weak: WeakServer
let browser: Console
let home: Workspace
let empty: Workspace
beforeAll(async () => {
  app = await startTestApp()
  strong = await openConsole(app)
  weak = await openWeakServer(strong.url)
  browser = await openConsoleAt(weak.url)
  home = await createOrganization(app, { name: 'Harbour & Sons' })
  empty = await createOrganization(app)
  await send('opened')
})
afterAll(async () => {
  await browser.close()
  weak.close()
  await strong.close()
  await app.close()
})

const LOST = 'The server does not answer. This page goes on by itself when it does.'
const UNREACHABLE = /ERR_(EMPTY_RESPONSE|CONNECTION|INTERNET|INCOMPLETE|SOCKET|FAILED|NETWORK)/

const send = (event: string) =>
  app.post('/batch/', {
    api_key: home.project.api_token,
    batch: [{ event, distinct_id: 'ada', properties: { $set: { email: 'ada@example.com' } } }],
  })
const of = ({ project }: Workspace, path: string) => `/project/${project.id}/${path}`
const asOwner = (workspace: Workspace, path: string) => ({
  session: workspace.owner.session,
  path: of(workspace, path),
})

describe('an address', () => {
  it('is asked for with everything on its page at once, before it is known who came', async () => {
    let release = () => {}
    const after = new Promise<void>((resolve) => (release = resolve))
    weak.weaken((called) => (called.startsWith('/api/users/') ? { after } : null))
    const before = weak.calls.length
    await browser.visit(asOwner(home, 'events'), async ({ page }) => {
      const asked = () => weak.calls.slice(before).map((call) => call.replace(/\?.*/, ''))
      const { id } = home.project
      await expect
        .poll(asked)
        .toEqual(
          expect.arrayContaining([
            'GET /api/users/%40me/',
            `GET /api/projects/${id}/`,
            `GET /api/projects/${id}/events/`,
          ]),
        )
      release()
      await page.getByRole('table', { name: 'Events' }).waitFor()
      // Nothing is asked for twice.
      expect(asked().filter((call) => call.endsWith('/events/'))).toHaveLength(1)
    })
    weak.weaken(null)
  })
})

describe('a server that is gone for a while', () => {
  it('is said to be; the page goes on by itself, with what happened meanwhile, and is live again', async () => {
    await browser.visit(asOwner(home, 'overview'), async ({ page, audit, expectProblem }) => {
      const kinds = page.getByRole('list', { name: 'Kinds of events' })
      await kinds.getByText('opened').waitFor()
      await page.getByText('live', { exact: true }).waitFor()
      expectProblem(UNREACHABLE)
      weak.vanish()
      await page.getByText('every 5 seconds').waitFor()
      await page.getByText(LOST).waitFor()
      await audit()
      // What was there is still there.
      await kinds.getByText('opened').waitFor()
      await send('while away')
      weak.comeBack()
      await page.getByText(LOST).waitFor({ state: 'detached' })
      await kinds.getByText('while away').waitFor()
      await page.getByText('live', { exact: true }).waitFor()
      await send('afterwards')
      await kinds.getByText('afterwards').waitFor()
    })
  })

  it('a browser without a network says so at once, keeps what was typed, and finds it when it is back', async () => {
    await browser.visit(asOwner(home, 'persons'), async ({ page, expectProblem }) => {
      await page.getByRole('row', { name: 'Open ada@example.com' }).waitFor()
      expectProblem(UNREACHABLE)
      await page.context().setOffline(true)
      await page.getByText(LOST).waitFor()
      await page.getByLabel('Search people').fill('ada')
      await page.getByText('The people could not be listed.').waitFor()
      await page.context().setOffline(false)
      await page.getByText(LOST).waitFor({ state: 'detached' })
      await page.getByRole('row', { name: 'Open ada@example.com' }).waitFor()
      expect(await page.getByLabel('Search people').inputValue()).toBe('ada')
    })
  })
})

describe('a slow network', () => {
  it('leads to the row that was opened right after typing', async () => {
    await browser.visit(asOwner(home, 'persons'), async ({ page }) => {
      const row = page.getByRole('row', { name: 'Open ada@example.com' })
      await row.waitFor()
      weak.weaken((path) => (path.endsWith('.js') ? { delay_ms: 1_000 } : null))
      await page.getByLabel('Search people').fill('ada')
      await row.click()
      await page.getByRole('heading', { name: 'ada@example.com' }).waitFor()
      expect(new URL(page.url()).pathname).toMatch(/\/persons\/[0-9a-f-]+$/)
      weak.weaken(null)
    })
  })

  it('shows what is coming, and does once what was asked for twice', async () => {
    weak.weaken((path) => (path.startsWith('/api/') ? { delay_ms: 1_500 } : null))
    const path = `/organization/${home.organization.id}/invites`
    await browser.visit({ session: home.owner.session, path }, async ({ page }) => {
      await page.getByRole('status', { name: 'Loading' }).first().waitFor()
      await page.getByText('No invite is waiting.').waitFor()
      await page.getByRole('button', { name: 'Invite people' }).click()
      await page.getByLabel('E-mail addresses').fill('ann@example.com')
      await page.evaluate(`(() => {
        const button = [...document.querySelectorAll('button')].find((one) => one.textContent === 'Create invite')
        button.click(); button.click(); button.form?.requestSubmit?.(button)
      })()`)
      await page.getByText('The link of ann@example.com is shown once.').waitFor()
    })
    await browser.visit(asOwner(empty, 'get-started'), async ({ page }) => {
      await page.getByRole('button', { name: 'Fill it with sample data' }).dblclick()
      await page.getByText('The first event is here').waitFor()
    })
    weak.weaken(null)
    const posts = weak.calls.filter((call) => /^POST .*(invites|sample_data)/.test(call))
    expect(posts.map((call) => call.replace(/.*\/(?=invites|sample)/, ''))).toEqual([
      expect.stringMatching(/^invites/),
      'sample_data/',
    ])
    const { body } = await app.get(`/api/organizations/${home.organization.id}/invites/`, {
      key: home.owner.key,
    })
    expect(body.results).toHaveLength(1)
  })
})

// Each part of a page that asks for something, what it says, and what it shows when that is mended.
const PARTS = [
  ['overview', /\/query\//, 'The events could not be counted.', 'in the last hour'],
  ['overview', /\/batch_exports\/status/, 'The exports could not be listed.', 'No exports yet'],
  ['overview', /\/plugin_configs\//, 'The state of exports and apps could not be read.', 'Nothing needs'],
  ['persons', /\/persons\//, 'The people could not be listed.', 'ada@example.com'],
  ['get-started', /\/events\/\?/, 'The events could not be looked at.', 'Events are coming in'],
] as const

describe('a server that breaks', () => {
  it.each(PARTS)('%s, %s: 500 is said with its request and tried again by a click', async (...part) => {
    const [path, asked, words, mended] = part
    weak.weaken((called) => (asked.test(called) ? { status: 500 } : null))
    await browser.visit(asOwner(home, path), async ({ page, audit, expectProblem }) => {
      expectProblem(/500/)
      const alert = page.getByRole('alert').filter({ hasText: words })
      await alert.getByText('weak-1').waitFor()
      await audit()
      weak.weaken(null)
      await alert.getByRole('button', { name: 'Try again' }).click()
      await page.getByText(mended).first().waitFor()
    })
  })

  it('503 passes without a click', async () => {
    weak.weaken((called) => (called.startsWith('/api/projects/') ? { status: 503 } : null))
    await browser.visit(asOwner(home, 'persons'), async ({ page, expectProblem }) => {
      expectProblem(/503|It broke/)
      await page.getByText('Trying again every few seconds.').waitFor()
      weak.weaken(null)
      await page.getByRole('row', { name: 'Open ada@example.com' }).waitFor()
    })
  })

  it('answers of another version are said to be, and the page comes by itself when they fit', async () => {
    weak.weaken((called) => (/\/persons\//.test(called) ? { change: ({ count }) => ({ count }) } : null))
    await browser.visit(asOwner(home, 'persons'), async ({ page, audit, expectProblem }) => {
      expectProblem(/.*/)
      await page.getByText('it may be of another version').waitFor()
      await audit()
      weak.weaken(null)
      await page.getByRole('row', { name: 'Open ada@example.com' }).waitFor()
    })
  })
})
