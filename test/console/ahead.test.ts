// What the browser fetches along with a page is what the page then uses: an address that differs by a letter would be
// fetched twice, and a part that is not named waits for the program to name it.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../factories.ts'
import { startTestApp, type TestApp } from '../harness/app.ts'
import { openConsole, type Console } from './browser.ts'

let app: TestApp
let browser: Console
let home: Workspace
beforeAll(async () => {
  app = await startTestApp()
  browser = await openConsole(app)
  home = await createOrganization(app)
})
afterAll(async () => {
  await browser.close()
  await app.close()
})

/** In the order in which the browser asked for it. */
const fetchedBy = (page: Page) =>
  page.evaluate(
    `performance.getEntriesByType('resource').map(({ name }) => name.slice(location.origin.length))`,
  ) as Promise<string[]>

const pathnameOf = (address: string) => address.split('?')[0]

it.each([
  ['overview', 'Overview', 'batch_exports/status/?recent_runs=24'],
  ['events', 'Events', 'events/?limit=100'],
  ['events?after=-24h', 'Events', null],
  ['persons', 'People', 'persons/?limit=100&offset=0'],
  ['persons?q=ann', 'People', null],
  ['exports', 'Exports', 'batch_exports/status/?recent_runs=24'],
  ['exports?q=hourly', 'Exports', 'batch_exports/status/?recent_runs=24'],
])('/%s', async (address, title, list) => {
  const { session } = home.owner
  const path = `/project/${home.project.id}/${address}`
  const { link } = (await app.http.inject({ url: path, headers: { cookie: `sessionid=${session}` } })).headers
  const ahead = [...String(link).matchAll(/<([^>]+)>/g)].map(([, found]) => found!)
  const answers = ahead.filter((each) => each.startsWith('/api/'))
  const project = `/api/projects/${home.project.id}/`
  expect(answers).toEqual(['/api/users/%40me/', project, ...(list === null ? [] : [project + list])])

  await browser.visit({ session, path }, async ({ page }) => {
    await page.getByRole('heading', { name: title, level: 1 }).waitFor()
    // What it only then knows to ask comes after; what is not there yet is not in the list.
    const all = [...ahead, expect.stringContaining('/api/organizations/')]
    await expect.poll(() => fetchedBy(page)).toEqual(expect.arrayContaining(all))
    const fetched = await fetchedBy(page)
    expect(fetched.slice(0, ahead.length).toSorted()).toEqual(ahead.toSorted())
    for (const answer of answers)
      expect(fetched.filter((each) => pathnameOf(each) === pathnameOf(answer))).toEqual([answer])
  })
})
