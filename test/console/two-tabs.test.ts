// Two tabs of one browser: what one changes the other sees when somebody comes back to it, and nothing typed is lost.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createMember, createOrganization, type Workspace } from '../factories.ts'
import { startTestApp, type TestApp } from '../harness/app.ts'
import { openConsole, type Console } from './browser.ts'

let app: TestApp
let browser: Console
let home: Workspace
beforeAll(async () => {
  app = await startTestApp()
  browser = await openConsole(app)
  home = await createOrganization(app, { name: 'Harbour & Sons' })
})
afterAll(async () => {
  await browser.close()
  await app.close()
})

/** Driven tabs have the focus all the time, and are not told. */
const comeBackTo = (page: Page) => page.evaluate("dispatchEvent(new Event('focus'))")

it('a change in one is seen in the other, drafts stay, and signing out is noticed where one comes back', async () => {
  const base = `/organization/${home.organization.id}`
  await browser.visit(
    { session: home.owner.session, path: `${base}/general` },
    async ({ page: one, expectProblem }) => {
      const two = await one.context().newPage()
      await two.goto(`${base}/invites`)
      await two.getByRole('button', { name: 'Invite people' }).click()
      const addresses = two.getByLabel('E-mail addresses')
      await addresses.fill('ann@example.com')

      await one.getByLabel('Name').fill('Harbour & Daughters')
      await one.getByRole('button', { name: /^Save/ }).click()
      await one.getByText('The settings were saved.').waitFor()
      await comeBackTo(two)
      await two.getByText('Harbour & Daughters').first().waitFor()
      expect(await addresses.inputValue()).toBe('ann@example.com')

      // Typed here, changed there: both are kept.
      await one.getByLabel('Name').fill('Harbour, half typed')
      await app.patch(
        `/api/organizations/${home.organization.id}/`,
        { members_can_invite: false },
        { key: home.owner.key },
      )
      await comeBackTo(one)
      await expect
        .poll(() => one.getByRole('switch', { name: 'Members may invite members' }).isChecked())
        .toBe(false)
      expect(await one.getByLabel('Name').inputValue()).toBe('Harbour, half typed')

      await one.keyboard.press('Control+k')
      await one.getByRole('combobox', { name: 'Find anything' }).fill('sign out')
      await one.keyboard.press('Enter')
      await one.waitForURL('**/login')
      expectProblem(/401 /)
      await comeBackTo(two)
      await two.getByRole('dialog', { name: 'You were signed out' }).waitFor()
      await expect.poll(() => two.evaluate('document.activeElement.type')).toBe('password')
      await two.keyboard.insertText(home.owner.password)
      await two.keyboard.press('Enter')
      await two.getByRole('dialog', { name: 'You were signed out' }).waitFor({ state: 'detached' })
      expect(await addresses.inputValue()).toBe('ann@example.com')
      await two.getByRole('button', { name: 'Create invite' }).click()
      await two.getByText('The link of ann@example.com is shown once.').waitFor()
    },
  )
})

it('whoever closes the question is told that they are signed out, and can sign in from there', async () => {
  const path = `/organization/${home.organization.id}/general`
  const { session, password } = await createMember(app, home.organization)
  await browser.visit({ session, path }, async ({ page, expectProblem }) => {
    await page.getByLabel('Name').waitFor()
    expectProblem(/401 /)
    await page.context().clearCookies()
    await page.getByRole('link', { name: 'Members' }).click()
    const question = page.getByRole('dialog', { name: 'You were signed out' })
    await question.waitFor()
    await page.keyboard.press('Escape')
    await question.waitFor({ state: 'detached' })
    await page.getByText('You are signed out.').waitFor()

    // What the page asks for by itself does not open it again.
    const refused = page.waitForResponse((response) => response.status() === 401)
    await comeBackTo(page)
    await (await refused).finished()
    await page.evaluate(
      'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))',
    )
    expect(await question.count()).toBe(0)

    await page.getByRole('button', { name: 'Sign in' }).click()
    await question.getByLabel('Password', { exact: true }).fill(password)
    await page.keyboard.press('Enter')
    await page.getByRole('table', { name: 'Members' }).waitFor()
  })
})
