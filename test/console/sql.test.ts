// The SQL page: from a question to a table, a chart, a file and a link, and back.
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { StoreBusy } from '../../src/platform/event-store/event-store.ts'
import { createMember, createOrganization, type Workspace } from '../factories.ts'
import { startTestApp, type TestApp } from '../harness/app.ts'
import { openConsole, type Console } from './browser.ts'

const ATTACK = '<img src=x onerror=alert(1)>'
const BY_NAME = 'select event, count() as events from events group by event order by events desc, event'
const BY_DAY = `select toDate(timestamp) as day, event, count() as events
from events
group by day, event
order by day`
const NUMBERS =
  "select number, concat('row ', toString(number)) as name from (select arrayJoin(range(0, 10000)) as number) order by number limit 10000"
const PART = '(select arrayJoin(range(0, 9000)) as n)'
/** Works until somebody stops it. */
const ENDLESS = `select count() from ${PART} a cross join ${PART} b cross join ${PART} c`

let app: TestApp
let browser: Console
let home: Workspace
let path: string
beforeAll(async () => {
  app = await startTestApp()
  browser = await openConsole(app)
  home = await createOrganization(app)
  path = `/project/${home.project.id}/sql`
  const names = ['order paid', 'order paid', 'order paid', 'sign up', ATTACK]
  const batch = names.map((event, at) => ({
    event,
    distinct_id: `user-${at}`,
    timestamp: new Date(app.services.now().getTime() - (at + 1) * 86_400_000).toISOString(),
    properties: { plan: 'free', 'odd name': at, $browser: 'Chrome' },
  }))
  await app.post('/batch/', { api_key: home.project.api_token, batch })
})
afterAll(async () => {
  await browser.close()
  await app.close()
})

const asking = (query: string, rest = '') => `${path}?q=${encodeURIComponent(query)}${rest}`
const editor = (page: Page) => page.getByRole('textbox', { name: 'Query' })
const facts = (page: Page, text: string | RegExp) => page.getByText(text).waitFor()
const bar = (page: Page, name: string) => page.getByRole('rowheader', { name, exact: true })

async function type(page: Page, text: string): Promise<void> {
  await editor(page).click()
  await page.keyboard.press('ControlOrMeta+A')
  await page.keyboard.type(text)
}

describe('a question', () => {
  it('goes from an example to a chart, stays in the address, and comes back', async () => {
    await browser.visit({ session: home.owner.session, path }, async ({ page, audit }) => {
      let asked = 0
      page.on('request', (request) => (asked += request.url().endsWith('/query/') ? 1 : 0))
      await editor(page).waitFor()
      await audit()
      await page
        .getByRole('listitem')
        .getByRole('button', { name: /^Events by name/ })
        .click()
      await bar(page, 'order paid').waitFor()
      // What strangers sent is text.
      await bar(page, ATTACK).waitFor()
      expect(new URL(page.url()).searchParams.get('q')).toMatch(
        /^select event, count\(\) as events\nfrom events/,
      )
      await audit()
      await page.getByText('Table', { exact: true }).click()
      await page.getByRole('cell', { name: 'order paid' }).waitFor()
      await page.reload()
      await page.getByRole('cell', { name: 'order paid' }).waitFor()
      expect(new URL(page.url()).searchParams.get('view')).toBe('table')

      await page.getByRole('button', { name: 'Examples' }).click()
      await page.getByRole('menuitem', { name: 'Events a day, by name' }).click()
      await page.locator('canvas').waitFor()
      // For those who do not see the lines.
      await page
        .getByRole('figure', { name: 'order paid' })
        .getByRole('columnheader', { name: 'sign up' })
        .waitFor()
      await page.getByText('Bars', { exact: true }).click()
      await page.locator('[data-chart=stacked]').waitFor()
      await audit()
      const before = asked
      await page.goBack()
      await page.getByRole('cell', { name: 'order paid' }).waitFor()
      expect(await editor(page).textContent()).toContain('order by events desc')
      expect(asked).toBe(before)
    })
  })

  it('is completed, told what is wrong with it and where, and run by the keyboard', async () => {
    const member = await createMember(app, home.organization)
    await browser.visit({ session: member.session, path }, async ({ page, audit, expectProblem }) => {
      expectProblem(/400 .*\/query\/$/)
      await type(page, 'select properties.odd')
      const offered = page.getByRole('listbox').getByRole('option')
      await offered.filter({ hasText: 'odd name' }).waitFor()
      await audit()
      await page.keyboard.press('Enter')
      await page.keyboard.type(" as odd, evnt from events where event = 'order p")
      await offered.filter({ hasText: 'order paid' }).waitFor()
      // The quotes were closed by the editor.
      await page.keyboard.type("aid' order by odd")
      const underlined = page.locator('.cm-lintRange-error')
      await underlined.waitFor()
      await expect.poll(() => underlined.allTextContents()).toEqual(['evnt'])
      await page.keyboard.press('Control+Enter')
      await page.getByRole('heading', { name: 'The query was not run' }).waitFor()
      await audit()
      await page.getByRole('button', { name: 'Use event' }).click()
      await page.getByRole('button', { name: 'Run query' }).click()
      await facts(page, /^3 rows/)
      expect(await page.getByRole('cell').allTextContents()).toEqual([
        '0',
        'order paid',
        '1',
        'order paid',
        '2',
        'order paid',
      ])
      expect(await underlined.count()).toBe(0)
      expect(new URL(page.url()).searchParams.get('q')).toBe(
        "select properties.`odd name` as odd, event from events where event = 'order paid' order by odd",
      )

      // What is offered does not lie over the answer.
      await type(page, 'select distinct_i')
      await offered.filter({ hasText: 'distinct_id' }).first().waitFor()
      await page.keyboard.press('Control+Enter')
      await offered.first().waitFor({ state: 'detached' })
    })
  })

  it('that was typed and not run survives a reload; Tab leaves the editor after Escape', async () => {
    await browser.visit(
      { session: home.owner.session, path: asking('select 1 as one') },
      async ({ page }) => {
        await page.getByRole('term').getByText('one').waitFor()
        await type(page, 'select 2')
        await facts(page, /of the query before your changes/)
        await page.reload()
        await expect.poll(() => editor(page).textContent()).toBe('select 2')
        await editor(page).click()
        await page.keyboard.press('Escape')
        await page.keyboard.press('Tab')
        await page
          .getByRole('separator', { name: 'Height of the editor' })
          .and(page.locator(':focus'))
          .waitFor()
        expect(await editor(page).textContent()).toBe('select 2')
      },
    )
  })

  it('of any length has an address', async () => {
    const long = `select '${'ü'.repeat(3_000)}' as text`
    await browser.visit({ session: home.owner.session, path }, async ({ page }) => {
      await editor(page).click()
      await page.keyboard.insertText(long)
      await page.keyboard.press('Control+Enter')
      await facts(page, /^1 row/)
      expect(new URL(page.url()).search).toBe('')
      await page.reload()
      await facts(page, /^1 row/)
      await page.getByRole('cell', { name: 'üüü' }).waitFor()
    })
  })

  it('can be cancelled, and the server stops working on it', async () => {
    const { eventStore } = app.services
    const ends: unknown[] = []
    app.services.eventStore = {
      ...eventStore,
      query(query, signal) {
        const answer = eventStore.query(query, signal)
        answer.catch((error: unknown) => ends.push(error))
        return answer
      },
    }
    await browser.visit({ session: home.owner.session, path: asking(ENDLESS) }, async ({ page, audit }) => {
      await page.getByRole('status', { name: 'The query is running' }).waitFor()
      await page.getByRole('button', { name: 'Cancel query' }).click()
      await page.getByRole('heading', { name: 'The query was cancelled' }).waitFor()
      await expect.poll(() => ends).toMatchObject([{ code: 'client_gone' }])
      await audit()
    })
    app.services.eventStore = eventStore
  })

  it('that the server has no time for is asked again by itself', async () => {
    const { eventStore } = app.services
    let isBusy = true
    app.services.eventStore = {
      ...eventStore,
      query: async (query, signal) => {
        if (isBusy) throw new StoreBusy('too many queries are waiting')
        return eventStore.query(query, signal)
      },
    }
    await browser.visit(
      { session: home.owner.session, path: asking(BY_NAME) },
      async ({ page, audit, expectProblem }) => {
        expectProblem(/503 .*\/query\/$/)
        await page.getByRole('heading', { name: 'The query failed' }).waitFor()
        await audit()
        isBusy = false
        await bar(page, 'order paid').waitFor()
      },
    )
    app.services.eventStore = eventStore
  })
})

describe('an answer', () => {
  it('of ten thousand rows scrolls, opens row by row, and is saved', async () => {
    await browser.visit({ session: home.owner.session, path: asking(NUMBERS) }, async ({ page, audit }) => {
      await facts(page, /^10,000 rows/)
      const rows = page.getByRole('table').getByRole('row')
      expect(await rows.count()).toBeLessThan(80)
      const region = page.getByRole('region', { name: 'Result' })
      await region.evaluate((element) => element.scrollTo({ top: element.scrollHeight }))
      const last = rows.filter({ hasText: 'row 9999' })
      await last.focus()
      await page.keyboard.press('Enter')
      await page.getByRole('dialog', { name: 'Row 10000' }).getByText('row 9999').waitFor()
      expect(new URL(page.url()).searchParams.get('row')).toBe('9999')
      await audit()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await last.waitFor()

      const csv = await saved(page, 'Download CSV')
      expect(csv.split('\r\n').slice(0, 2).concat(csv.split('\r\n').slice(-2))).toEqual([
        'number,name',
        '0,row 0',
        '9999,row 9999',
        '',
      ])
      const json = JSON.parse(await saved(page, 'Download JSON')) as unknown[]
      expect([json.length, json[1]]).toEqual([10_000, { number: 1, name: 'row 1' }])
    })
  })

  it('shares the page with the editor as one likes, with keys and by dragging', async () => {
    await browser.visit({ session: home.owner.session, path: asking(BY_DAY) }, async ({ page }) => {
      const divider = page.getByRole('separator', { name: 'Height of the editor' })
      await page.locator('canvas').waitFor()
      const height = () => divider.getAttribute('aria-valuenow').then(Number)
      expect(await height()).toBe(38)
      await divider.focus()
      await page.keyboard.press('ArrowDown')
      expect(await height()).toBe(42)
      const box = (await divider.boundingBox())!
      await page.mouse.move(box.x + 200, box.y)
      await page.mouse.down()
      await page.mouse.move(box.x + 200, box.y - 150, { steps: 4 })
      await page.mouse.up()
      const dragged = await height()
      expect(dragged).toBeLessThan(30)
      await page.reload()
      await page.locator('canvas').waitFor()
      expect(await height()).toBe(dragged)
    })
  })

  it('fits a narrow screen', async () => {
    await browser.visit(
      { session: home.owner.session, path: asking(BY_DAY), width: 360 },
      async ({ page, audit }) => {
        await page.locator('canvas').waitFor()
        const isCut = () => page.evaluate('document.documentElement.scrollWidth > innerWidth')
        expect(await isCut()).toBe(false)
        await page.getByText('Table', { exact: true }).click()
        await page.getByRole('cell', { name: 'order paid' }).first().waitFor()
        expect(await isCut()).toBe(false)
        await audit()
      },
    )
  })

  it('without rows says so', async () => {
    await browser.visit(
      { session: home.owner.session, path: asking('select event from events where 1 = 0') },
      async ({ page }) => {
        await page.getByRole('heading', { name: 'No rows' }).waitFor()
      },
    )
  })
})

it('the history keeps what was run, finds it, runs it again and forgets it', async () => {
  await browser.visit(
    { session: home.owner.session, path: `${path}?panel=history` },
    async ({ page, audit }) => {
      const panel = page.getByRole('dialog', { name: 'History' })
      await panel.getByRole('heading', { name: 'No queries yet' }).waitFor()
      await page.keyboard.press('Escape')
      for (const query of ['select 41 as answer', BY_NAME]) {
        await type(page, '')
        await page.keyboard.press('Delete')
        await page.keyboard.insertText(query)
        await page.keyboard.press('Control+Enter')
        await page.waitForURL(`**?q=**`)
        await page.getByText(/^\d rows? ·/).waitFor()
      }
      await page.getByRole('button', { name: 'History' }).click()
      expect(await panel.getByRole('listitem').count()).toBe(2)
      await audit()
      await panel.getByLabel('Find in the history').fill('answer')
      await panel.getByRole('button', { name: /select 41/ }).click()
      await page.getByRole('term').getByText('answer').waitFor()
      await panel.waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'History' }).click()
      await panel.getByRole('button', { name: 'Clear history' }).click()
      const question = page.getByRole('dialog', { name: 'Clear the history' })
      await question.getByText('All 2 queries').waitFor()
      await audit()
      await question.getByRole('button', { name: 'Clear history' }).click()
      await panel.getByRole('heading', { name: 'No queries yet' }).waitFor()
    },
  )
})

async function saved(page: Page, button: string): Promise<string> {
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: button }).click(),
  ])
  return readFile(await file.path(), 'utf8')
}
