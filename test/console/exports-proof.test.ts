// The proof in the browser: a bar that adds up, or says that it does not; what is missing is delivered, what is broken at
// the destination is found and repaired.
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  deliverHours,
  neighbourOf,
  openWorkbench,
  type Workbench,
} from '../../src/features/batch-exports/fixture/workbench.ts'
import { HOUR_MS } from '../../src/features/batch-exports/fixture/clock.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { openConsole, type Console } from './browser.ts'
import { fits } from './fits.ts'

let folder: string
let bench: Workbench
let browser: Console
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-proof-'))
  bench = await openWorkbench({ EXPORT_DIR: folder })
  browser = await openConsole(bench.app)
})
afterAll(async () => {
  await browser.close()
  await bench.app.close()
  await rm(folder, { recursive: true, force: true })
})

const withoutTwo = { type: 'File', config: { prefix: 'lake', exclude_events: ['two'] } }
const proofOf = ({ workspace }: Workbench, id: string) =>
  `/project/${workspace.project.id}/exports/${id}/proof`
const accountIn = (page: Page) => page.getByRole('region', { name: 'Account', exact: true })

/** The export comes two hours after these. */
async function lateExport(of: Workbench): Promise<string> {
  await of.capture(['one', 'two'])
  of.app.advance(2 * HOUR_MS)
  const id = await of.create(withoutTwo, { name: 'Lake' })
  await deliverHours(of, 3)
  return id
}

describe('the proof', () => {
  it('adds up, and a backfill moves what was skipped to what is exported', async () => {
    const of = await neighbourOf(bench)
    const id = await lateExport(of)
    const path = proofOf(of, id)
    await browser.visit({ session: of.workspace.owner.session, path }, async ({ page, audit }) => {
      const account = accountIn(page)
      await account
        .getByRole('img', {
          name: 'Of 11 received: exported 6, filtered 3, skipped 2, pending 0. It adds up.',
        })
        .waitFor()
      await account.getByText('adds up').waitFor()
      await audit()
      await fits(page)
      // Lengths are what they say.
      const widths = await account
        .getByRole('img')
        .evaluate((bar) =>
          [...bar.children].map(
            (part) => part.getBoundingClientRect().width / bar.getBoundingClientRect().width,
          ),
        )
      for (const [index, share] of [6 / 11, 3 / 11, 2 / 11].entries())
        expect(widths[index]).toBeCloseTo(share, 1)

      // One of the two that came before the export passes its filter.
      await page.getByRole('link', { name: 'Backfill what is missing (1)' }).click()
      await page.waitForURL('**ask=backfill')
      const dialog = page.getByRole('dialog', { name: 'Deliver what is missing' })
      await dialog.getByText('1 row to deliver in', { exact: false }).waitFor()
      await audit()
      await dialog.getByLabel('To', { exact: true }).fill('2020-01-01T00:00')
      await dialog.getByLabel('From').fill('2021-01-01T00:00')
      await dialog.getByText('From must be before To.').waitFor()
      await dialog.getByLabel('From').fill('')
      await dialog.getByLabel('To', { exact: true }).fill(of.hour(0).slice(0, 16))
      await dialog.getByText('1 row to deliver in', { exact: false }).waitFor()
      await dialog.getByRole('button', { name: 'Start backfill' }).click()
      await page.waitForURL('**/backfills')
      await page.getByRole('row').getByText('What was missing').waitFor()
      await of.work()
      await page.getByRole('row').getByText('Delivered').waitFor()
      await audit()
      // A range of the calendar is an address, and what is delivered is not delivered again.
      const today = page.getByRole('button', { name: /all exported/ }).last()
      await today.click()
      await today.click()
      await page.waitForURL(/from=.*to=.*/)
      await dialog.getByText('0 rows to deliver', { exact: false }).waitFor()
      const start = dialog.getByRole('button', { name: 'Start backfill' })
      await expect.poll(() => start.getAttribute('aria-disabled')).toBe('true')
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      await page.getByRole('link', { name: 'Proof' }).click()
      await account
        .getByRole('img', {
          name: 'Of 11 received: exported 7, filtered 4, skipped 0, pending 0. It adds up.',
        })
        .waitFor()
      await page.getByRole('link', { name: /^Backfill what is missing/ }).waitFor({ state: 'detached' })
    })
  })

  it('offers to deliver all that a run has failed to deliver', async () => {
    const of = await neighbourOf(bench)
    const own = join(folder, String(of.workspace.project.id))
    await mkdir(own, { recursive: true })
    await writeFile(join(own, 'blocked'), '')
    const early = new Date(of.app.services.now().getTime() - HOUR_MS).toISOString()
    const id = await of.create({ type: 'File', config: { prefix: 'blocked/lake' } }, { name: 'Blocked' })
    await of.capture(['before this hour', 'before this hour'], early)
    await of.capture(['within it'])
    await of.app.post(`${of.base}/${id}/runs/`, {}, { key: of.key })
    of.app.advance(1_000)
    await of.work()
    const session = of.workspace.owner.session
    await browser.visit({ session, path: proofOf(of, id) }, async ({ page }) => {
      const account = accountIn(page)
      await account.getByRole('img', { name: /pending 3/ }).waitFor()
      // A backfill ends with a whole hour, but does the run again as a whole.
      await page.getByRole('link', { name: 'Backfill what is missing (3)' }).waitFor()
    })
  })

  it('says how much of an interval backfills have delivered before its own run', async () => {
    const of = await neighbourOf(bench)
    const id = await of.create(withoutTwo, { name: 'Lake' })
    await of.capture(['one', 'one', 'one'], of.hour(-1))
    await of.capture(['one'])
    await of.act(id, 'backfill', { start_at: of.hour(-2), end_at: of.hour(0) })
    await of.work()
    await of.pass()
    await browser.visit(
      { session: of.workspace.owner.session, path: proofOf(of, id) },
      async ({ page, audit }) => {
        const table = page.getByRole('table', { name: 'Account of each interval' })
        await table.getByRole('columnheader', { name: 'By backfills' }).waitFor()
        const cells = table.getByRole('row').nth(1).getByRole('cell')
        // Received, exported, by backfills, filtered, skipped, pending, files.
        expect((await cells.allInnerTexts()).slice(2)).toEqual(['4', '4', '3', '0', '0', '0', '1'])
        await audit()
      },
    )
  })

  it('is read back on request; what was lost at the destination is named and repaired', async () => {
    const of = await neighbourOf(bench)
    const id = await lateExport(of)
    const session = of.workspace.owner.session
    await of.settle()
    await browser.visit({ session, path: proofOf(of, id) }, async ({ page, audit }) => {
      const account = accountIn(page)
      await account.getByRole('button', { name: 'Verify now' }).click()
      await account.getByText('Waiting to read back').waitFor()
      await of.settle()
      await account.getByText('3 files', { exact: false }).waitFor()
      await account.getByText('0 problems').waitFor()

      const lost = join(folder, String(of.workspace.project.id), 'lake')
      const [name] = (await readdir(lost)).sort()
      await rm(join(lost, name!))
      await account.getByRole('button', { name: 'Verify now' }).click()
      await account.getByText('Waiting to read back').waitFor()
      await of.settle()
      await account
        .getByText('1 problem', { exact: true })
        .or(account.getByText('missing file'))
        .first()
        .waitFor()
      await audit()
      await page.getByText('Problems, up to date').waitFor()
      await page.goto(proofOf(of, id).replace(`/${id}/proof`, '?state=attention'))
      const row = page.getByRole('row', { name: 'Open Lake' })
      await row.getByText('Problems', { exact: true }).waitFor()
      await row.getByTitle('Reading back what was delivered has found problems', { exact: false }).waitFor()
      await audit()
      await page.goto(proofOf(of, id))
      await account.getByRole('link', { name: 'Repair its interval' }).click()
      const dialog = page.getByRole('dialog', { name: 'Deliver again what was delivered' })
      await dialog.getByText('2 rows go out again.').waitFor()
      await audit()
      await dialog.getByRole('button', { name: 'Start repair' }).click()
      await page.getByText('The repair has started.').waitFor()
      await of.work()
      // Each run is read back by itself.
      await of.settle()
      expect(await readdir(lost)).toContain(name)
      await page.getByRole('link', { name: 'Proof' }).click()
      await account.getByRole('button', { name: 'Verify now' }).click()
      await account.getByText('Waiting to read back').waitFor()
      await of.settle()
      await account.getByText('0 problems').waitFor()
      await page.getByText('Delivered, up to date').waitFor()
    })
  })

  it('says in red when it does not add up, and where', async () => {
    const of = await neighbourOf(bench)
    const id = await of.create(withoutTwo, { name: 'Lake' })
    await deliverHours(of, 2)
    const [, last] = await of.runs(id)
    // Rows that no event stands for.
    await of.app.db.run(sql`UPDATE batch_export_claim SET events = events + 5 WHERE run_id = ${last!.id}`)
    await of.app.db.run(sql`
      UPDATE batch_export_run SET records_completed = 8, records_total_count = 7 WHERE id = ${last!.id}`)
    await browser.visit(
      { session: of.workspace.owner.session, path: proofOf(of, id) },
      async ({ page, audit }) => {
        const alert = accountIn(page).getByRole('alert')
        await alert.getByText('does not add up', { exact: false }).waitFor()
        await alert.getByText('more rows than events were received', { exact: false }).waitFor()
        await page.getByRole('row').getByText('Does not add up').waitFor()
        expect(await accountIn(page).getByText('adds up', { exact: true }).count()).toBe(0)
        await audit()
      },
    )
  })

  it('shows intervals as columns: a click opens the run, dragging chooses a range', async () => {
    const of = await neighbourOf(bench)
    const id = await of.create(withoutTwo, { name: 'Lake' })
    await deliverHours(of, 1)
    await of.act(id, 'pause')
    await deliverHours(of, 1)
    await of.act(id, 'unpause')
    await deliverHours(of, 2)
    await browser.visit(
      { session: of.workspace.owner.session, path: proofOf(of, id) },
      async ({ page, audit }) => {
        const columns = page.getByTitle(/3 events, 2 exported/)
        await expect.poll(() => columns.count()).toBe(3)
        expect(await page.getByTitle('No run: the export was paused').count()).toBe(1)
        await columns.first().click()
        await page.waitForURL('**run=*')
        await page.getByRole('dialog').getByText('SHA-256').waitFor()
        await page.keyboard.press('Escape')
        await page.getByRole('dialog').waitFor({ state: 'detached' })

        const [from, to] = [await columns.nth(1).boundingBox(), await columns.nth(2).boundingBox()]
        await page.mouse.move(from!.x + 2, from!.y + 10)
        await page.mouse.down()
        await page.mouse.move(to!.x + 2, to!.y + 10, { steps: 5 })
        await page.mouse.up()
        await page.waitForURL(/from=.*to=/)
        await page.getByText('2 intervals, 6 received, 4 exported', { exact: false }).waitFor()
        await expect
          .poll(() => page.getByRole('region', { name: 'Account of each interval' }).getByRole('row').count())
          .toBe(3)
        await page.reload()
        await page.getByText('2 intervals, 6 received, 4 exported', { exact: false }).waitFor()
        await page.getByRole('button', { name: 'Verify this range' }).waitFor()
        await audit()
        await page.getByRole('button', { name: 'Clear the choice' }).click()
        await page.getByRole('button', { name: 'Verify now' }).waitFor()
        // The same by the keyboard.
        await page.getByRole('button', { name: 'Time range: All intervals' }).focus()
        await page.keyboard.press('Enter')
        await page.getByLabel('From').fill(of.hour(-2).slice(0, 16))
        await page.getByLabel('To', { exact: true }).fill(of.hour(0).slice(0, 16))
        await audit()
        await page.keyboard.press('Enter')
        await page.waitForURL(/from=.*to=/)
        await page.getByText('2 intervals, 6 received, 4 exported', { exact: false }).waitFor()
        await page.getByRole('button', { name: 'Verify this range' }).waitFor()
        await page.getByRole('button', { name: /^Time range: .* to / }).click()
        await page.getByRole('button', { name: 'All intervals', exact: true }).click()
        await page.getByRole('button', { name: 'Verify now' }).waitFor()
        await page
          .getByRole('row', { name: /^Delivered interval/ })
          .first()
          .focus()
        await page.keyboard.press('ArrowDown')
        await page.keyboard.press('Enter')
        await page.getByRole('dialog').getByText('SHA-256').waitFor()
      },
    )
  })
})
