// One's own account: name and address, password and second factor, keys, browsers, mails.
import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSession } from '../../src/features/sign-in/sessions.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { createMember, createOrganization, type TestUser, type Workspace } from '../factories.ts'
import { startTestApp, type TestApp } from '../harness/app.ts'
import { startSmtpServer, type SmtpStandIn } from '../stand-ins/smtp.ts'
import { fits, openConsole, type Console } from './browser.ts'

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

const MINUTE_MS = 60_000
const PASSWORD = 'a quite long and odd passphrase 7'
const makeUser = () => createMember(app, workspace.organization)
const me = async (user: TestUser) => (await app.get('/api/users/@me/', { session: user.session })).body

describe('profile', () => {
  it('changes the name; a new address waits for its link, or is given up', async () => {
    const user = await makeUser()
    await browser.visit(
      { session: user.session, path: '/account/profile' },
      async ({ page, audit, expectProblem }) => {
        await page.getByLabel('First name').fill('Nora')
        await page.getByRole('button', { name: 'Save name' }).click()
        await page.getByText('Your name was changed.').waitFor()
        expect(await me(user)).toMatchObject({ first_name: 'Nora' })

        expectProblem(/400 .*\/api\/users\/%40me\/$/)
        await page.getByLabel('E-mail').fill(workspace.owner.email)
        await page.getByRole('button', { name: 'Change address' }).click()
        await page.getByText('There is an account with this address already.').waitFor()
        await audit()
        await page.getByLabel('E-mail').fill('nora@elsewhere.example')
        await page.getByRole('button', { name: 'Change address' }).click()
        await page.getByText('A link was sent to nora@elsewhere.example.').waitFor()
        expect(await me(user)).toMatchObject({ email: user.email, pending_email: 'nora@elsewhere.example' })
        await audit()
        await page.getByRole('button', { name: 'Keep the old one' }).click()
        await page.getByText(`Your address stays ${user.email}.`).waitFor()
        expect(await me(user)).toMatchObject({ pending_email: null })
      },
    )
  })

  it('deletes the account once its address is typed', async () => {
    const user = await makeUser()
    await browser.visit({ session: user.session, path: '/account/profile' }, async ({ page, audit }) => {
      await page.getByRole('button', { name: 'Delete account' }).click()
      const dialog = page.getByRole('dialog')
      const confirm = dialog.getByRole('button', { name: 'Delete account' })
      expect(await confirm.isDisabled()).toBe(true)
      await audit()
      await dialog.getByLabel(/Type/).fill(user.email)
      await confirm.click()
      await page.waitForURL('**/login')
    })
    expect((await app.get('/api/users/@me/', { session: user.session })).status).toBe(401)
  })
})

describe('sign-in', () => {
  it('changes the password, and other browsers are signed out', async () => {
    const user = await makeUser()
    const other = (await openSession(app.db, user.id, false, app.services.now()))!
    await browser.visit(
      { session: user.session, path: '/account/sign-in' },
      async ({ page, audit, expectProblem }) => {
        expectProblem(/400 .*\/api\/users\/%40me\/$/)
        await page.getByLabel('Current password').fill('not it')
        await page.getByLabel('New password').fill(PASSWORD)
        await page.getByRole('button', { name: 'Change password' }).click()
        await page.getByText('The current password is wrong.').waitFor()
        await audit()
        await page.getByLabel('Current password').fill(user.password)
        await page.getByRole('button', { name: 'Change password' }).click()
        await page.getByText('Your password was changed.').waitFor()
        expect(await page.getByLabel('New password').inputValue()).toBe('')
      },
    )
    expect((await app.get('/api/users/@me/', { session: other.token })).status).toBe(401)
    expect((await app.post('/api/login/', { email: user.email, password: PASSWORD })).status).toBe(200)
  })

  it('sets up a second factor, gives backup codes once, and switches it off', async () => {
    const user = await makeUser()
    await browser.visit(
      { session: user.session, path: '/account/sign-in' },
      async ({ page, audit, expectProblem }) => {
        await page.getByRole('button', { name: 'Set up second factor' }).click()
        await page.getByRole('img', { name: 'QR code of the secret' }).waitFor()
        await audit()
        const shown = await page.getByText(/^([A-Z2-7]{4} )+[A-Z2-7]{1,4}$/).textContent()
        const totp = new TOTP({ secret: Secret.fromBase32(shown!.replaceAll(' ', '')) })
        expectProblem(/400 .*two_factor_validate/)
        await page.getByLabel('First code').fill('000000')
        await page.keyboard.press('Enter')
        await page.getByText('The code does not fit').waitFor()
        await page.getByLabel('First code').fill(totp.generate({ timestamp: app.services.now().getTime() }))
        await page.keyboard.press('Enter')
        const codes = (await page.getByLabel('Shown once').textContent())!.trim().split('\n')
        expect(codes).toHaveLength(10)
        await audit()
        await page.getByRole('button', { name: 'I have kept them' }).click()
        await page.getByText('10 backup codes are left.').waitFor()
        expect(await me(user)).toMatchObject({ is_2fa_enabled: true })

        await page.getByRole('button', { name: 'New backup codes' }).click()
        await page.getByRole('button', { name: 'Make new codes' }).click()
        await page.getByLabel('Shown once').waitFor()
        expect((await page.getByLabel('Shown once').textContent())!.split('\n')).not.toContain(codes[0])
        await page.getByRole('button', { name: 'I have kept them' }).click()
        await page.getByRole('button', { name: 'Switch off' }).click()
        await page.getByRole('dialog').getByRole('button', { name: 'Switch off' }).click()
        await page.getByRole('button', { name: 'Set up second factor' }).waitFor()
        expect(await me(user)).toMatchObject({ is_2fa_enabled: false })
      },
    )
  })
})

describe('an organization that demands a second factor', () => {
  it('says so on each of its pages, leads to setting one up, and opens afterwards', async () => {
    const strict = await createOrganization(app, { name: 'Strict' })
    const member = await createMember(app, strict.organization)
    await app.db.run(sql`UPDATE organization SET enforce_2fa = true WHERE id = ${strict.organization.id}`)
    const path = `/organization/${strict.organization.id}/members`
    await browser.visit({ session: member.session, path }, async ({ page, audit, expectProblem }) => {
      expectProblem(/403|demands two-factor authentication/)
      const needed = page.getByRole('heading', { name: 'Second factor needed' })
      await needed.waitFor()
      await page.getByRole('link', { name: 'Events' }).click()
      await page.waitForURL(`**/project/${strict.project.id}/events`)
      await needed.waitFor()
      await audit()
      await page.getByRole('link', { name: 'Set up second factor' }).click()
      await page.waitForURL('**/account/sign-in?open=second-factor')
      const shown = await page.getByText(/^([A-Z2-7]{4} )+[A-Z2-7]{1,4}$/).textContent()
      const totp = new TOTP({ secret: Secret.fromBase32(shown!.replaceAll(' ', '')) })
      await page.getByLabel('First code').fill(totp.generate({ timestamp: app.services.now().getTime() }))
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'I have kept them' }).click()
      await page.getByRole('link', { name: 'Organization', exact: true }).click()
      await page.getByRole('heading', { name: 'Strict' }).waitFor()
      await page.getByRole('link', { name: 'Members' }).click()
      await page.getByRole('row', { name: `Open ${member.email}` }).waitFor()
      await page.getByRole('link', { name: 'Events' }).click()
      await page.getByRole('heading', { name: 'Events' }).waitFor()
    })
  })
})

describe('personal API keys', () => {
  it('a question for the password in the middle loses nothing that was typed', async () => {
    const user = await makeUser()
    await browser.visit(
      { session: user.session, path: '/account/keys' },
      async ({ page, audit, expectProblem }) => {
        await page.getByRole('button', { name: 'Create key' }).click()
        await page.getByLabel('Label').fill('Notebook')
        await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).hover()
        await page.getByText('Choose at least one thing that the key may do.').waitFor()
        await page.getByRole('radiogroup', { name: 'Exports' }).getByText('Read').click()
        await page.getByRole('radiogroup', { name: 'Projects' }).getByText('Change').click()
        await page.getByLabel('Only in these projects').check()
        // Limited to nothing yet: the API would take that for no limit at all.
        expect(await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).isDisabled()).toBe(
          true,
        )
        await page.getByRole('checkbox', { name: workspace.project.name }).check()
        await page.getByText('30 days').click()
        await audit()

        app.advance(16 * MINUTE_MS)
        expectProblem(/403 .*\/api\/personal_api_keys\/$/)
        expectProblem(/400 .*\/api\/login\/confirm\/$/)
        await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
        const question = page.getByRole('dialog', { name: 'Confirm that it is you' })
        await question.getByLabel('Password', { exact: true }).fill('not it')
        await page.keyboard.press('Enter')
        await question.getByText('The password is wrong.').waitFor()
        await audit()
        await question.getByLabel('Password', { exact: true }).fill(user.password)
        await page.keyboard.press('Enter')

        const value = (await page.getByLabel('Shown once').textContent())!
        await audit()
        // One Escape or a click beside it does not lose what is shown once.
        await page.keyboard.press('Escape')
        await page.getByText('It is not shown again. Copy it before you close this.').waitFor()
        await page.mouse.click(5, 400)
        expect(await page.getByLabel('Shown once').textContent()).toBe(value)
        const { body } = await app.get('/api/personal_api_keys/@current/', { key: value })
        expect(body).toMatchObject({
          label: 'Notebook',
          scopes: ['batch_export:read', 'project:write'],
          scoped_teams: [workspace.project.id],
          expires_at: expect.any(String),
        })
        await page.getByRole('button', { name: 'I have copied it' }).click()
        await page.getByRole('row', { name: 'Open key Notebook' }).waitFor()
        await page.reload()
        expect(await page.getByText(value).count()).toBe(0)
      },
    )
  })

  it('are changed, given a new value and deleted', async () => {
    const user = await makeUser()
    await browser.visit({ session: user.session, path: '/account/keys' }, async ({ page, audit }) => {
      await page.getByRole('row', { name: 'Open key test' }).click()
      await page.getByLabel('Only what is chosen here').check()
      await page.getByRole('radiogroup', { name: 'Your account' }).getByText('Read').click()
      await page.getByLabel('Label').fill('Narrow')
      await page.getByRole('button', { name: 'Save changes' }).click()
      await page.getByText('Key Narrow was changed.').waitFor()
      expect((await app.get('/api/personal_api_keys/@current/', { key: user.key })).body).toMatchObject({
        label: 'Narrow',
        scopes: ['user:read'],
      })
      await page.getByRole('row', { name: 'Open key Narrow' }).click()
      await page.getByRole('button', { name: 'Replace value' }).click()
      await audit()
      await page
        .getByRole('dialog', { name: /^Replace/ })
        .getByRole('button', { name: 'Replace value' })
        .click()
      await page.getByLabel('Shown once').waitFor()
      expect((await app.get('/api/users/@me/', { key: user.key })).status).toBe(401)
      // Once it is copied there is nothing to keep.
      await page.context().grantPermissions(['clipboard-write'])
      await page.getByRole('button', { name: 'Copy key' }).click()
      await page.getByRole('button', { name: 'Copied', exact: true }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('row', { name: 'Open key Narrow' }).click()
      await page.getByRole('button', { name: 'Delete key' }).click()
      await page
        .getByRole('dialog', { name: /^Delete/ })
        .getByRole('button', { name: 'Delete key' })
        .click()
      await page.getByText('You have no personal API key yet.').waitFor()
      await audit()
    })
  })
})

describe('browsers, organizations, notifications', () => {
  it('signs other browsers out, and says which one this is', async () => {
    const user = await makeUser()
    const others = await Promise.all(
      [1, 2].map(() => openSession(app.db, user.id, false, app.services.now())),
    )
    const isIn = async (token: string) =>
      (await app.get('/api/users/@me/', { session: token })).status === 200
    await browser.visit(
      { session: user.session, path: '/account/browsers', width: 360 },
      async ({ page, audit }) => {
        await page.getByText('this one').waitFor()
        await fits(page)
        await audit()
        await page
          .getByRole('button', { name: /^Sign out Unknown/ })
          .first()
          .click()
        await page.getByRole('button', { name: 'Sign out browser' }).click()
        await page.getByText('was signed out.').waitFor()
        const left = await Promise.all(others.map((other) => isIn(other!.token)))
        expect(left.filter(Boolean)).toHaveLength(1)
        await page.getByRole('button', { name: 'Sign out all others' }).click()
        await page.getByRole('button', { name: 'Sign out others' }).click()
        await page.getByText('One other browser was signed out.').waitFor()
      },
    )
    expect([await isIn(others[0]!.token), await isIn(others[1]!.token), await isIn(user.session)]).toEqual([
      false,
      false,
      true,
    ])
  })

  it('signs out of this browser from the rail and from the list, and of all at once', async () => {
    const user = await makeUser()
    const open = async () => (await openSession(app.db, user.id, false, app.services.now()))!.token
    const isIn = async (token: string) =>
      (await app.get('/api/users/@me/', { session: token })).status === 200
    const [railed, listed, one, other] = [await open(), await open(), await open(), await open()]
    await browser.visit({ session: railed, path: '/account/profile' }, async ({ page }) => {
      await page.getByRole('button', { name: 'Sign out', exact: true }).click()
      await page.waitForURL('**/login')
    })
    await browser.visit({ session: listed, path: '/account/browsers' }, async ({ page }) => {
      await page.getByRole('button', { name: 'Sign out of this browser' }).click()
      await page.waitForURL('**/login')
    })
    expect([await isIn(railed), await isIn(listed), await isIn(one)]).toEqual([false, false, true])
    await browser.visit({ session: one, path: '/account/browsers' }, async ({ page, audit }) => {
      await page.getByRole('button', { name: 'Sign out everywhere' }).click()
      await page.getByText('Every browser has to sign in again, this one too.').waitFor()
      await audit()
      await page.getByRole('button', { name: 'Sign out all browsers' }).click()
      await page.waitForURL('**/login')
    })
    expect([await isIn(one), await isIn(other), await isIn(user.session)]).toEqual([false, false, false])
  })

  it('Ctrl-K finds parts of pages, and projects of every organization', async () => {
    const user = await makeUser()
    const other = await createOrganization(app, { name: 'Pier' })
    await app.db.run(sql`
      INSERT INTO membership (id, organization_id, user_id, level, joined_at, updated_at)
      VALUES (gen_random_uuid(), ${other.organization.id}, ${user.id}, 1, now(), now())`)
    await app.db.run(sql`UPDATE project SET name = 'Ferries' WHERE id = ${other.project.id}`)
    await browser.visit({ session: user.session, path: '/account/profile' }, async ({ page }) => {
      const find = async (words: string, found: RegExp) => {
        await page.keyboard.press('Control+k')
        await page.getByRole('combobox', { name: 'Find anything' }).fill(words)
        await page.getByRole('option', { name: found }).first().click()
      }
      await page.getByRole('heading', { name: 'Account' }).waitFor()
      await find('members', /^Members/)
      await page.waitForURL('**/members')
      await find('service keys', /^Service keys/)
      await page.waitForURL('**/organization/**/keys')
      await find('api keys', /^API keys/)
      await page.waitForURL('**/account/keys')
      await find('browsers', /^Browsers/)
      await page.waitForURL('**/account/browsers')
      await find('ferries', /^Ferries.*Project of Pier/)
      await page.waitForURL(`**/project/${other.project.id}/**`)
      await page.getByRole('button', { name: 'Organization: Pier' }).waitFor()
    })
    expect(await me(user)).toMatchObject({ team: { id: other.project.id } })
  })

  it('makes an organization of one’s own; mails are switched one by one', async () => {
    const user = await makeUser()
    await browser.visit(
      { session: user.session, path: '/account/organizations' },
      async ({ page, audit }) => {
        await page.getByRole('button', { name: 'Create organization' }).waitFor()
        await audit()
        await page.getByRole('button', { name: 'Create organization' }).click()
        await page.getByLabel('Name').fill('Second Harbour')
        await page.getByRole('dialog').getByRole('button', { name: 'Create organization' }).click()
        await page.getByRole('button', { name: 'Organization: Second Harbour' }).waitFor()

        await page.goto('/account/notifications')
        const mails = page.getByRole('switch', { name: 'New members of Harbour & Sons' })
        expect(await mails.isChecked()).toBe(true)
        await audit()
        await mails.click()
        await page.getByText('you get no mails.').waitFor()
        const { notification_settings } = await me(user)
        expect(notification_settings.organization_member_join_email_disabled).toEqual({
          [workspace.organization.id]: true,
        })
        await page.reload()
        await expect.poll(() => mails.isChecked()).toBe(false)
      },
    )
  })

  it('every tab fits a phone', async () => {
    const user = await makeUser()
    await browser.visit({ session: user.session, path: '/account/profile', width: 360 }, async ({ page }) => {
      for (const tab of [
        'profile',
        'sign-in',
        'sign-in?open=second-factor',
        'keys?open=new',
        'organizations',
        'notifications',
      ]) {
        await page.goto(`/account/${tab}`)
        await page.getByRole('heading', { name: 'Account' }).waitFor({ state: 'attached' })
        await expect.poll(() => page.getByRole('status', { name: 'Loading' }).count()).toBe(0)
        await fits(page)
      }
    })
  })
})
