// The main flow with the keyboard alone: sign in, an export with its proof, an invite, an app. Nothing here clicks.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openWorkbench, type Workbench } from '../../src/features/batch-exports/fixture/workbench.ts'
import { openConsole, type Console } from './browser.ts'

let folder: string
let bench: Workbench
let browser: Console
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-keyboard-'))
  bench = await openWorkbench({ EXPORT_DIR: folder })
  browser = await openConsole(bench.app)
  await bench.capture(['order placed', 'signed up'])
  await bench.pass()
})
afterAll(async () => {
  await browser.close()
  await bench.app.close()
  await rm(folder, { recursive: true, force: true })
})

/** No page has more stops than somebody would go through. */
const MOST_STOPS = 80

/** By Tab; what has the focus shows it. */
async function tabTo(page: Page, target: Locator, by = 'Tab'): Promise<void> {
  await target.waitFor()
  for (let stops = 0; stops < MOST_STOPS; stops++) {
    const look = await target.evaluate((element) => {
      const { activeElement, defaultView } = element.ownerDocument
      if (element !== activeElement) return 'elsewhere'
      const { outlineStyle, boxShadow } = defaultView!.getComputedStyle(element)
      const isShown = !element.matches('a, button') || outlineStyle !== 'none' || boxShadow !== 'none'
      return isShown ? 'here' : 'here, unseen'
    })
    if (look === 'here') return
    if (look !== 'elsewhere') throw new Error(`${String(target)} does not show the focus`)
    await page.keyboard.press(by)
  }
  throw new Error(`${String(target)} is not reached by ${MOST_STOPS} tabs`)
}

async function press(page: Page, target: Locator, key = 'Enter'): Promise<void> {
  await tabTo(page, target)
  await page.keyboard.press(key)
}

async function goTo(page: Page, name: string): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Find anything' }).waitFor()
  await page.keyboard.type(name)
  await page.getByRole('option', { name }).first().waitFor()
  await page.keyboard.press('Enter')
}

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })

it('goes from the sign-in to a proved export, an invite and a key', async () => {
  const { email, password } = bench.workspace.owner
  await browser.visit({ path: '/login' }, async ({ page }) => {
    await tabTo(page, page.getByLabel('E-mail'))
    await page.keyboard.type(email)
    await page.keyboard.press('Enter')
    await tabTo(page, page.getByLabel('Password', { exact: true }))
    await page.keyboard.type(password)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/overview')

    await page.reload()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.id')).toBe('content')

    await goTo(page, 'Exports')
    await press(page, page.getByRole('link', { name: 'Create export' }).first())
    await press(page, button(page, /^Folder/))
    await press(page, button(page, 'Test the connection'))
    await page.getByText('All tests passed.').waitFor()
    for (const step of ['Choose what to export', 'Choose the layout', 'Choose when', 'Review the export'])
      await press(page, button(page, step))
    await tabTo(page, page.getByLabel('Name'))
    await page.keyboard.type('By hand')
    await press(page, page.getByLabel('Also export everything so far'), 'Space')
    await press(page, button(page, 'Create export'))
    await page.waitForURL('**/backfills')
    await bench.work()
    await page.getByRole('row').getByText('Delivered').waitFor()
    // Each run is read back by itself, and nothing twice at a time.
    await bench.settle()
    await press(page, page.getByRole('link', { name: 'Proof' }))
    await page.getByRole('img', { name: /exported 2, .* It adds up\.$/ }).waitFor()
    await press(page, button(page, 'Verify now'))
    await page.getByText('The destination is being read back.').waitFor()

    await goTo(page, 'Organization')
    await press(page, page.getByRole('link', { name: 'Invites' }))
    await press(page, button(page, 'Invite people').first())
    await tabTo(page, page.getByLabel('E-mail addresses'))
    await page.keyboard.type('ann@example.com')
    await press(page, button(page, 'Create invite'))
    await page.getByText('The link of ann@example.com is shown once.').waitFor()
    await press(page, button(page, 'I have copied it'))
    // A drawer gives the focus back to what opened it.
    const invited = page.getByRole('row', { name: 'Open the invite of ann@example.com' })
    await press(page, invited)
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await invited.and(page.locator(':focus')).waitFor()

    await goTo(page, 'Create API key')
    await tabTo(page, page.getByRole('dialog', { name: 'Create key' }).getByLabel('Label'))
  })
}, 600_000)

it('writes an app, tries it and switches it on', async () => {
  const { owner, project } = bench.workspace
  await browser.visit(
    { session: owner.session, path: `/project/${project.id}/overview` },
    async ({ page }) => {
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      await goTo(page, 'Apps')
      await press(page, page.getByRole('link', { name: 'Add app' }).first())
      await press(page, page.getByRole('link', { name: 'Write one' }))
      await tabTo(page, page.getByLabel('Name'))
      await page.keyboard.type('By hand')
      await press(page, button(page, 'Create app'))
      await tabTo(page, page.getByRole('textbox', { name: 'index.ts' }))
      await button(page, 'Try it').waitFor()
      await page.keyboard.press('Control+Enter')
      await page.getByText('+     "seen_by_app": true').waitFor({ timeout: 90_000 })
      // In an editor Tab is a letter until Escape.
      await page.keyboard.press('Escape')
      await tabTo(page, button(page, 'Switch on'), 'Shift+Tab')
      await page.keyboard.press('Enter')
      await page.getByText('By hand is on.').waitFor()
    },
  )
}, 600_000)
