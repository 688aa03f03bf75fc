// Errands that people come with, each done by an admin from the overview on: what it takes is counted here and told in
// docs/console.md.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  deliverHours,
  openWorkbench,
  type Workbench,
} from '../../src/features/batch-exports/fixture/workbench.ts'
import { HOUR_MS } from '../../src/features/batch-exports/fixture/clock.ts'
import { addExport, addRun } from '../../src/features/batch-exports/runs/fixture/rows.ts'
import { createMember } from '../factories.ts'
import { openConsole, type Console } from './browser.ts'

let folder: string
let bench: Workbench
let browser: Console
let told: Map<string, string>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-errands-'))
  bench = await openWorkbench({ EXPORT_DIR: folder })
  browser = await openConsole(bench.app)
  await bench.create({ type: 'File', config: { prefix: 'lake' } }, { name: 'Lake' })
  await deliverHours(bench, 2)
  await bench.settle()
  const broken = await addExport(bench.app.db, bench.workspace.project.id, bench.app.services.now(), {
    name: 'Broken',
  })
  await addRun(bench.app.db, broken, bench.app.services.now(), {
    status: 'FailedRetryable',
    latest_error: 'no such bucket',
  })
  told = await readTold()
})
afterAll(async () => {
  await browser.close()
  await bench.app.close()
  await rm(folder, { recursive: true, force: true })
})

/** Errand → "clicks, pages", as the page for users says. */
async function readTold(): Promise<Map<string, string>> {
  const text = await readFile('docs/console.md', 'utf8')
  const rows = [...text.matchAll(/^\| ([^|]+?) +\| [^|]+\| +(\d+) \| +(\d+) \|$/gm)]
  return new Map(rows.map(([, errand, clicks, pages]) => [errand!, `${clicks} clicks, ${pages} pages`]))
}

type Hand = { page: Page; click(target: Locator): Promise<void>; menu(name: string): Promise<void> }

const ERRANDS: Record<string, (hand: Hand) => Promise<unknown>> = {
  'See whether any export is red, and why': ({ page }) =>
    page.getByRole('region', { name: 'Needs attention' }).getByText('no such bucket').waitFor(),

  async 'Prove that nothing is missing from an export'({ page, click }) {
    await click(page.getByRole('row', { name: 'Open Lake' }))
    await click(page.getByRole('link', { name: 'Proof' }))
    await click(page.getByRole('button', { name: 'Verify now' }))
    await page.getByText('The destination is being read back.').waitFor()
  },

  async 'Read the log of the run that failed, and run it again'({ page, click }) {
    await click(page.getByRole('link', { name: /Broken fails/ }))
    await page.getByRole('region', { name: 'Log of this run' }).waitFor()
    await click(page.getByRole('button', { name: 'Retry run' }))
    await click(
      page.getByRole('dialog', { name: 'Retry this run' }).getByRole('button', { name: 'Retry run' }),
    )
    await page.getByText('The run is repeated').waitFor()
  },

  async 'Export everything to a folder or bucket, with what was before'({ page, click, menu }) {
    await menu('Exports')
    await click(page.getByRole('link', { name: 'Create export' }))
    await click(page.getByRole('button', { name: /^Folder/ }))
    await click(page.getByRole('button', { name: 'Test the connection' }))
    await page.getByText('All tests passed.').waitFor()
    for (const step of ['Choose what to export', 'Choose the layout', 'Choose when', 'Review the export'])
      await click(page.getByRole('button', { name: step }))
    await page.getByLabel('Name').fill('Everything')
    await click(page.getByLabel('Also export everything so far'))
    await click(page.getByRole('button', { name: 'Create export' }))
    await page.getByText('Everything is created.').waitFor()
  },

  async 'Deliver what has come in, without waiting for the schedule'({ page, click }) {
    await click(page.getByRole('row', { name: 'Open Lake' }))
    await click(page.getByRole('button', { name: 'Run now' }))
    await page.getByRole('region', { name: 'Log of this run' }).waitFor()
  },

  async 'Pause an export, and deliver what the pause left out'({ page, click }) {
    await click(page.getByRole('row', { name: 'Open Lake' }))
    await click(page.getByRole('button', { name: 'Pause' }))
    await click(page.getByRole('button', { name: 'Pause export' }))
    await page.getByText('Lake is paused.').waitFor()
    bench.app.advance(2 * HOUR_MS)
    await click(page.getByRole('button', { name: 'Unpause' }))
    await page.getByLabel('Deliver them too').waitFor()
    await click(page.getByRole('button', { name: 'Unpause export' }))
    await page.getByText('delivers what it missed', { exact: false }).waitFor()
  },

  async 'Find one customer’s last events'({ page, click, menu }) {
    await menu('People')
    await page.getByLabel('Search people').fill('somebody')
    await click(page.getByRole('row', { name: 'Open somebody' }))
    await page.getByRole('row', { name: /one/ }).first().waitFor()
  },

  async 'Ask how many people came each day, as a chart'({ page, click, menu }) {
    await menu('SQL')
    await click(
      page
        .getByRole('listitem')
        .getByRole('button', { name: /a day|each day|by day/i })
        .first(),
    )
    await page.locator('canvas').first().waitFor()
  },

  async 'Invite several people at once'({ page, click, menu }) {
    await menu('Organization')
    await click(page.getByRole('link', { name: 'Invites' }))
    await click(page.getByRole('button', { name: 'Invite people' }).first())
    await page.getByLabel('E-mail addresses').fill('ann@example.com, bob@example.com')
    await click(page.getByRole('button', { name: 'Invite 2 people' }))
    await page.getByText('The link of ann@example.com is shown once.').waitFor()
  },

  async 'Make a key that may only read one project'({ page, click, menu }) {
    await menu('Account')
    await click(page.getByRole('link', { name: 'API keys' }))
    await click(page.getByRole('button', { name: 'Create key' }))
    await page.getByLabel('Label').fill('Reader')
    await click(page.getByRole('radiogroup', { name: 'Projects' }).getByText('Read'))
    await click(page.getByLabel('Only in these projects'))
    await click(page.getByRole('checkbox', { name: bench.workspace.project.name }))
    await click(page.getByRole('dialog').getByRole('button', { name: 'Create key' }))
    await page.getByLabel('Shown once').waitFor()
  },

  async 'Remove a field from all events before they are stored'({ page, click, menu }) {
    await menu('Apps')
    await click(page.getByRole('link', { name: 'Add app' }).first())
    await click(page.getByRole('link', { name: 'Write one' }))
    await page.getByLabel('Name').fill('No addresses')
    await click(page.getByRole('button', { name: 'Create app' }))
    await click(page.getByRole('textbox', { name: 'index.ts' }))
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.insertText(
      'export function processEvent(event) {\n  delete event.properties.usd\n  return event\n}\n',
    )
    await click(page.getByRole('button', { name: 'Try it' }))
    await page.getByLabel('The event, before and after').getByText('-     "usd": 10').waitFor()
    await click(page.getByRole('button', { name: 'Save code' }))
    await click(page.getByRole('button', { name: 'Switch on' }))
    await page.getByText('No addresses is on.').waitFor()
  },
}

it('the page for users tells of these ten', () => {
  expect([...told.keys()]).toEqual(Object.keys(ERRANDS))
})

it.each(Object.entries(ERRANDS))('%s: takes what is told', async (errand, run) => {
  const { project, organization } = bench.workspace
  const admin = await createMember(bench.app, organization, { level: 'admin' })
  await browser.visit(
    { session: admin.session, path: `/project/${project.id}/overview` },
    async ({ page }) => {
      await page.getByRole('row', { name: 'Open Lake' }).waitFor()
      const pages = new Set([new URL(page.url()).pathname])
      page.on('framenavigated', (frame) => {
        if (frame === page.mainFrame()) pages.add(new URL(page.url()).pathname)
      })
      let clicks = 0
      const click = async (target: Locator) => {
        clicks += 1
        await target.click()
      }
      const menu = (name: string) =>
        // A place may say how much needs attention there.
        click(
          page
            .getByRole('navigation', { name: 'Pages' })
            .getByRole('link', { name: new RegExp(`^${name}( \\d+ needs? attention)?$`) }),
        )
      await run({ page, click, menu })
      expect(`${clicks} clicks, ${pages.size} pages`).toBe(told.get(errand))
    },
  )
})
