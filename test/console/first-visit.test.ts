// The whole first visit, from the start command to an app that works, in the browser alone. `npm run pictures` takes its
// strip of pictures for docs/console.md on the way.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readFirstStart, type Printed } from '../end-to-end/first-start.ts'
import { buildProgram, type Program } from '../end-to-end/program.ts'
import { openConsoleAt, type Console } from './browser.ts'
import { openShop } from './shop.ts'

const FOLDER = 'docs/pictures'
const TAKES_PICTURES = process.env.TEST_PICTURES === 'on'
const PASSWORD = 'a quite long and odd passphrase 7'
const APP = `export function processEvent(event) {
  event.properties.site = new URL(event.properties.$current_url ?? 'https://unknown').hostname
  return event
}
`

let program: Program
let dataDir: string
let printed: Printed
let browser: Console
beforeAll(async () => {
  program = await buildProgram()
  dataDir = program.newDataDir()
  printed = await readFirstStart(program.serve({ DATA_DIR: dataDir }))
  browser = await openConsoleAt(printed.url, 0.5)
}, 600_000)
afterAll(async () => {
  await browser?.close()
  await program.remove()
})

async function picture(page: Page, name: string): Promise<void> {
  if (TAKES_PICTURES) await page.screenshot({ path: join(FOLDER, `first-visit-${name}.png`) })
}

const menu = (page: Page) => page.getByRole('navigation', { name: 'Pages' })

async function signIn(page: Page): Promise<void> {
  await page.getByLabel('E-mail').fill(printed.email)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByLabel('Password', { exact: true }).fill(printed.password)
  await picture(page, '1-sign-in')
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** Gives the snippet of the page, for later. */
async function firstEvent(page: Page): Promise<string> {
  await page.waitForURL('**/get-started')
  await page.getByText('Waiting for the first event').waitFor()
  const snippet = await page.getByLabel('In the head of every page').innerText()
  expect(snippet).toContain(printed.token)
  await picture(page, '2-get-started')
  await page.getByRole('button', { name: 'Fill it with sample data' }).click()
  await page.getByText('The first event is here').waitFor()
  return snippet
}

async function exportToFolder(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Create export' }).click()
  await page.getByRole('button', { name: /^Folder/ }).click()
  await page.getByRole('button', { name: 'Test the connection' }).click()
  await page.getByText('All tests passed.').waitFor()
  await picture(page, '3-export')
  await page.getByRole('button', { name: 'Choose what to export' }).click()
  await page.getByRole('button', { name: 'Choose the layout' }).click()
  await page.getByRole('button', { name: 'Choose when' }).click()
  await page.getByLabel('How often').first().click()
  await page.getByRole('option', { name: 'Every day' }).click()
  await page.getByRole('button', { name: 'Review the export' }).click()
  await page.getByLabel('Name').fill('Daily to a folder')
  await page.getByLabel('Also export everything so far').check()
  await page.getByRole('button', { name: 'Create export' }).click()
  await page.getByRole('row').getByText('Delivered').waitFor({ timeout: 90_000 })
}

async function proof(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Proof' }).click()
  const account = page.getByRole('region', { name: 'Account', exact: true })
  await account
    .getByRole('img', { name: /^Of 5,000 received: exported [\d,]+, filtered 0, .*It adds up\.$/ })
    .waitFor()
  // The runs read back what they delivered by themselves; this comes after them.
  await account.getByRole('button', { name: 'Verify now' }).click({ timeout: 180_000 })
  await page.getByText('The destination is being read back.').waitFor()
  await account.getByRole('button', { name: 'Verify now', disabled: false }).waitFor({ timeout: 90_000 })
  await account.getByText('0 problems').waitFor()
  await picture(page, '4-proof')
  const files = await readdir(join(dataDir, 'exports'), { recursive: true })
  expect(files.filter((name) => name.endsWith('.jsonl') || /\.(parquet|gz|zst)$/.test(name))).not.toEqual([])
}

async function invite(page: Page): Promise<void> {
  await menu(page).getByRole('link', { name: 'Organization' }).click()
  await page.getByRole('link', { name: 'Invites' }).click()
  await page.getByRole('button', { name: 'Invite people' }).click()
  await page.getByLabel('E-mail addresses').fill('Ann Lee <ann@example.com>')
  await page.getByRole('button', { name: 'Create invite' }).click()
  const link = (await page.getByLabel('Shown once').first().textContent())!
  await picture(page, '5-invite')
  await page.getByRole('button', { name: 'I have copied it' }).click()

  await browser.visit({ path: new URL(link).pathname }, async ({ page: joining }) => {
    await joining.getByLabel('Choose a password').fill(PASSWORD)
    await picture(joining, '6-join')
    await joining.getByRole('button', { name: 'Join' }).click()
    await joining.waitForURL('**/project/**/overview')
    await joining.getByRole('row', { name: 'Open Daily to a folder' }).waitFor()
  })
  await page.getByRole('link', { name: 'Members' }).click()
  await page.getByRole('row', { name: 'Open ann@example.com' }).waitFor()
}

async function writeApp(page: Page): Promise<void> {
  await menu(page).getByRole('link', { name: 'Apps' }).click()
  await page.getByRole('link', { name: 'Add app' }).first().click()
  await page.getByRole('link', { name: 'Write one' }).click()
  await page.getByLabel('Name').fill('Site')
  await page.getByRole('button', { name: 'Create app' }).click()
  await page.getByRole('textbox', { name: 'index.ts' }).click()
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.insertText(APP)
  const added = page.getByLabel('The event, before and after').getByText('+     "site": ')
  // A machine that does other things as well may cut a trial short: people try again.
  await expect
    .poll(
      async () => {
        await page.getByRole('button', { name: 'Try it' }).click()
        return added.waitFor({ timeout: 15_000 }).then(
          () => true,
          () => false,
        )
      },
      { timeout: 120_000 },
    )
    .toBe(true)
  await picture(page, '7-app')
  await page.getByRole('textbox', { name: 'index.ts' }).click()
  await page.keyboard.press('Control+s')
  await page.getByText('Saved.').waitFor()
  await page.getByRole('button', { name: 'Switch on' }).click()
  await page.getByText('Site is on.').waitFor()
}

/** Somebody comes to a page with the snippet; the app has written down where. */
async function seeItWork(page: Page, snippet: string): Promise<void> {
  await menu(page).getByRole('link', { name: 'Events' }).click()
  await page
    .getByRole('row', { name: /\$pageview/ })
    .first()
    .waitFor()
  const list = page.url()
  const shop = await openShop(snippet)
  const visitor = await page.context().newPage()
  await visitor.goto(shop.url)
  const row = page.getByRole('row', { name: /\$pageview/ }).first()
  await expect
    .poll(async () => {
      // Not by reloading: details that are open stay open, over the rows.
      await page.goto(list)
      await row.click()
      const details = page.getByRole('dialog')
      await details.getByText('$current_url').first().waitFor()
      return (await details.getByText('site', { exact: true }).count()) > 0
    })
    .toBe(true)
  await picture(page, '8-event')
  await visitor.close()
  shop.close()
}

it('from the printed password to an event, an export with its proof, a colleague, and an app that works', async () => {
  await browser.visit({}, async ({ page }) => {
    await signIn(page)
    const snippet = await firstEvent(page)
    await exportToFolder(page)
    await proof(page)
    await invite(page)
    await writeApp(page)
    await seeItWork(page, snippet)
  })
}, 600_000)
