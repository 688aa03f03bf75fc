// The explorer of events as people use it: filters, time, columns, details, the live tail, and what is taken elsewhere.
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMember, createOrganization, type Workspace } from '../factories.ts'
import { startTestApp, type TestApp } from '../harness/app.ts'
import { openConsole, type Console } from './browser.ts'

const HOUR_MS = 3_600_000
const COUNT = 240
const HOSTILE = '<img src=x onerror="document.title=1">'

let app: TestApp
let browser: Console
let workspace: Workspace
let path: string
beforeAll(async () => {
  app = await startTestApp()
  browser = await openConsole(app)
  workspace = await createOrganization(app, { name: 'Harbour & Sons' })
  path = `/project/${workspace.project.id}/events`
  const now = Date.now()
  const events = Array.from({ length: COUNT }, (_, index) => ({
    event: index % 4 === 0 ? 'purchase' : '$pageview',
    distinct_id: `visitor ${index % 7}`,
    timestamp: new Date(now - 60_000 - index * (HOUR_MS / 4)).toISOString(),
    properties: {
      $browser: ['Safari', 'Chrome', 'Firefox'][index % 3],
      amount: index,
      'odd "name"': `value ${index}`,
      at: '2026-01-02',
      version: `1.${index % 5}.0`,
      ...(index === 0
        ? { $current_url: 'https://example.com/a', note: HOSTILE, bad_link: 'javascript:alert(1)' }
        : {}),
    },
  }))
  await send(...events)
  await app.definitions.flush()
})
afterAll(async () => {
  await browser.close()
  await app.close()
})

const send = async (...batch: object[]) => {
  const { status } = await app.post('/batch/', { api_key: workspace.project.api_token, batch })
  expect(status).toBe(200)
}
const owner = () => ({ session: workspace.owner.session, path })
const rows = (page: Page) => page.getByRole('table', { name: 'Events' }).getByRole('row')
const addressOf = (page: Page) => new URL(page.url()).searchParams
const fits = (page: Page) => page.evaluate('document.documentElement.scrollWidth <= innerWidth')
/** The page knows of the pointer by the next frame; an event that comes before is shown at once. */
const untilPointed = (page: Page) =>
  page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
const withFilters = (...filters: object[]) => `${path}?filters=${encodeURIComponent(JSON.stringify(filters))}`

async function choose(page: Page, field: string, typed: string, option: string | RegExp) {
  await page.getByRole('combobox', { name: field }).fill(typed)
  await page.getByRole('option', { name: option, exact: typeof option === 'string' }).click()
}

describe('the list', () => {
  it('is filtered by chips that read as a sentence, and its address says so', async () => {
    await browser.visit(owner(), async ({ page, audit }) => {
      await rows(page).nth(1).waitFor()
      await audit()
      await page.getByRole('button', { name: 'Add filter' }).click()
      await choose(page, 'Filter by', 'event', 'event')
      await page.getByRole('combobox', { name: 'Value' }).fill('purch')
      await page.getByRole('option', { name: 'purchase' }).click()
      await audit()
      await page.getByRole('button', { name: 'Apply filter' }).click()
      await page.getByRole('button', { name: 'Change filter: event is purchase' }).waitFor()

      await page.getByRole('button', { name: 'Add filter' }).click()
      await choose(page, 'Filter by', 'brow', '$browser')
      await page.getByRole('combobox', { name: 'Comparison' }).click()
      await page.getByRole('option', { name: 'is not', exact: true }).click()
      await page.getByRole('combobox', { name: 'Value' }).fill('Saf')
      await page.getByRole('option', { name: 'Safari' }).click()
      await page.getByRole('button', { name: 'Apply filter' }).click()
      const bar = page.getByRole('group', { name: 'Filters' })
      await expect
        .poll(() => bar.innerText().then((text) => text.replaceAll(/\s+/g, ' ')))
        .toMatch(/event is purchase.* and \$browser is not Safari/)

      await page.getByText('These are all 40 events.').waitFor()
      const shown = await rows(page).allInnerTexts()
      expect(shown.slice(1).every((row) => row.includes('purchase') && !row.includes('Safari'))).toBe(true)
      expect(JSON.parse(addressOf(page).get('filters')!)).toHaveLength(2)
      await page.reload()
      await page.getByText('These are all 40 events.').waitFor()
      await page.getByRole('button', { name: 'Remove filter: event is purchase' }).click()
      await page
        .getByRole('row', { name: /pageview/ })
        .first()
        .waitFor()
      await page.goBack()
      await page.getByText('These are all 40 events.').waitFor()
    })
  })

  it('goes on to the oldest event, by the keyboard too, within a chosen time', async () => {
    await browser.visit({ ...owner(), path: `${path}?after=-30d` }, async ({ page, audit }) => {
      await rows(page).nth(1).waitFor()
      const region = page.getByRole('region', { name: 'Events' })
      await expect
        .poll(async () => {
          await region.evaluate((element) => (element.scrollTop = element.scrollHeight))
          return page.getByText(`These are all ${COUNT} events.`).count()
        })
        .toBe(1)
      // Only those in sight are in the page.
      expect(await rows(page).count()).toBeLessThan(100)

      await page.getByRole('button', { name: /^Time range: Last 30 days/ }).click()
      await audit()
      await page.getByRole('button', { name: 'Last 24 hours' }).click()
      await page.getByText(/These are all 9[456] events/).waitFor()
      expect(addressOf(page).get('after')).toBe('-24h')

      await page.getByRole('button', { name: /^Time range/ }).click()
      await page.getByLabel('From', { exact: true }).fill('2020-01-01T10:00')
      await page.getByLabel('To', { exact: true }).fill('2020-01-01T09:00')
      await page.getByText('This is not after the start.').waitFor()
      await page.getByLabel('To', { exact: true }).fill('2020-01-02T09:00')
      await page.getByRole('button', { name: 'Apply range' }).click()
      await page.getByText('No event matches.').waitFor()
      expect([addressOf(page).get('after'), addressOf(page).get('before')]).toEqual([
        '2020-01-01T10:00:00.000Z',
        '2020-01-02T09:00:00.000Z',
      ])
      await audit()
      await page.getByRole('button', { name: 'Show all events' }).click()
      await rows(page).nth(1).focus()
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
    })
  })

  it('has the columns that somebody chose, and details with an address of their own', async () => {
    await browser.visit(owner(), async ({ page, audit }) => {
      await rows(page).nth(1).waitFor()
      await page.getByRole('button', { name: 'Columns' }).click()
      await page.getByLabel('Search properties').fill('amount')
      await page.getByRole('checkbox', { name: 'amount' }).check()
      await audit()
      await page.keyboard.press('Escape')
      await page.getByRole('columnheader', { name: 'amount' }).waitFor()
      expect(JSON.parse(addressOf(page).get('columns')!)).toContain('amount')

      await rows(page).nth(1).click()
      const drawer = page.getByRole('dialog')
      await drawer.getByText(HOSTILE).waitFor()
      expect(await page.title()).toBe('Events · Longshore')
      expect(await drawer.getByRole('link', { name: 'https://example.com/a' }).getAttribute('rel')).toBe(
        'noopener noreferrer',
      )
      expect(await drawer.getByRole('link', { name: /javascript/ }).count()).toBe(0)
      await drawer.getByRole('link', { name: 'visitor 0' }).waitFor()
      await audit()
      const address = page.url()
      await page.goto(address)
      await drawer.getByText(HOSTILE).waitFor()
      await drawer.getByRole('button', { name: 'Filter by $browser' }).click()
      await page.getByRole('button', { name: 'Change filter: $browser is Safari' }).waitFor()
      await page.goBack()
      await drawer.getByText(HOSTILE).waitFor()
      // Columns are kept for the next visit.
      await page.goto(path)
      await page.getByRole('columnheader', { name: 'amount' }).waitFor()
    })
  })

  it('an event that is not there, and a filter that the server refuses, say so', async () => {
    const missing = `${path}?open=0190163d-8694-739b-aea5-966c26f8ad91`
    await browser.visit({ ...owner(), path: missing }, async ({ page, expectProblem, audit }) => {
      expectProblem(/404/)
      expectProblem(/400/)
      await page.getByRole('dialog').getByText('The event could not be shown.').waitFor()
      await audit()
      await page.goto(withFilters({ key: 'amount', operator: 'gt', value: ['much'] }))
      const alert = page.getByRole('alert')
      await alert.getByText('The events could not be listed.').waitFor()
      await alert.getByText(/must be a date or a time/).waitFor()
      await page.getByRole('button', { name: 'Change filter: amount is above much' }).waitFor()
    })
  })
})

describe('taken elsewhere', () => {
  it('as a file with the chosen columns or all of them, and as a statement that finds the same', async () => {
    const columns = encodeURIComponent(JSON.stringify(['amount', 'odd "name"']))
    const filtered = `${withFilters({ key: '$browser', operator: 'exact', value: ['Chrome'] })}&columns=${columns}`
    await browser.visit({ ...owner(), path: filtered }, async ({ page }) => {
      await rows(page).nth(1).waitFor()
      const download = async (item: string) => {
        await page.getByRole('button', { name: 'Download' }).click()
        const [file] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('menuitem', { name: item }).click(),
        ])
        expect(file.suggestedFilename()).toMatch(/^events-\d{4}-\d\d-\d\d\.csv$/)
        return (await readFile(await file.path(), 'utf8')).trimEnd().split('\r\n')
      }
      const chosen = await download('Download chosen columns')
      expect(chosen).toHaveLength(1 + COUNT / 3)
      expect(chosen[0]).toMatch(/^timestamp,event,distinct_id,properties\.amount,/)
      expect(chosen[1]).toContain('value 1')
      const whole = await download('Download all properties')
      expect(whole[0]).toContain('properties.$browser')
      expect(whole).toHaveLength(1 + COUNT / 3)

      await page.getByRole('button', { name: 'Open as SQL' }).click()
      await page.waitForURL('**/sql?q=**')
      const query = addressOf(page).get('q')!
      const { body } = await app.post(
        `/api/projects/${workspace.project.id}/query/`,
        { query: { kind: 'HogQLQuery', query } },
        { key: workspace.owner.key },
      )
      expect(body.results).toHaveLength(COUNT / 3)
      expect(body.results[0].at(-1)).toBe('value 1')
    })
  })
})

describe('live', () => {
  it('new events come on top, wait while somebody points at the list, and when it is paused', async () => {
    const live = `${withFilters({ type: 'event_metadata', key: 'event', operator: 'is_not', value: ['not this'] })}&live=true`
    await browser.visit({ ...owner(), path: live }, async ({ page, audit }) => {
      await page.getByText('live', { exact: true }).waitFor()
      await page.mouse.move(5, 5)
      await send({ event: 'not this', distinct_id: 'x' }, { event: 'first of all', distinct_id: 'x' })
      await page.getByRole('row', { name: /first of all/ }).waitFor()
      expect(await page.getByRole('row', { name: /not this/ }).count()).toBe(0)

      await rows(page).nth(3).hover()
      await untilPointed(page)
      await send({ event: 'while pointing', distinct_id: 'x' })
      await page.getByRole('button', { name: 'Show 1 new event' }).waitFor()
      expect(await page.getByRole('row', { name: /while pointing/ }).count()).toBe(0)
      await audit()
      await page.mouse.move(5, 5)
      await page.getByRole('row', { name: /while pointing/ }).waitFor()

      await page.getByRole('button', { name: 'Pause' }).click()
      await page.mouse.move(5, 5)
      await send({ event: 'while paused', distinct_id: 'x' })
      await page.getByRole('button', { name: 'Show 1 new event' }).waitFor()
      await page.getByRole('button', { name: 'Resume' }).click()
      await page.getByRole('row', { name: /while paused/ }).waitFor()
      await page.getByRole('switch', { name: 'Live' }).uncheck()
      expect(addressOf(page).has('live')).toBe(false)
    })
  })

  it('an event that the list has already does not wait', async () => {
    const url = `/api/projects/${workspace.project.id}/events/?limit=1`
    const [listed] = (await app.get(url, { key: workspace.owner.key })).body.results
    const fresh = { ...listed, id: randomUUID(), event: 'came live' }
    const messages = [listed, fresh].map((event) => `event: event\ndata: ${JSON.stringify(event)}\n\n`)
    await browser.visit({ ...owner(), path }, async ({ page }) => {
      await page.route('**/events/stream/**', (route) =>
        route.fulfill({ contentType: 'text/event-stream', body: `retry: 600000\n\n${messages.join('')}` }),
      )
      await rows(page).nth(3).hover()
      await untilPointed(page)
      await page.getByRole('switch', { name: 'Live' }).press('Space')
      await page.getByRole('button', { name: 'Show 1 new event' }).click()
      await page.getByRole('row', { name: /came live/ }).waitFor()
    })
  })
})

describe('others', () => {
  it('a member sees the same on a phone, and nothing is cut off', async () => {
    const member = await createMember(app, workspace.organization)
    await browser.visit({ session: member.session, path, width: 360 }, async ({ page, audit }) => {
      await rows(page).nth(1).waitFor()
      expect(await fits(page)).toBe(true)
      await audit()
      await page.getByRole('button', { name: 'Add filter' }).click()
      await page.getByRole('combobox', { name: 'Filter by' }).waitFor()
      expect(await fits(page)).toBe(true)
      await page.keyboard.press('Escape')
      await page.keyboard.press('Escape')
      await rows(page).nth(1).click()
      await page.getByRole('dialog').getByText('Distinct id').waitFor()
      expect(await fits(page)).toBe(true)
    })
  })

  it('an empty project leads to the first event', async () => {
    const empty = await createOrganization(app)
    await browser.visit(
      { session: empty.owner.session, path: `/project/${empty.project.id}/events` },
      async ({ page, audit }) => {
        await page.getByText('No events yet.').waitFor()
        // The browser fetched them while the program was on its way, and nobody asks for them again.
        for (const first of ['/api/users/%40me/', `/api/projects/${empty.project.id}/`])
          expect(await fetched(page, first)).toEqual(['link'])
        await audit()
        await page.getByRole('link', { name: 'Send the first event' }).click()
        await page.getByRole('heading', { name: 'Get started' }).waitFor()
      },
    )
  })
})

/** What asked for it, each time. */
function fetched(page: Page, path: string): Promise<string[]> {
  return page.evaluate(`performance.getEntriesByType('resource')
    .filter(({ name }) => new URL(name).pathname === ${JSON.stringify(path)})
    .map(({ initiatorType }) => initiatorType)`)
}
