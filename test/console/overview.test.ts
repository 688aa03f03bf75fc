// From an empty project to events that go somewhere, the overview that follows, and the people behind the events.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addExport, addRun } from '../../src/features/batch-exports/runs/fixture/rows.ts'
import { createMember, createOrganization, type Workspace } from '../factories.ts'
import { startTestApp, type TestApp } from '../harness/app.ts'
import { openConsole, type Console } from './browser.ts'
import { openShop } from './shop.ts'

let app: TestApp
let browser: Console
beforeAll(async () => {
  app = await startTestApp()
  browser = await openConsole(app)
})
afterAll(async () => {
  await browser.close()
  await app.close()
})

const send = async ({ project }: Workspace, ...batch: object[]) => {
  const { status } = await app.post('/batch/', { api_key: project.api_token, batch })
  expect(status).toBe(200)
}
const fits = (page: Page) => page.evaluate('document.documentElement.scrollWidth <= innerWidth')
const addressOf = (page: Page) => new URL(page.url()).searchParams

describe('get started', () => {
  it('the snippet of the page, put into a page, makes the waiting line green by itself', async () => {
    const workspace = await createOrganization(app)
    const { session } = workspace.owner
    await browser.visit({ session, path: `/project/${workspace.project.id}` }, async ({ page, audit }) => {
      await page.waitForURL('**/get-started')
      await page.getByText('Waiting for the first event').waitFor()
      await audit()
      const snippet = await page.getByLabel('In the head of every page').innerText()
      expect(snippet).toContain(workspace.project.api_token)
      await page.getByRole('link', { name: 'Python' }).click()
      await page.getByLabel('In your code').getByText(`host='${browser.url}'`).waitFor()
      expect(addressOf(page).get('sdk')).toBe('python')
      await page.reload()
      await page.getByRole('link', { name: 'Python' }).and(page.locator('[aria-current]')).waitFor()
      await page.getByText('Waiting for the first event').waitFor()

      const shop = await openShop(snippet)
      const visit = await page.context().newPage()
      await visit.goto(shop.url)

      await page.getByText('The first event is here').waitFor()
      // The library's first event says who it is; the page view follows.
      await page
        .getByRole('status')
        .getByText(/\$(set|pageview)/)
        .waitFor()
      await visit.close()
      shop.close()
      await audit()
      // The menu has the overview from now on.
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Overview' }).waitFor()
      await page.getByRole('link', { name: 'Open the events' }).click()
      await page
        .getByRole('row', { name: /\$pageview/ })
        .first()
        .waitFor()
      await page.goBack()
      await page.getByText('Look at what came: done').waitFor()
      await page.getByRole('link', { name: 'Create export' }).click()
      await page.waitForURL('**/exports/new')
    })
  })

  it('admins fill it with sample data, members are told who may; nothing is cut off on a phone', async () => {
    const workspace = await createOrganization(app)
    const path = `/project/${workspace.project.id}/get-started`
    const member = await createMember(app, workspace.organization)
    await browser.visit({ session: member.session, path, width: 360 }, async ({ page, audit }) => {
      const button = page.getByRole('button', { name: 'Fill it with sample data' })
      await button.waitFor()
      expect(await button.getAttribute('aria-disabled')).toBe('true')
      expect(await fits(page)).toBe(true)
      await audit()
      await button.hover()
      await page.getByText('Only admins and owners may do this.').waitFor()
    })
    await browser.visit({ session: workspace.owner.session, path }, async ({ page }) => {
      await page.getByRole('button', { name: 'Fill it with sample data' }).click()
      await page.getByText(/sample events are on their way/).waitFor()
      await page.getByText('The first event is here').waitFor()
      expect(await page.getByRole('button', { name: 'Fill it with sample data' }).count()).toBe(0)
      // Nothing was connected for them, so the way to connect something is still to be found.
      await page.getByRole('heading', { name: 'Connect your product', exact: true }).waitFor()
      await page.getByRole('link', { name: 'Overview' }).first().click()
      await page.waitForURL('**/overview')
      await page.keyboard.press('ControlOrMeta+k')
      await page.getByRole('combobox', { name: 'Find anything' }).fill('get started')
      await page.keyboard.press('Enter')
      await page.waitForURL('**/get-started')
    })
  })
})

describe('overview', () => {
  it('what needs attention comes first, events are counted as they come, exports stand as strips', async () => {
    const workspace = await createOrganization(app)
    const { project, owner } = workspace
    await send(
      workspace,
      { event: 'opened', distinct_id: 'a' },
      { event: 'opened', distinct_id: 'a' },
      { event: 'closed', distinct_id: 'a' },
    )
    await browser.visit(
      { session: owner.session, path: `/project/${project.id}` },
      async ({ page, audit }) => {
        await page.waitForURL('**/overview')
        await page.getByText('Nothing needs attention.').waitFor()
        await page.getByText('No exports yet').waitFor()
        const kinds = page.getByRole('list', { name: 'Kinds of events' })
        await kinds.getByText('opened').waitFor()
        await page.getByText('live', { exact: true }).waitFor()
        await audit()
        await send(workspace, { event: 'just now', distinct_id: 'a' })
        await kinds.getByText('just now').waitFor()

        const now = app.services.now()
        const made = await addExport(app.db, project.id, now, { name: 'Hourly to S3' })
        const run = await addRun(app.db, made, now, {
          status: 'FailedRetryable',
          latest_error: 'no such bucket',
        })
        await page.reload()
        const attention = page.getByRole('region', { name: 'Needs attention' })
        await attention.getByText('no such bucket').waitFor()
        await page.getByRole('link', { name: 'Exports 1 needs attention' }).waitFor()
        await page.getByRole('row', { name: 'Open Hourly to S3' }).waitFor()
        await audit()
        await attention.getByRole('link', { name: /Hourly to S3 fails/ }).click()
        await page.waitForURL(`**/exports/${made.id}/runs?run=${run.id}`)
        await page.goBack()
        await kinds.getByRole('link', { name: 'closed' }).click()
        await page.getByRole('button', { name: 'Change filter: event is closed' }).waitFor()
        await page.getByText('This is the only event.').waitFor()
      },
    )
    const member = await createMember(app, workspace.organization)
    await browser.visit(
      { session: member.session, path: `/project/${project.id}/overview`, width: 360 },
      async ({ page, audit }) => {
        await page.getByRole('region', { name: 'Needs attention' }).waitFor()
        await page.getByRole('list', { name: 'Kinds of events' }).waitFor()
        expect(await fits(page)).toBe(true)
        await audit()
      },
    )
  })
})

describe('people', () => {
  it('are listed, found, and one is shown with events, properties, ids and groups', async () => {
    const workspace = await createOrganization(app)
    const { project, owner } = workspace
    const path = `/project/${project.id}/persons`
    await browser.visit({ session: owner.session, path }, async ({ page, audit }) => {
      await page.getByText('Nobody yet').waitFor()
      await audit()
      await send(
        workspace,
        ...Array.from({ length: 120 }, (_, index) => ({ event: 'seen', distinct_id: `visitor ${index}` })),
        {
          event: '$identify',
          distinct_id: 'ada',
          properties: {
            $anon_distinct_id: 'visitor 7',
            $set: { email: 'ada@example.com', name: 'Ada Lovelace', plan: '<b>paid</b>' },
          },
        },
        {
          event: '$groupidentify',
          distinct_id: 'ada',
          properties: { $group_type: 'company', $group_key: 'acme', $group_set: { seats: 12 } },
        },
        { event: 'bought', distinct_id: 'ada', properties: { $groups: { company: 'acme' } } },
      )
      await page.reload()
      const table = page.getByRole('table', { name: 'People' })
      await table.getByRole('row').nth(1).waitFor()
      await audit()
      await expect
        .poll(async () => {
          await page
            .getByRole('region', { name: 'People' })
            .evaluate((element) => (element.scrollTop = element.scrollHeight))
          return page.getByText('120 in all').count()
        })
        .toBe(1)
      // The table scrolls, the page round it does not.
      expect(await page.evaluate('document.documentElement.scrollHeight - innerHeight')).toBe(0)
      await page.getByLabel('Search people').fill('ADA@')
      await page.waitForURL('**?q=ADA%40')
      await page.getByText('1 in all').waitFor()
      await page.reload()
      expect(await page.getByLabel('Search people').inputValue()).toBe('ADA@')
      const ada = page.getByRole('row', { name: 'Open ada@example.com' })
      await ada.waitFor()
      expect((await ada.getByRole('cell').allTextContents()).slice(0, 2)).toEqual([
        'Ada Lovelace',
        'ada@example.com',
      ])
      await ada.click()

      await page.getByRole('heading', { name: /Ada Lovelace/ }).waitFor()
      await page.getByText('ada@example.com', { exact: true }).first().waitFor()
      await page.getByRole('row', { name: /bought/ }).waitFor()
      // Events of the id that they had before, too.
      await page.getByRole('row', { name: /seen/ }).waitFor()
      await audit()
      await page.getByRole('row', { name: /bought/ }).click()
      await page.getByRole('dialog').getByText('$groups').waitFor()
      await page.keyboard.press('Escape')

      await page.getByRole('link', { name: 'Properties' }).click()
      await page.getByText('<b>paid</b>').waitFor()
      await audit()
      await page.getByRole('link', { name: /Distinct ids/ }).click()
      await page.getByText('visitor 7', { exact: true }).waitFor()
      await audit()
      await page.getByRole('link', { name: 'Groups' }).click()
      const group = page.getByRole('table', { name: 'Properties of acme' })
      await group.getByText('12').waitFor()
      expect(await page.getByRole('heading', { level: 2 }).count()).toBe(1)
      await audit()
      await page.goBack()
      await page.getByText('visitor 7', { exact: true }).waitFor()
    })
    const member = await createMember(app, workspace.organization)
    await browser.visit(
      { session: member.session, path, width: 360 },
      async ({ page, audit, expectProblem }) => {
        await page
          .getByRole('row', { name: /Open visitor/ })
          .first()
          .waitFor()
        expect(await fits(page)).toBe(true)
        await audit()
        await page
          .getByRole('row', { name: /Open visitor/ })
          .first()
          .click()
        await page.getByRole('row', { name: /seen/ }).waitFor()
        expect(await fits(page)).toBe(true)
        expectProblem(/404/)
        await page.goto(`${path}/0190163d-8694-739b-aea5-966c26f8ad91`)
        await page.getByText('There is nothing at this address.').waitFor()
        await audit()
      },
    )
  })
})

describe('definitions', () => {
  it('are found, described, verified and removed; a refusal stands at its field and nothing typed is lost', async () => {
    const workspace = await createOrganization(app)
    const { project, owner } = workspace
    await send(
      workspace,
      { event: 'order placed', distinct_id: 'ada', properties: { amount: 12 } },
      { event: 'order placed', distinct_id: 'ada', properties: { amount: 30 } },
      { event: 'signed up', distinct_id: 'ada' },
    )
    await app.definitions.flush()
    const path = `/project/${project.id}/definitions/events`
    const stored = async (kind: string, name: string) => {
      const { body } = await app.get(`/api/projects/${project.id}/${kind}/`, { key: owner.key })
      return body.results.find((each: { name: string }) => each.name === name)
    }
    await browser.visit(
      { session: owner.session, path: `/project/${project.id}/events` },
      async ({ page, audit, expectProblem }) => {
        await page.getByRole('link', { name: 'Definitions' }).click()
        await page.getByRole('row', { name: 'Open signed up' }).waitFor()
        await audit()
        await page.getByLabel('Search by name').fill('ORDER')
        await page.getByRole('row', { name: 'Open signed up' }).waitFor({ state: 'detached' })
        await page.getByRole('row', { name: 'Open order placed' }).click()
        const details = page.getByRole('dialog')
        await details.getByLabel('Description').waitFor()
        await page.keyboard.press('Escape')
        await page.locator('[role=row]:focus', { hasText: 'order placed' }).waitFor()
        await page.keyboard.press('Enter')
        await details.getByLabel('Description').fill('x'.repeat(4_001))
        await details.getByLabel('Tags').fill('shop')
        await page.keyboard.press('Enter')
        await details.getByLabel('Verified').check()
        expectProblem(/400 .*event_definitions/)
        await details.getByRole('button', { name: 'Save definition' }).click()
        await expect.poll(() => details.getByLabel('Description').getAttribute('aria-invalid')).toBe('true')
        await audit()
        await page.reload()
        await details.getByText('There are changes that are not saved.').waitFor()
        expect(await details.getByLabel('Verified').isChecked()).toBe(true)
        await details.getByLabel('Description').fill('Somebody paid.')
        await details.getByRole('button', { name: 'Save definition' }).click()
        await page.getByText('What is said of order placed was saved.').waitFor()
        await details.getByText(`by ${owner.email}`).waitFor()
        expect(await stored('event_definitions', 'order placed')).toMatchObject({
          description: 'Somebody paid.',
          tags: ['shop'],
          verified: true,
          hidden: false,
        })
        await details.getByRole('link', { name: 'Show these events' }).click()
        await page.getByRole('button', { name: 'Change filter: event is order placed' }).waitFor()

        await page.goto(path)
        await page.getByText('Not verified').click()
        await page.getByRole('row', { name: 'Open order placed' }).waitFor({ state: 'detached' })
        await page.getByRole('row', { name: 'Open signed up' }).click()
        await details.getByRole('button', { name: 'Remove definition' }).click()
        await page
          .getByRole('dialog', { name: /Remove signed up/ })
          .getByRole('button', { name: 'Remove' })
          .click()
        await page.getByText('No definition matches.').waitFor()
        expect(await stored('event_definitions', 'signed up')).toBeUndefined()

        await page.getByRole('link', { name: 'Event properties' }).click()
        await page.getByRole('row', { name: 'Open amount' }).click()
        await details.getByLabel('Type').selectOption('String')
        await details.getByRole('button', { name: 'Save definition' }).click()
        await page.getByText('What is said of amount was saved.').waitFor()
        expect((await stored('property_definitions', 'amount')).property_type).toBe('String')
      },
    )
    const member = await createMember(app, workspace.organization)
    await browser.visit({ session: member.session, path, width: 360 }, async ({ page, audit }) => {
      const events = await page.getByRole('columnheader', { name: 'Events' }).boundingBox()
      expect(events!.x + events!.width).toBeLessThanOrEqual(360)
      await page.getByRole('row', { name: 'Open order placed' }).click()
      await page.getByRole('dialog').getByLabel('Description').waitFor()
      expect(await fits(page)).toBe(true)
      await audit()
    })
  })
})
