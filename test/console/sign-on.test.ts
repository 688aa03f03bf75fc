// Sign-on as people meet it: an admin sets a provider up without a manual, people of the domain come in by it, and whoever
// does not is told why and what to do.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addSamlDomain } from '../../src/features/sign-in/saml/fixture/domain.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { createMember, createOrganization, createUser, type TestUser, type Workspace } from '../factories.ts'
import { startTestApp, type TestApp } from '../harness/app.ts'
import { startDnsServer, type DnsStandIn } from '../stand-ins/dns.ts'
import { startSamlSite, type SamlSite } from '../stand-ins/saml-site.ts'
import { startSmtpServer, type SmtpStandIn } from '../stand-ins/smtp.ts'
import { fits, openConsoleByName, type Console } from './browser.ts'

const DOMAIN = 'example.com'

let dns: DnsStandIn
let smtp: SmtpStandIn
let app: TestApp
let provider: SamlSite
let browser: Console
/** Its people live in the domain. */
let workspace: Workspace
let domains: string
beforeAll(async () => {
  dns = await startDnsServer()
  smtp = await startSmtpServer()
  app = await startTestApp({
    DNS_SERVERS: dns.address,
    SMTP_URL: smtp.url,
    OUTBOUND_ALLOW: '127.0.0.1',
    SOCIAL_AUTH_GITHUB_KEY: 'a client',
    SOCIAL_AUTH_GITHUB_SECRET: 'of ours',
  })
  provider = await startSamlSite(app.services.settings.site_url)
  browser = await openConsoleByName(app)
  workspace = await createOrganization(app, { name: 'Harbour & Sons' })
  domains = `/organization/${workspace.organization.id}/domains`
})
afterAll(async () => {
  await browser.close()
  provider.close()
  await app.close()
  await smtp.close()
  await dns.close()
})

const part = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Domain' }).getByRole('link', { name }).click()

async function giveAddress(page: Page, email: string): Promise<void> {
  await page.getByLabel('E-mail').fill(email)
  await page.getByRole('button', { name: 'Continue' }).click()
}

/** The browser's session, so that no answer or log may repeat it. */
async function plantSession(page: Page): Promise<void> {
  const cookies = await page.context().cookies()
  for (const { name, value } of cookies) if (name === 'sessionid') app.canary.plant('session token', value)
}

const domainOf = async () => {
  const path = `/api/organizations/${workspace.organization.id}/domains/`
  return (await app.get(path, { key: workspace.owner.key })).body.results[0]
}

describe('SAML', () => {
  it('is set up from the console alone: proved, tried out, demanded', async () => {
    const { owner } = workspace
    provider.signsIn(owner.email)
    await browser.visit({ session: owner.session, path: domains }, async ({ page, audit }) => {
      await page.getByRole('button', { name: 'Add domain' }).click()
      await page.getByRole('textbox', { name: 'Domain' }).fill(DOMAIN)
      await page.getByRole('dialog').getByRole('button', { name: 'Add domain' }).click()
      await page.getByText(`_posthog-challenge.${DOMAIN}`).waitFor()
      dns.setTxt(`_posthog-challenge.${DOMAIN}`, [(await domainOf()).verification_challenge])
      await page.getByRole('button', { name: 'Check now' }).click()
      const saml = page.getByRole('radio', { name: 'SAML' })
      await page.getByText('Set SAML up first.').waitFor()
      expect(await saml.isDisabled()).toBe(true)
      await page.getByRole('switch', { name: 'Everybody of this domain may join' }).click()
      await page.getByText(`Everybody of ${DOMAIN} may join.`).waitFor()

      await part(page, 'SAML')
      await page.getByText('http://longshore.test/complete/saml/').waitFor()
      await page.getByText((await domainOf()).id, { exact: true }).waitFor()
      await page.getByLabel('Metadata address', { exact: true }).last().fill(provider.metadata_url)
      await page.getByRole('button', { name: 'Read metadata' }).click()
      await page.getByLabel('Entity id of the provider').waitFor()
      expect(await page.getByLabel('Entity id of the provider').inputValue()).toBe(provider.idp.entity_id)
      await page.getByRole('list', { name: 'Certificates' }).getByText('good until').waitFor()
      await audit()

      const opening = page.waitForEvent('popup')
      await page.getByRole('button', { name: 'Test sign-in' }).click()
      const result = await opening
      await result.getByRole('heading', { name: 'Test passed' }).waitFor()
      await result.getByText('This was a test: nothing was changed by it.').waitFor()
      expect(await result.getByRole('list', { name: 'Checks' }).getByText('failed').count()).toBe(0)
      await result
        .getByRole('table', { name: 'What the provider sent' })
        .getByText(owner.email)
        .first()
        .waitFor()
      await result.close()

      await part(page, 'General')
      await page.getByText('An admin has to sign in this way first').first().waitFor()
      expect(await saml.isDisabled()).toBe(true)
      await page.getByRole('link', { name: 'Sign in with SAML now' }).click()
      await expect.poll(() => saml.isEnabled()).toBe(true)
      await plantSession(page)
      await saml.click()
      await page.getByRole('button', { name: 'Demand SAML' }).click()
      await page.getByText(`People of ${DOMAIN} sign in with SAML from now on.`).waitFor()
      // The session that has done it was opened that way, and goes on.
      await page.reload()
      await expect.poll(() => saml.isChecked()).toBe(true)
      await audit()
    })
    expect(await domainOf()).toMatchObject({ sso_enforcement: 'saml', jit_provisioning_enabled: true })
  })

  it('lets a person of the domain in, who joins by it', async () => {
    provider.signsIn(`ada@${DOMAIN}`)
    const path = `/organization/${workspace.organization.id}/members`
    await browser.visit({ path }, async ({ page, audit }) => {
      await page.getByRole('link', { name: 'Sign in with GitHub' }).waitFor()
      await giveAddress(page, `ada@${DOMAIN}`)
      await page.getByText('Passwords are off for it.').waitFor()
      await audit()
      expect(await page.getByLabel('Password').count()).toBe(0)
      await page.keyboard.press('Enter')
      await page.waitForURL(`**${path}`)
      await plantSession(page)
      await page.getByText('(you)').waitFor()

      await page.goto('/account/sign-in')
      await page.getByText('This is the only way into your account: set a password first.').waitFor()
      const remove = page.getByRole('button', { name: `Remove SAML ada@${DOMAIN}` })
      expect(await remove.getAttribute('aria-disabled')).toBe('true')
      await audit()
    })
  })

  it('refuses with a reason and an id, by which an admin finds the checks', async () => {
    provider.signsIn('eve@elsewhere.example')
    let id = ''
    await browser.visit({ path: '/login' }, async ({ page, audit }) => {
      await giveAddress(page, `eve@${DOMAIN}`)
      await page.getByRole('link', { name: 'Sign in with SAML' }).click()
      await page.getByRole('heading', { name: 'You were not signed in' }).waitFor()
      await page.getByText('an address of another domain').waitFor()
      id = new URL(page.url()).searchParams.get('sign_in')!
      await page.getByText(id).waitFor()
      await audit()
      await page.getByRole('link', { name: 'Start again' }).click()
      await page.getByLabel('E-mail').waitFor()
      // Texts never come from the address.
      await page.goto('/login?error_code=%3Cb%3Emine%3C/b%3E')
      await page.getByLabel('E-mail').waitFor()
    })
    provider.signsIn(workspace.owner.email)
    const { id: open } = await domainOf()
    await browser.visit({ path: `${domains}?open=${open}&part=sign-ins` }, async ({ page, audit }) => {
      await giveAddress(page, workspace.owner.email)
      await page.getByRole('link', { name: 'Sign in with SAML' }).click()
      await page.getByRole('row').filter({ hasText: 'Refused' }).click()
      await page.waitForURL((url) => url.searchParams.get('sign_in') === id)
      await plantSession(page)
      await page.getByText('an address of another domain').waitFor()
      await page
        .getByRole('table', { name: 'What the provider sent' })
        .getByText('eve@elsewhere')
        .first()
        .waitFor()
      await audit()
      await page.getByRole('button', { name: 'All sign-ins' }).click()
      await page.getByRole('row').filter({ hasText: 'Test passed' }).waitFor()
      await page.setViewportSize({ width: 360, height: 800 })
      for (const name of ['general', 'saml', 'oidc', 'scim', 'sign-ins', 'keys']) {
        await page.goto(`${domains}?open=${open}&part=${name}`)
        await page.getByRole('navigation', { name: 'Domain' }).waitFor()
        await expect.poll(() => page.getByRole('status', { name: 'Loading' }).count()).toBe(0)
        await fits(page)
      }
    })
  })

  it('owners come in by mail all the same', async () => {
    const { owner } = workspace
    smtp.mails.length = 0
    await browser.visit({ path: '/login' }, async ({ page, audit, expectProblem }) => {
      await giveAddress(page, owner.email)
      await page.getByRole('button', { name: 'Owner: sign in by mail' }).click()
      await audit()
      await page.getByRole('button', { name: 'Send me a link' }).click()
      await page.getByRole('heading', { name: 'Check your mail' }).waitFor()
      const { links } = await smtp.waitForMail(
        ({ recipients, subject }) =>
          recipients.includes(owner.email) && subject.includes('without your identity provider'),
      )
      await page.goto(new URL(links[0]!).pathname)
      await audit()
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.waitForURL('**/project/**')
      await plantSession(page)
      expectProblem(/400 .*\/api\/login\/recovery\//)
      await page.goto(new URL(links[0]!).pathname)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('heading', { name: 'This link does not work' }).waitFor()
    })
  })
})

describe('an account that was there before', () => {
  let other: Workspace
  let carl: TestUser
  beforeAll(async () => {
    other = await createOrganization(app, { name: 'Quay' })
    await addSamlDomain(app.db, other.organization.id, 'quay.example', provider.idp)
    carl = await createUser(app, { email: 'carl@quay.example' })
  })

  it('is linked by its password, once, and can be unlinked', async () => {
    provider.signsIn(carl.email)
    await browser.visit({ path: '/login?next=/account/sign-in' }, async ({ page, audit, expectProblem }) => {
      await giveAddress(page, carl.email)
      await page.getByLabel('Password', { exact: true }).waitFor()
      await audit()
      await page.getByRole('link', { name: 'Sign in with SAML' }).click()
      await page.getByRole('heading', { name: 'Is this your account?' }).waitFor()
      await audit()
      expectProblem(/400 .*\/api\/login\/link\/$/)
      await page.getByLabel('Password', { exact: true }).fill('not the password')
      await page.getByRole('button', { name: 'Link and sign in' }).click()
      await page.getByText('The password is wrong.').waitFor()
      await page.getByLabel('Password', { exact: true }).fill(carl.password)
      await page.getByRole('button', { name: 'Link and sign in' }).click()
      await page.waitForURL('**/account/sign-in')
      await plantSession(page)
      await page.getByRole('button', { name: `Remove SAML ${carl.email}` }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Remove provider' }).click()
      await page.getByText('You have not signed in through a provider yet.').waitFor()
    })
    expect(await app.db.rows(sql`SELECT FROM identity WHERE user_id = ${carl.id}`)).toEqual([])
  })

  it('is led to the provider when its password is off from one moment to the next', async () => {
    const { session, email } = carl
    await browser.visit({ session, path: '/account/profile' }, async ({ page, audit, expectProblem }) => {
      await page.getByLabel('First name').waitFor()
      await app.db.run(sql`UPDATE domain SET sso_enforcement = 'saml' WHERE domain = 'quay.example'`)
      expectProblem(/401 /)
      await page.getByRole('link', { name: 'API keys' }).click()
      await page.getByText('it signs in through an identity provider').waitFor()
      await audit()
      await page.getByRole('link', { name: 'Go to sign-in' }).click()
      expect(await page.getByLabel('E-mail').inputValue()).toBe(email)
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByRole('link', { name: 'Sign in with SAML' }).click()
      await page.waitForURL('**/account/keys')
      await plantSession(page)
    })
  })
})

describe('the other parts of a domain', () => {
  it('OpenID Connect, SCIM and keys are managed by admins, and members see why they cannot', async () => {
    const { organization } = await createOrganization(app, { name: 'Pier' })
    const admin = await createMember(app, organization, { email: 'otto@elsewhere.example', level: 'admin' })
    const { id } = await addSamlDomain(app.db, organization.id, 'pier.example', provider.idp)
    const member = await createMember(app, organization, { email: 'mia@pier.example' })
    const path = `/organization/${organization.id}/domains?open=${id}`
    await browser.visit({ session: admin.session, path }, async ({ page, audit }) => {
      await part(page, 'OpenID Connect')
      await page.getByText('http://longshore.test/complete/oidc/', { exact: true }).waitFor()
      await page.getByLabel('Issuer').fill('https://127.0.0.1')
      await page.getByLabel('Client id').fill('longshore')
      await page.getByLabel('Client secret').fill(app.canary.plant('client secret', 'kept between us two'))
      await page.getByRole('button', { name: 'Save OpenID Connect' }).click()
      await page.getByText('stored').waitFor()
      await audit()

      await part(page, 'SCIM')
      await page.getByRole('button', { name: 'Switch SCIM on' }).click()
      const token = app.canary.plant('SCIM token', (await page.getByLabel('Shown once').textContent())!)
      const made = await app.call('POST', `/scim/v2/${id}/Groups`, {
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
        body: JSON.stringify({
          schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
          displayName: 'Harbour masters',
        }),
      })
      expect(made.status).toBe(201)
      await page.reload()
      await page.getByRole('row', { name: 'Open group Harbour masters' }).click()
      await page.getByLabel('Level in the organization').waitFor()
      await page.reload()
      await page.getByLabel('Level in the organization').selectOption({ label: 'Admin' })
      await audit()
      await page.getByRole('button', { name: 'Save group' }).click()
      await page.getByRole('row', { name: 'Open group Harbour masters' }).getByText('admin').waitFor()
      await page.getByRole('row', { name: /^Open POST .*Groups, 201/ }).click()
      await page.getByLabel('Sent').getByText('Harbour masters').waitFor()
      await page.reload()
      await page.getByLabel('Sent').getByText('Harbour masters').waitFor()
      await page.goBack()
      await page.getByLabel('Sent').waitFor({ state: 'hidden' })
      await page.getByRole('row', { name: 'Open group Harbour masters' }).waitFor()
      await page.goForward()
      await page.getByLabel('Sent').waitFor()
      await audit()
      await page.keyboard.press('Escape')
      expect(await page.getByText(token).count()).toBe(0)

      await part(page, 'Keys')
      await page.getByRole('button', { name: 'End key test of mia@pier.example' }).click()
      await page
        .getByRole('dialog', { name: 'End this key?' })
        .getByRole('button', { name: 'End key' })
        .click()
      await page.getByText('Nobody of this domain has a personal API key.').waitFor()
      expect((await app.get('/api/users/@me/', { key: member.key })).status).toBe(401)
    })
    await browser.visit({ session: member.session, path: `${path}&part=saml` }, async ({ page, audit }) => {
      for (const name of ['Save SAML', 'Test sign-in', 'Remove SAML']) {
        await page.getByRole('button', { name }).waitFor()
        expect(await page.getByRole('button', { name }).getAttribute('aria-disabled')).toBe('true')
      }
      const starts = page.getByRole('switch', { name: 'Accept sign-ins that the provider starts' })
      expect(await starts.getAttribute('aria-disabled')).toBe('true')
      await starts.hover({ force: true })
      await page.getByText('Only admins and owners may do this.').waitFor()
      await page.mouse.move(0, 0)
      await page.getByText('Only admins and owners may do this.').waitFor({ state: 'detached' })
      await audit()
      await part(page, 'Sign-ins')
      await page.getByText('Admins see the log of sign-ins.').waitFor()
      await part(page, 'SCIM')
      await page.getByText('Admins connect the directory.').waitFor()
    })
  })
})
