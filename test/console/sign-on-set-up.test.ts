// What an admin sets up, changes and takes back of a domain's sign-on, and what people then meet: metadata as text, the three
// fields, sign-ins that the provider starts, OpenID Connect, a directory's token, and our second factor after a provider.
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { addSamlDomain } from '../../src/features/sign-in/saml/fixture/domain.ts'
import { setUpDevice } from '../../src/features/two-factor/fixture/authenticator.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { createMember, createOrganization, type Workspace } from '../factories.ts'
import { startTestApp, type TestApp } from '../harness/app.ts'
import { makeTls, type TestTls } from '../harness/tls.ts'
import { startCertifiedProvider, type CertifiedProvider } from '../stand-ins/certified-provider.ts'
import { mapHosts } from '../stand-ins/mapped-outbound.ts'
import { startSamlSite, type SamlSite } from '../stand-ins/saml-site.ts'
import { openConsoleAt, type Console } from './browser.ts'

const DOMAIN = 'pier.example'

let tls: TestTls
let app: TestApp
let saml: SamlSite
let openid: CertifiedProvider
let browser: Console
let workspace: Workspace
/** Path of the domain in the API, and of its page. */
let domain: { id: string; path: string; page: string }
beforeAll(async () => {
  tls = makeTls('idp.example')
  app = await startTestApp()
  const { site_url } = app.services.settings
  saml = await startSamlSite(site_url)
  openid = await startCertifiedProvider({
    issuer: 'https://idp.example',
    redirect_uris: [`${site_url}/complete/oidc/`],
    tls,
  })
  app.services.outbound = mapHosts({ 'idp.example': openid.url })
  await app.http.listen({ host: '127.0.0.1', port: 0 })
  browser = await openConsoleAt(site_url, 1, {
    [`${new URL(site_url).hostname}:80`]: `127.0.0.1:${(app.http.server.address() as AddressInfo).port}`,
    'idp.example:443': `127.0.0.1:${openid.secure_port}`,
  })
  workspace = await createOrganization(app, { name: 'Pier' })
  const { organization, owner } = workspace
  const base = `/api/organizations/${organization.id}/domains/`
  const { id } = (await app.post(base, { domain: DOMAIN }, { key: owner.key })).body
  await app.db.run(
    sql`UPDATE domain SET verified_at = now(), jit_provisioning_enabled = true WHERE id = ${id}`,
  )
  domain = { id, path: `${base}${id}/`, page: `/organization/${organization.id}/domains?open=${id}` }
})
afterAll(async () => {
  await browser.close()
  saml.close()
  await app.close()
  await openid.close()
  tls.remove()
})

const domainNow = async () => (await app.get(domain.path, { key: workspace.owner.key })).body

async function plantSession(page: Page): Promise<void> {
  for (const { name, value } of await page.context().cookies())
    if (name === 'sessionid') app.canary.plant('session token', value)
}

const part = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Domain' }).getByRole('link', { name }).click()

/** Whom the OpenID provider takes the browser for. */
async function signInThere(page: Page, name: string): Promise<void> {
  await page.getByLabel('Name').fill(name)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

it('SAML: metadata as text, the three fields by hand, provider-started sign-ins, and lifting what was demanded', async () => {
  const { session } = workspace.owner
  const metadata = await (await fetch(saml.metadata_url)).text()
  const { entity_id, sso_url, certificate } = saml.idp
  const path = `${domain.page}&part=saml`
  await browser.visit({ session, path }, async ({ page, audit, expectProblem }) => {
    const chooses = page.getByRole('radiogroup', { name: 'What the provider gives you' })
    await chooses.getByText('Metadata as text').click()
    const text = page.getByRole('textbox', { name: 'Metadata as text' })
    expectProblem(/400 .*saml_metadata/)
    await text.fill('<html>not this page</html>')
    await page.getByRole('button', { name: 'Read metadata' }).click()
    await expect.poll(() => text.getAttribute('aria-invalid')).toBe('true')
    await audit()
    await text.fill(metadata)
    await page.getByRole('button', { name: 'Read metadata' }).click()
    await page.getByText('the three fields are filled in').waitFor()
    const [entity, address, certificates] = [
      page.getByLabel('Entity id of the provider'),
      page.getByLabel('Sign-in address of the provider'),
      page.getByLabel('Certificates of the provider'),
    ]
    expect([await entity.inputValue(), await address.inputValue()]).toEqual([entity_id, sso_url])

    await page.getByRole('button', { name: 'Remove SAML' }).click()
    await page
      .getByRole('dialog', { name: 'Remove SAML?' })
      .getByRole('button', { name: 'Remove SAML' })
      .click()
    await page.getByText('SAML was removed.').waitFor()
    expect(await domainNow()).toMatchObject({ has_saml: false, saml_entity_id: null })
    await expect.poll(() => entity.inputValue()).toBe('')
    await entity.fill(entity_id)
    await address.fill(sso_url)
    await certificates.fill('-----BEGIN CERTIFICATE-----\nnothing\n-----END CERTIFICATE-----')
    expectProblem(/400 .*\/domains\//)
    await page.getByRole('button', { name: 'Save SAML' }).click()
    await expect.poll(() => certificates.getAttribute('aria-invalid')).toBe('true')
    await audit()
    await certificates.fill(certificate.pem)
    await page.getByRole('button', { name: 'Save SAML' }).click()
    await page.getByText('The settings of SAML were saved.').waitFor()
    await page.getByRole('list', { name: 'Certificates' }).getByText('good until').waitFor()
    saml.signsIn(`ann@${DOMAIN}`)
    const opening = page.waitForEvent('popup')
    await page.getByRole('button', { name: 'Test sign-in' }).click()
    const result = await opening
    await result.getByRole('heading', { name: 'Test passed' }).waitFor()
    await result.close()

    const accepts = page.getByRole('switch', { name: 'Accept sign-ins that the provider starts' })
    expect(await accepts.isChecked()).toBe(false)
    await accepts.click()
    await page.getByText('Sign-ins that the provider starts are accepted.').waitFor()
  })

  await browser.visit({ path: '/login' }, async ({ page }) => {
    await page.goto(saml.tileOf(domain.id))
    await page.waitForURL('**/project/**')
    await plantSession(page)
  })
  await browser.visit({ session, path }, async ({ page }) => {
    await page.getByRole('switch', { name: 'Accept sign-ins that the provider starts' }).click()
    await page.getByText('Only sign-ins that start here are accepted.').waitFor()
  })
  await browser.visit({ path: '/login' }, async ({ page }) => {
    await page.goto(saml.tileOf(domain.id))
    await page.getByRole('heading', { name: 'You were not signed in' }).waitFor()
    expect((await page.context().cookies()).map(({ name }) => name)).not.toContain('sessionid')
  })

  await app.db.run(sql`UPDATE domain SET sso_enforcement = 'saml' WHERE id = ${domain.id}`)
  const member = await createMember(app, workspace.organization, { email: `bob@${DOMAIN}` })
  const login = () => app.post('/api/login/', { email: member.email, password: member.password })
  expect((await login()).body.code).toBe('sso_enforced')
  await browser.visit({ session, path: domain.page }, async ({ page, audit }) => {
    const free = page.getByRole('radio', { name: 'Whatever they like' })
    await expect.poll(() => page.getByRole('radio', { name: 'SAML' }).isChecked()).toBe(true)
    await part(page, 'SAML')
    const remove = page.getByRole('button', { name: 'Remove SAML' })
    await expect.poll(() => remove.getAttribute('aria-disabled')).toBe('true')
    await part(page, 'General')
    await free.click()
    await page.getByText(`People of ${DOMAIN} sign in as they like.`).waitFor()
    expect(await free.isChecked()).toBe(true)
    await audit()
  })
  expect((await domainNow()).sso_enforcement).toBe('')
  expect((await login()).status).toBe(200)
})

it('OpenID Connect: set up, tried out and signed in with, all from the console', async () => {
  openid.people.set('cleo', { email: `cleo@${DOMAIN}`, email_verified: true, given_name: 'Cleo' })
  const { session } = workspace.owner
  await browser.visit({ session, path: `${domain.page}&part=oidc` }, async ({ page, audit }) => {
    await page.getByLabel('Issuer').fill(openid.issuer)
    await page.getByLabel('Client id').fill(openid.client_id)
    await page.getByLabel('Client secret').fill(app.canary.plant('client secret', openid.client_secret))
    await page.getByRole('button', { name: 'Save OpenID Connect' }).click()
    await page.getByText('The settings of OpenID Connect were saved.').waitFor()
    const opening = page.waitForEvent('popup')
    await page.getByRole('button', { name: 'Test sign-in' }).click()
    const result = await opening
    await signInThere(result, 'cleo')
    await result.getByRole('heading', { name: 'Test passed' }).waitFor()
    await result.close()
    await audit()
  })
  expect(await app.db.rows(sql`SELECT FROM app_user WHERE email = ${`cleo@${DOMAIN}`}`)).toEqual([])
  await browser.visit({ path: '/login?next=/account/profile' }, async ({ page }) => {
    await page.getByLabel('E-mail').fill(`cleo@${DOMAIN}`)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('link', { name: 'Sign in with OpenID Connect' }).click()
    await signInThere(page, 'cleo')
    await page.waitForURL('**/account/profile')
    await plantSession(page)
    expect(await page.getByLabel('First name').inputValue()).toBe('Cleo')
  })
})

it('SCIM: a token is replaced and ends, and members stay', async () => {
  const { organization, owner } = workspace
  const asks = async (token: string) =>
    (await app.call('GET', `/scim/v2/${domain.id}/Users`, { key: token })).status
  const memberCount = async () =>
    (await app.get(`/api/organizations/${organization.id}/`, { key: owner.key })).body.member_count
  const before = await memberCount()
  await browser.visit(
    { session: owner.session, path: `${domain.page}&part=scim` },
    async ({ page, audit }) => {
      const shown = page.getByLabel('Shown once')
      await page.getByRole('button', { name: 'Switch SCIM on' }).click()
      const first = app.canary.plant('SCIM token', (await shown.textContent())!)
      expect(await asks(first)).toBe(200)
      await page.getByRole('button', { name: 'Replace token' }).click()
      await page
        .getByRole('dialog', { name: 'Replace the token?' })
        .getByRole('button', { name: 'Replace token' })
        .click()
      await page.getByText('The directory has a new token.').waitFor()
      const second = app.canary.plant('SCIM token', (await shown.textContent())!)
      expect(second).not.toBe(first)
      expect([await asks(first), await asks(second)]).toEqual([401, 200])
      await audit()
      await page.reload()
      await page.getByText('Wrong token').waitFor()
      expect(await page.getByText(second).count()).toBe(0)
      await page.getByRole('button', { name: 'Switch SCIM off' }).click()
      await page
        .getByRole('dialog', { name: 'Switch SCIM off?' })
        .getByRole('button', { name: 'Switch SCIM off' })
        .click()
      await page.getByText('No directory is connected.').waitFor()
      expect(await asks(second)).toBe(401)
    },
  )
  expect(await memberCount()).toBe(before)
})

it('our second factor is asked for after a provider, once an owner says so', async () => {
  const { organization, owner } = await createOrganization(app, { name: 'Quay' })
  await addSamlDomain(app.db, organization.id, 'quay.example', saml.idp)
  const member = await createMember(app, organization, { email: 'mia@quay.example' })
  await setUpDevice(app, owner)
  const { backup_codes } = await setUpDevice(app, member)
  saml.signsIn(member.email)
  const through = async (page: Page) => {
    await page.getByLabel('E-mail').fill(member.email)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('link', { name: 'Sign in with SAML' }).click()
  }
  await browser.visit(
    { session: owner.session, path: `/organization/${organization.id}/general` },
    async ({ page }) => {
      await page.getByRole('switch', { name: 'Everybody needs a second factor' }).click()
      await page.getByRole('switch', { name: 'Also after sign-in through an identity provider' }).click()
      await page.getByRole('button', { name: 'Save settings' }).click()
      const now = () => app.get(`/api/organizations/${organization.id}/`, { key: owner.key })
      await expect
        .poll(async () => (await now()).body)
        .toMatchObject({ enforce_2fa: true, enforce_2fa_with_sso: true })
    },
  )
  await browser.visit({ path: '/login?next=/account/profile' }, async ({ page, audit, expectProblem }) => {
    await through(page)
    await page.getByRole('heading', { name: 'Second factor' }).waitFor()
    await plantSession(page)
    await audit()
    // Nothing is open yet.
    const [pending] = await page.context().cookies()
    expect((await app.get('/api/users/@me/', { session: pending!.value })).status).toBe(401)
    expectProblem(/400 .*\/api\/login\/token\//)
    await page.getByLabel('Code').fill('000000')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('The code is wrong').waitFor()
    await page.getByLabel('Code').fill(backup_codes[0]!)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL('**/account/profile')
    await plantSession(page)
    expect(await page.getByLabel('E-mail').inputValue()).toBe(member.email)
  })
})
