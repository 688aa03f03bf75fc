// What somebody has typed or asked stays what it was, whatever else happens on the page.
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  neighbourOf,
  openWorkbench,
  type Workbench,
} from '../../src/features/batch-exports/fixture/workbench.ts'
import { openConsole, type Console, type Visit } from './browser.ts'

let bench: Workbench
let browser: Console
beforeAll(async () => {
  bench = await openWorkbench()
  browser = await openConsole(bench.app)
})
afterAll(async () => {
  await browser.close()
  await bench.app.close()
})

/** An export of its own, on the page that `rest` says. */
async function visit(rest: string, work: (visit: Visit, of: Workbench, id: string) => Promise<void>) {
  const of = await neighbourOf(bench)
  const id = await of.create({ type: 'File', config: { prefix: 'lake' } }, { name: 'Stored' })
  const path = `/project/${of.workspace.project.id}/exports/${id}/${rest}`
  await browser.visit({ session: of.workspace.owner.session, path }, (page) => work(page, of, id))
}

it('settings that are not saved stay when the export is paused, and can be saved after', async () => {
  await visit('settings', async ({ page }, of, id) => {
    const name = page.getByLabel('Name', { exact: true })
    await name.fill('Typed')
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('button', { name: 'Pause export' }).click()
    await page.getByText('Stored is paused.').waitFor()
    await page.getByRole('button', { name: 'Unpause' }).waitFor()
    expect(await name.inputValue()).toBe('Typed')
    await page.getByText('There are changes that are not saved.').waitFor()
    await page.getByRole('button', { name: 'Save settings' }).click()
    await page.getByText('Everything is saved.').waitFor()
    const { body } = await of.app.get(`${of.base}/${id}/`, { key: of.key })
    expect(body).toMatchObject({ name: 'Typed', paused: true })
  })
})

it('the question whether to cancel a run does not become one whether to retry it', async () => {
  await visit('runs', async ({ page }, of, id) => {
    await of.capture(['one'])
    await page.getByRole('button', { name: 'Run now' }).click()
    await page.getByRole('button', { name: 'Cancel run' }).click()
    const question = page.getByRole('dialog', { name: 'Cancel this run' })
    await question.waitFor()
    of.app.advance(1_000)
    await of.work()
    await question.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Retry run' }).waitFor()
    expect(await page.getByRole('dialog', { name: 'Retry this run' }).count()).toBe(0)
    expect(await of.runs(id)).toMatchObject([{ status: 'Completed' }])
  })
})

it('a date without its time is refused, and Escape closes what lies on top alone', async () => {
  await visit('backfills?ask=backfill', async ({ page }, of, id) => {
    const dialog = page.getByRole('dialog', { name: 'Deliver what is missing' })
    await dialog.getByLabel('From').focus()
    await page.keyboard.type('01012026')
    await dialog.getByRole('button', { name: 'Start backfill' }).focus()
    await page.keyboard.press('ControlOrMeta+k')
    const palette = page.getByRole('combobox', { name: 'Find anything' })
    await palette.waitFor()
    await page.keyboard.press('Escape')
    await palette.waitFor({ state: 'detached' })
    await dialog.getByRole('button', { name: 'Start backfill' }).click()
    await dialog.getByText('Write the whole date, with its time.').waitFor()
    const { body } = await of.app.get(`${of.base}/${id}/backfills/`, { key: of.key })
    expect(body.results).toEqual([])
  })
})

it('a search field follows the address', async () => {
  await visit('runs', async ({ page }, of) => {
    const list = `/project/${of.workspace.project.id}/exports`
    await page.goto(list)
    const field = page.getByRole('searchbox', { name: 'Filter by name' })
    await field.fill('nothing of that name')
    await page.getByRole('heading', { name: 'No export matches.' }).waitFor()
    await page.getByRole('link', { name: 'Exports' }).first().click()
    await page.getByRole('row', { name: 'Open Stored' }).waitFor()
    expect(await field.inputValue()).toBe('')
  })
})
