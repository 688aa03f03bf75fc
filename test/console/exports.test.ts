// Exports in the browser: the list, one export with its runs, and the way from a failed run to a green one.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  deliverHours,
  neighbourOf,
  openWorkbench,
  type Workbench,
} from '../../src/features/batch-exports/fixture/workbench.ts'
import { MAX_EXPORTS } from '../../src/features/batch-exports/rules.ts'
import { makeBackfillRuns } from '../../src/features/batch-exports/backfills/make-runs.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { createMember } from '../factories.ts'
import { openConsole, type Console } from './browser.ts'
import { fits } from './fits.ts'

let folder: string
let bench: Workbench
let browser: Console
let session: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-exports-'))
  bench = await openWorkbench({ EXPORT_DIR: folder })
  browser = await openConsole(bench.app)
  session = bench.workspace.owner.session
})
afterAll(async () => {
  await browser.close()
  await bench.app.close()
  await rm(folder, { recursive: true, force: true })
})

const pageOf = ({ workspace }: Workbench, rest = '') => `/project/${workspace.project.id}/exports${rest}`
const DAY_MS = 86_400_000
const lake = { type: 'File', config: { prefix: 'lake' } }

describe('the list', () => {
  it('says what exports are for while there are none', async () => {
    await browser.visit({ session, path: pageOf(bench) }, async ({ page, audit }) => {
      await page.getByRole('heading', { name: 'No exports yet' }).waitFor()
      await audit()
      await page.getByRole('link', { name: 'Create export' }).click()
      await page.getByRole('heading', { name: 'Where to' }).waitFor()
    })
  })

  it('has state, destination, freshness and the last runs, filters by the address, and opens what is clicked', async () => {
    const of = await neighbourOf(bench)
    await of.create(lake, { name: 'Hourly to the lake' })
    const paused = await of.create({ type: 'NoOp', config: {} }, { name: 'Nowhere' })
    await deliverHours(of, 3)
    await of.act(paused, 'pause')
    await browser.visit(
      { session: of.workspace.owner.session, path: pageOf(of) },
      async ({ page, audit }) => {
        const row = page.getByRole('row', { name: 'Open Hourly to the lake' })
        await row.getByText('Delivered', { exact: true }).waitFor()
        await row.getByText('Folder').waitFor()
        await row.getByText('up to date').waitFor()
        await row.getByText('Of the last 3 runs 3 delivered and 0 failed.').waitFor()
        await audit()
        await fits(page)
        await page.getByText('Paused', { exact: true }).first().click()
        await page.waitForURL('**/exports?state=paused')
        await expect.poll(() => page.getByRole('row').count()).toBe(2)
        await page.reload()
        await page.getByRole('row', { name: 'Open Nowhere' }).waitFor()
        await page.getByLabel('Filter by name').fill('nothing of that name')
        await page.getByRole('heading', { name: 'No export matches.' }).waitFor()
        await page.goto(pageOf(of))
        await row.focus()
        await page.keyboard.press('Enter')
        await page.waitForURL('**/runs')
        await page.goBack()
        // The newest of the strip.
        await row.getByTitle('Delivered').last().click()
        await page.waitForURL('**/runs?run=*')
        await page.getByRole('dialog').getByText('SHA-256').waitFor()
        await page.keyboard.press('Control+k')
        await page.getByRole('combobox', { name: 'Find anything' }).fill('nowhere')
        await page.getByRole('option', { name: 'Nowhere' }).waitFor()
        await page.keyboard.press('Enter')
        await page.getByRole('heading', { name: /Nowhere$/ }).waitFor()
      },
    )
  })
})

describe('a list of as many exports as a project can have', () => {
  it('says so where one would make another', async () => {
    const of = await neighbourOf(bench)
    const id = await of.create(lake, { name: 'The first' })
    await of.app.db.run(sql`
      INSERT INTO batch_export (id, project_id, name, model, destination_type, config, secrets, interval, timezone, paused,
        next_due_at, created_at, last_updated_at)
      SELECT gen_random_uuid(), project_id, 'Number ' || n, model, destination_type, config, secrets, interval, timezone,
        paused, next_due_at, created_at, last_updated_at
      FROM batch_export, generate_series(2, ${MAX_EXPORTS}) AS n WHERE id = ${id}`)
    await browser.visit(
      { session: of.workspace.owner.session, path: pageOf(of) },
      async ({ page, audit }) => {
        const button = page.getByRole('button', { name: 'Create export' })
        await expect.poll(() => button.getAttribute('aria-disabled')).toBe('true')
        await audit()
        await button.hover()
        await page.getByText('A project can have 100 exports at most. Delete one to make room.').waitFor()
        await of.app.delete(`${of.base}/${id}/`, { key: of.key })
        await page.reload()
        await page.getByRole('link', { name: 'Create export' }).click()
        await page.getByRole('heading', { name: 'Where to' }).waitFor()
      },
    )
    // Otherwise all of them run in every hour of the tests that follow.
    await of.app.db.run(sql`DELETE FROM batch_export WHERE project_id = ${of.workspace.project.id}`)
  })
})

describe('one export', () => {
  it('goes from a failed run to a green one: log, settings, test, retry', async () => {
    const of = await neighbourOf(bench)
    const own = join(folder, String(of.workspace.project.id))
    await mkdir(own, { recursive: true })
    await writeFile(join(own, 'blocked'), '')
    const id = await of.create({ type: 'File', config: { prefix: 'blocked/orders' } }, { name: 'Orders' })
    await deliverHours(of, 1)
    await browser.visit(
      { session: of.workspace.owner.session, path: pageOf(of, `/${id}/runs`) },
      async ({ page, audit }) => {
        await page.getByText('Failing').waitFor()
        await page.getByRole('row', { name: /^Failed run/ }).click()
        const drawer = page.getByRole('dialog')
        await drawer.getByText('There is a file where a folder is needed', { exact: false }).first().waitFor()
        await drawer.getByText('Mend the cause', { exact: false }).waitFor()
        await drawer.getByText('ERROR').waitFor()
        await audit()
        // An open run is an address.
        await page.reload()
        await drawer.getByText('ERROR').waitFor()
        await drawer.getByRole('link', { name: 'Change settings and test them' }).click()
        await page.waitForURL('**/settings')
        await page.getByRole('textbox', { name: 'Prefix' }).fill('open/orders')
        await page.getByText('There are changes that are not saved.').waitFor()
        await page.getByRole('button', { name: 'Test the connection' }).click()
        await page.getByText('All tests passed.').waitFor()
        await page.getByRole('button', { name: 'Save settings' }).click()
        await page.getByText('The settings are saved.', { exact: false }).waitFor()
        await page.getByText('Everything is saved.').waitFor()

        await page.getByRole('link', { name: 'Runs', exact: true }).click()
        await page.getByRole('row', { name: /^Failed run/ }).click()
        await drawer.getByRole('button', { name: 'Retry run' }).click()
        await page
          .getByRole('dialog', { name: 'Retry this run' })
          .getByRole('button', { name: 'Retry run' })
          .click()
        await page.getByText('The run is repeated', { exact: false }).waitFor()
        // It waits for its turn; while it is looked at it goes through, and says so by itself.
        await page.getByRole('row', { name: /^Waiting run/ }).click()
        await drawer.getByRole('button', { name: 'Cancel run' }).waitFor()
        await audit()
        await of.work()
        await drawer.getByText('Delivered').waitFor()
        await drawer.getByText('Completed: 3 rows delivered.').waitFor()
        await drawer.getByText('SHA-256').waitFor()
        await drawer.getByRole('link', { name: 'retry', exact: true }).waitFor()
        await audit()
        await page.keyboard.press('Escape')
        await page.getByRole('banner').or(page.getByRole('main')).getByText('Delivered, up to date').waitFor()
      },
    )
    const { body } = await of.app.get(`${of.base}/${id}/runs/`, { key: of.key })
    expect(body.results.map(({ status }: { status: string }) => status)).toEqual(['Completed', 'Failed'])
  })

  it('is paused, goes on with what it missed, and is deleted by its name', async () => {
    const of = await neighbourOf(bench)
    const member = await createMember(of.app, of.workspace.organization)
    const id = await of.create(lake, { name: 'Daily work' })
    await deliverHours(of, 1)
    // Every member of a project may do this.
    await browser.visit(
      { session: member.session, path: pageOf(of, `/${id}/runs`) },
      async ({ page, audit }) => {
        await page.getByRole('button', { name: 'Pause' }).click()
        await audit()
        await page.getByRole('button', { name: 'Pause export' }).click()
        await page.getByText('Daily work is paused.').waitFor()
        await deliverHours(of, 2)
        await page.getByRole('button', { name: 'Unpause' }).click()
        await page.getByLabel('Deliver them too').waitFor()
        await audit()
        await page.getByRole('button', { name: 'Unpause export' }).click()
        await page.getByText('goes on, and delivers what it missed', { exact: false }).waitFor()
        await of.work()
        await page.getByRole('link', { name: 'Backfills' }).click()
        await page.getByRole('row').getByText('What a pause skipped').waitFor()
        await page.getByRole('row').getByText('Delivered').waitFor()
        await page.getByRole('link', { name: 'Activity' }).click()
        await page.getByText(`${member.email} changed it`).first().waitFor()
        await page.getByText('created it').waitFor()
        await audit()
        await page.getByRole('button', { name: 'More' }).click()
        await page.getByRole('menuitem', { name: 'Delete export' }).click()
        const dialog = page.getByRole('dialog', { name: 'Delete Daily work' })
        expect(await dialog.getByRole('button', { name: 'Delete export' }).isDisabled()).toBe(true)
        await dialog.getByLabel('Type Daily work to go on').fill('Daily work')
        await audit()
        await dialog.getByRole('button', { name: 'Delete export' }).click()
        await page.getByText('Daily work is deleted.').waitFor()
        await page.getByRole('heading', { name: 'No exports yet' }).waitFor()
      },
    )
    expect((await of.app.get(`${of.base}/${id}/`, { key: of.key })).status).toBe(404)
    const { totals } = await of.app.db.only<{ totals: number }>(
      sql`SELECT sum(records_completed)::int AS totals FROM batch_export_run WHERE batch_export_id = ${id} AND status = 'Completed'`,
    )
    expect(totals).toBe(9)
  })

  it('runs now, and shows the run; what is refused is said', async () => {
    const of = await neighbourOf(bench)
    const id = await of.create(lake, { name: 'At once' })
    await of.capture(['one', 'two'])
    await browser.visit(
      { session: of.workspace.owner.session, path: pageOf(of, `/${id}/runs`) },
      async ({ page, audit, expectProblem }) => {
        expectProblem(/400/)
        await page.getByRole('button', { name: 'Run now' }).click()
        await page.getByRole('region', { name: 'Log of this run' }).waitFor()
        of.app.advance(1_000)
        await of.work()
        await page.getByRole('region', { name: 'Log of this run' }).getByText('2 rows').first().waitFor()
        await page.getByRole('dialog').getByText('run now', { exact: true }).waitFor()
        await audit()
        await of.app.patch(
          `${of.base}/${id}/`,
          { end_at: of.app.services.now().toISOString() },
          { key: of.key },
        )
        of.app.advance(1_000)
        await page.keyboard.press('Escape')
        await page.getByRole('button', { name: 'Run now' }).click()
        await page.getByText('The export ended at').waitFor()
      },
    )
    expect(await of.runs(id)).toMatchObject([{ status: 'Completed', backfill: null }])
  })

  it('names the table that a run went into', async () => {
    const of = await neighbourOf(bench)
    const id = await of.create({ type: 'NoOp', config: {} }, { name: 'To a table' })
    await deliverHours(of, 1)
    const [run] = await of.runs(id)
    const config = { database: 'shop', schema: 'warehouse', table_name: 'orders' }
    await of.app.db.run(sql`
      UPDATE batch_export_run
      SET definition = definition || ${JSON.stringify({ destination_type: 'Postgres', config })}::jsonb WHERE id = ${run!.id}`)
    const path = pageOf(of, `/${id}/runs?run=${run!.id}`)
    await browser.visit({ session: of.workspace.owner.session, path }, async ({ page, audit }) => {
      const drawer = page.getByRole('dialog')
      await drawer.getByText('warehouse.orders', { exact: true }).waitFor()
      await audit()
    })
  })

  it('ends what is under way: a run, and a backfill', async () => {
    const of = await neighbourOf(bench)
    const id = await of.create(lake, { name: 'Hasty' })
    await deliverHours(of, 1)
    const [run] = await of.runs(id)
    const session = of.workspace.owner.session
    await of.app.post(`${of.base}/${id}/runs/${run!.id}/retry/`, {}, { key: of.key })
    await browser.visit({ session, path: pageOf(of, `/${id}/runs?status=live`) }, async ({ page, audit }) => {
      await page.getByRole('row', { name: /^Waiting run/ }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel run' }).click()
      const dialog = page.getByRole('dialog', { name: 'Cancel this run' })
      await audit()
      await dialog.getByRole('button', { name: 'Cancel run' }).click()
      await page.getByText('The run is cancelled.').waitFor()
      await page.getByRole('dialog').getByText('Cancelled', { exact: true }).waitFor()
      await page.keyboard.press('Escape')
      const range = { start_at: run!.data_interval_start, end_at: run!.data_interval_end }
      await of.act(id, 'repair', range)
      await page.getByRole('link', { name: 'Backfills' }).click()
      await page
        .getByRole('row')
        .filter({ hasText: 'Repair' })
        .getByRole('button', { name: 'Cancel' })
        .click()
      await page.getByRole('button', { name: 'Cancel backfill' }).click()
      await page.getByText('The backfill is cancelled.').waitFor()
      await page.getByRole('row').filter({ hasText: 'Repair' }).getByText('Cancelled').waitFor()
    })
    const { body } = await of.app.get(`${of.base}/${id}/runs/?status=Starting&status=Running`, {
      key: of.key,
    })
    expect(body.results).toEqual([])
  })

  it('colours the calendar run by run while a backfill goes on', async () => {
    const of = await neighbourOf(bench)
    const dayAgo = (days: number, hour: number) => {
      const date = new Date(of.app.services.now().getTime() - days * DAY_MS).toISOString().slice(0, 10)
      return `${date}T${String(hour).padStart(2, '0')}:00:00.000Z`
    }
    await of.capture(['one'], dayAgo(3, 12))
    await of.capture(['two'], dayAgo(2, 12))
    const id = await of.create(lake, { name: 'Slowly', interval: 'day' })
    await of.act(id, 'backfill', { start_at: dayAgo(3, 0), end_at: dayAgo(1, 0) })
    await makeBackfillRuns(of.app.services, of.app.services.now())
    const hold = (until: Date) =>
      of.app.db.run(sql`
        UPDATE batch_export_run SET run_after = ${until}
        WHERE batch_export_id = ${id} AND data_interval_end = ${dayAgo(1, 0)}`)
    await hold(new Date(of.app.services.now().getTime() + DAY_MS))
    await browser.visit(
      { session: of.workspace.owner.session, path: pageOf(of, `/${id}/backfills`) },
      async ({ page }) => {
        const day = (days: number, state: string) =>
          page.getByTitle(`${dayAgo(days, 0).slice(0, 10)}: ${state}`, { exact: false }).waitFor()
        await day(3, 'not exported')
        await of.work()
        await day(3, 'all exported')
        await day(2, 'not exported')
        await page.getByRole('row').getByText('1 of 2 runs').waitFor()
        await hold(of.app.services.now())
        await of.work()
        await day(2, 'all exported')
      },
    )
  })

  it('has a log by level and text, which goes on by itself, and says when it cannot be read', async () => {
    const of = await neighbourOf(bench)
    const id = await of.create(lake, { name: 'Talking' })
    await deliverHours(of, 1)
    const path = pageOf(of, `/${id}/logs`)
    await browser.visit(
      { session: of.workspace.owner.session, path },
      async ({ page, audit, expectProblem }) => {
        await page.getByText('Completed: 3 rows delivered.').waitFor()
        await audit()
        await page.getByText('New lines appear at the top.').waitFor()
        await deliverHours(of, 1)
        await expect.poll(() => page.getByText('Completed: 3 rows delivered.').count()).toBe(2)
        await page.getByText('DEBUG', { exact: true }).first().click()
        await page.waitForURL('**level=DEBUG')
        await expect.poll(() => page.getByText('Completed: 3 rows delivered.').count()).toBe(0)
        await page.reload()
        await page.getByText('File 1: 3 rows', { exact: false }).first().waitFor()
        const download = page.waitForEvent('download')
        await page.getByRole('button', { name: 'Save as file' }).click()
        const file = await download
        expect(file.suggestedFilename()).toBe('Talking.log')
        const lines = (await readFile(await file.path(), 'utf8')).trimEnd().split('\n')
        expect(lines.filter((line) => line.includes(' File 1: 3 rows'))).toHaveLength(2)
        expect(lines.filter((line) => !line.includes(' DEBUG '))).toEqual([])
        await page.getByLabel('Text in the message').fill('no such text')
        await page.getByRole('heading', { name: 'No lines' }).waitFor()
        expectProblem(/500/)
        await of.app.db.run(sql`ALTER TABLE batch_export_log RENAME TO batch_export_log_away`)
        try {
          await page.goto(path)
          await page.getByRole('heading', { name: 'The log could not be read.' }).waitFor()
          await audit()
        } finally {
          await of.app.db.run(sql`ALTER TABLE batch_export_log_away RENAME TO batch_export_log`)
        }
        await page.getByRole('button', { name: 'Try again' }).click()
        await page.getByText('Completed: 3 rows delivered.').first().waitFor()
      },
    )
  })

  it('has a log of any range, and shows each line once though others come in meanwhile', async () => {
    const of = await neighbourOf(bench)
    const id = await of.create({ type: 'NoOp', config: {} }, { name: 'Chatty' })
    const now = of.app.services.now()
    const write = (count: number, text: string, hours_ago: number) =>
      of.app.db.run(sql`
        INSERT INTO batch_export_log (project_id, batch_export_id, timestamp, level, message)
        SELECT ${of.workspace.project.id}, ${id},
          ${now}::timestamptz - ${hours_ago} * interval '1 hour' + n * interval '1 millisecond', 'INFO', ${text} || n
        FROM generate_series(1, ${count}::int) AS n`)
    await write(1, 'long ago ', 24 * 20)
    await write(250, 'stored ', 3)
    await browser.visit(
      { session: of.workspace.owner.session, path: pageOf(of, `/${id}/logs`) },
      async ({ page, audit }) => {
        const log = page.getByRole('region', { name: 'Log, newest first' })
        await log.getByText('200 of 250 lines.').waitFor()
        await page.getByText('New lines appear at the top.').waitFor()
        await write(10, 'fresh ', 2)
        await log.getByText('fresh 10', { exact: true }).waitFor()
        await log.evaluate((each) => each.scrollTo(0, each.scrollHeight))
        await log.getByText('260 of 260 lines.').waitFor()
        await log.evaluate((each) => each.scrollTo(0, each.scrollHeight))
        await log.getByText('stored 1', { exact: true }).waitFor()

        await page.getByRole('button', { name: 'Time range: Last 7 days' }).click()
        await page.getByRole('button', { name: 'Last 30 days' }).click()
        await page.waitForURL('**after=-30d')
        await log.getByText(/of 261 lines\./).waitFor()
        await page.getByRole('button', { name: 'Time range: Last 30 days' }).click()
        const clock = (days_ago: number) =>
          new Date(now.getTime() - days_ago * DAY_MS).toISOString().slice(0, 16)
        await page.getByLabel('From').fill(clock(21))
        await page.getByLabel('To', { exact: true }).fill(clock(19))
        await page.getByRole('button', { name: 'Apply range' }).click()
        await page.waitForURL(/after=.*before=/)
        await page.reload()
        await log.getByText('1 of 1 lines.').waitFor()
        await log.getByText('long ago 1', { exact: true }).waitFor()
        await page.getByText('New lines are not shown.').waitFor()
        await audit()
      },
    )
  })

  it('that does not exist, or belongs to others, is not found', async () => {
    const of = await neighbourOf(bench)
    const theirs = await of.create(lake)
    await browser.visit(
      { session, path: pageOf(bench, `/${theirs}/runs`) },
      async ({ page, expectProblem }) => {
        expectProblem(/404|Nothing found here/)
        await page.getByRole('heading', { name: 'There is nothing at this address.' }).waitFor()
      },
    )
  })

  it('shows hundreds of runs, page by page', async () => {
    const of = await neighbourOf(bench)
    const now = of.app.services.now()
    const id = await of.create({ type: 'NoOp', config: {} }, { name: 'Busy' })
    await of.app.db.run(sql`
      INSERT INTO batch_export_run (id, project_id, batch_export_id, status, data_interval_start, data_interval_end,
        selection, run_after, created_at, finished_at, last_updated_at, records_completed)
      SELECT gen_random_uuid(), ${of.workspace.project.id}, ${id}, 'Completed', at - interval '5 minutes', at, 'arrival', at,
        at, at, at, n
      FROM (SELECT n, ${now}::timestamptz - n * interval '5 minutes' AS at FROM generate_series(1, 250) AS n) AS each`)
    await browser.visit(
      { session: of.workspace.owner.session, path: pageOf(of, `/${id}/runs`) },
      async ({ page }) => {
        const table = page.getByRole('region', { name: 'Runs' })
        await table.getByText('100 runs.').waitFor()
        await table.evaluate((each) => each.scrollTo(0, each.scrollHeight))
        await table.getByText('200 runs.').waitFor()
        await table.evaluate((each) => each.scrollTo(0, each.scrollHeight))
        await table.getByText('250 runs.').waitFor()
        expect(await table.getByRole('row').count()).toBeLessThan(80)
      },
    )
  })

  it('fits a phone, every part of it', async () => {
    const of = await neighbourOf(bench)
    const id = await of.create(lake, { name: 'A name that is rather long for such a narrow place' })
    await deliverHours(of, 2)
    await browser.visit(
      { session: of.workspace.owner.session, path: pageOf(of), width: 360 },
      async ({ page, audit }) => {
        for (const [path, sign] of [
          ['', 'A name that is rather long'],
          [`/${id}/runs`, 'Delivered'],
          [`/${id}/proof`, 'adds up'],
          [`/${id}/backfills`, 'No backfills yet'],
          [`/${id}/logs`, 'Completed: 3 rows'],
          [`/${id}/settings`, 'Files of the next runs'],
          [`/${id}/activity`, 'created it'],
          ['/new', 'Snowflake'],
        ] as const) {
          await page.goto(pageOf(of, path))
          await page.getByText(sign, { exact: false }).first().waitFor()
          await fits(page)
          const tab = page.locator('nav a[aria-current=page]').filter({ visible: true })
          if ((await tab.count()) === 0) continue
          const { x, width } = (await tab.boundingBox())!
          expect(x + width, path).toBeLessThanOrEqual(360)
        }
        await page.goto(pageOf(of, `/${id}/proof`))
        await page.getByText('adds up').waitFor()
        await audit()
      },
    )
  })
})
