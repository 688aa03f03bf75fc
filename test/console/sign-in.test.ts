// The pages before signing in, as people meet them: from mails, from bookmarks, and when a session ended under them.
import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMember, createOrganization, type Workspace } from '../factories.ts'
import { startTestApp, type TestApp } from '../harness/app.ts'
import { startSmtpServer, type SmtpStandIn } from '../stand-ins/smtp.ts'
import { openConsole, type Console } from './browser.ts'

let smtp: SmtpStandIn
let app: TestApp
let browser: Console
let workspace: Workspace
beforeAll(async () => {
  smtp = await startSmtpServer()
  app = await startTestApp({ SMTP_URL: smtp.url })
  browser = await openConsole(app)
  workspace = await createOrganization(app, { name: 'Harbour & Sons' })
})
afterAll(async () => {
  await browser.close()
  await app.close()
  await smtp.close()
})

const PASSWORD = 'a quite long and odd passphrase 7'

async function linkTo(address: string): Promise<string> {
  const { links } = await smtp.waitForMail(address)
  return new URL(links[0]!).pathname
}

async function invite(address: string): Promise<string> {
  smtp.mails.length = 0
  await app.post(
    '/api/organizations/@current/invites/',
    { target_email: address },
    { key: workspace.owner.key },
  )
  return linkTo(address)
}

describe('signing in', () => {
  it('asks for the address, then the password, and goes where one wanted to go', async () => {
    const path = `/project/${workspace.project.id}/sql`
    await browser.visit({ path }, async ({ page, audit }) => {
      await page.waitForURL('**/login?next=**')
      await audit()
      await page.getByLabel('E-mail').fill(workspace.owner.email)
      await page.keyboard.press('Enter')
      await page.getByLabel('Password', { exact: true }).fill(workspace.owner.password)
      await audit()
      await page.keyboard.press('Enter')
      await page.waitForURL(`**${path}`)
      await page.getByRole('heading', { name: 'SQL' }).waitFor()
    })
  })

  it('leads to an account of one’s own where the server lets anybody make one', async () => {
    const { settings } = app.services
    const wasOpen = settings.is_signup_open
    try {
      settings.is_signup_open = true
      await browser.visit({ path: '/login' }, async ({ page, audit }) => {
        const link = page.getByRole('link', { name: 'Make an account' })
        await link.waitFor()
        await audit()
        await link.click()
        await page.waitForURL('**/signup')
        await page.getByRole('button', { name: 'Make the account' }).waitFor()
        settings.is_signup_open = false
        const told = page.waitForResponse('**/_preflight/')
        await page.goto('/login')
        await told
        await page.getByRole('link', { name: 'Forgotten password' }).waitFor()
        expect(await link.count()).toBe(0)
      })
    } finally {
      settings.is_signup_open = wasOpen
    }
  })

  it('says what was wrong, keeps the address and takes another try', async () => {
    await browser.visit({ path: '/login' }, async ({ page, expectProblem }) => {
      expectProblem(/400 .*\/api\/login\/$/)
      await page.getByLabel('E-mail').fill(workspace.owner.email)
      await page.keyboard.press('Enter')
      await page.getByLabel('Password', { exact: true }).fill('not the password')
      await page.keyboard.press('Enter')
      await page.getByRole('alert').getByText('E-mail and password do not match.').waitFor()
      expect(await page.getByLabel('E-mail').inputValue()).toBe(workspace.owner.email)
    })
  })

  it('asks for the second factor', async () => {
    const user = await createMember(app, workspace.organization)
    const setup = await app.get('/api/users/@me/two_factor_start_setup/', {
      session: user.session,
      may_show_secrets: true,
    })
    const totp = new TOTP({ secret: Secret.fromBase32(setup.body.secret) })
    await app.post(
      '/api/users/@me/two_factor_validate/',
      { token: totp.generate() },
      { session: user.session, may_show_secrets: true },
    )
    await browser.visit({ path: '/login' }, async ({ page, expectProblem, audit }) => {
      expectProblem(/401 .*\/api\/login\/$/)
      await page.getByLabel('E-mail').fill(user.email)
      await page.keyboard.press('Enter')
      await page.getByLabel('Password', { exact: true }).fill(user.password)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Second factor' }).waitFor()
      await audit()
      // The code before this one may have been used to set it up.
      await page.getByLabel('Code').fill(totp.generate({ timestamp: Date.now() + 30_000 }))
      await page.keyboard.press('Enter')
      await page.waitForURL('**/project/**')
    })
  })

  it.each([
    '//evil.example',
    'https://evil.example',
    '/\\evil.example',
    'javascript:alert(1)',
    '/\t/evil.example',
  ])('leads nowhere else: %s', async (next) => {
    await browser.visit({ path: `/login?next=${encodeURIComponent(next)}` }, async ({ page }) => {
      await page.getByLabel('E-mail').fill(workspace.owner.email)
      await page.keyboard.press('Enter')
      await page.getByLabel('Password', { exact: true }).fill(workspace.owner.password)
      await page.keyboard.press('Enter')
      await page.waitForURL('**/project/**')
      expect(new URL(page.url()).origin).toBe(browser.url)
    })
  })
})

describe('mailed links', () => {
  it('an invite makes the account and signs it in', async () => {
    const path = await invite('newcomer@example.com')
    await browser.visit({ path }, async ({ page, audit }) => {
      await page.getByRole('heading', { name: 'Join Harbour & Sons' }).waitFor()
      await audit()
      await page.getByLabel('First name').fill('Nora')
      await page.getByLabel('Choose a password').fill(PASSWORD)
      await page.getByRole('button', { name: 'Join' }).click()
      await page.waitForURL('**/project/**')
      await page.getByRole('button', { name: 'Organization: Harbour & Sons' }).waitFor()
    })
    const { body } = await app.get('/api/organizations/@current/members/', { key: workspace.owner.key })
    expect(body.results.map((member: { user: { email: string } }) => member.user.email)).toContain(
      'newcomer@example.com',
    )
  })

  it('an invite of somebody with an account leads to signing in and back, without a new password', async () => {
    const other = await createOrganization(app)
    const path = await invite(other.owner.email)
    await browser.visit({ path }, async ({ page, expectProblem }) => {
      expectProblem(/400 .*\/api\/signup\//)
      await page.waitForURL('**/login?next=**')
      await page.getByLabel('E-mail').fill(other.owner.email)
      await page.keyboard.press('Enter')
      await page.getByLabel('Password', { exact: true }).fill(other.owner.password)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Join Harbour & Sons' }).waitFor()
      expect(await page.getByLabel('Choose a password').count()).toBe(0)
      await page.getByRole('button', { name: 'Join' }).click()
      await page.getByRole('button', { name: 'Organization: Harbour & Sons' }).waitFor()
    })
  })

  it('a dead invite says why', async () => {
    await browser.visit(
      { path: '/signup/00000000-0000-4000-8000-000000000000' },
      async ({ page, expectProblem, audit }) => {
        expectProblem(/400 .*\/api\/signup\//)
        await page.getByRole('heading', { name: 'This invite cannot be accepted' }).waitFor()
        await audit()
      },
    )
  })

  it('a reset sets the new password once', async () => {
    const user = await createMember(app, workspace.organization)
    smtp.mails.length = 0
    await browser.visit({ path: '/reset' }, async ({ page, audit, expectProblem }) => {
      await audit()
      await page.getByLabel('E-mail').fill(user.email)
      await page.getByRole('button', { name: 'Send me a link' }).click()
      await page.getByRole('heading', { name: 'Check your mail' }).waitFor()
      const path = await linkTo(user.email)
      await page.goto(path)
      await page.getByLabel('New password').fill('short')
      expectProblem(/400 .*\/api\/reset\//)
      await page.getByRole('button', { name: 'Set password' }).click()
      await page.getByText('at least 8').waitFor()
      await audit()
      await page.getByLabel('New password').fill(PASSWORD)
      await page.getByRole('button', { name: 'Set password' }).click()
      await page.getByText('Your new password is set.').waitFor()
      await page.goto(path)
      await page.getByRole('heading', { name: 'This link does not work' }).waitFor()
    })
    expect((await app.post('/api/login/', { email: user.email, password: PASSWORD })).status).toBe(200)
  })

  it('a verification takes a press of a button: mail scanners look at pages too', async () => {
    const { body } = await app.post(
      '/api/organizations/@current/invites/',
      { target_email: 'passed-on@example.com', send_email: false },
      { key: workspace.owner.key },
    )
    smtp.mails.length = 0
    await browser.visit({ path: new URL(body.link).pathname }, async ({ page, audit }) => {
      await page.getByLabel('First name').fill('Nora')
      await page.getByLabel('Choose a password').fill(PASSWORD)
      await page.getByRole('button', { name: 'Join' }).click()
      await page.getByRole('heading', { name: 'Check your mail' }).waitFor()
      const verify = await linkTo('passed-on@example.com')
      await page.goto(verify)
      await page.getByRole('button', { name: 'This is my address' }).waitFor()
      await audit()
      expect(
        (await app.post('/api/login/', { email: 'passed-on@example.com', password: PASSWORD })).body.code,
      ).toBe('not_verified')
      await page.getByRole('button', { name: 'This is my address' }).click()
      await page.getByText('Your address is verified.').waitFor()
    })
    expect(
      (await app.post('/api/login/', { email: 'passed-on@example.com', password: PASSWORD })).status,
    ).toBe(200)
  })
})
