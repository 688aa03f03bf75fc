// Signing in through a certified OpenID provider in Chromium: two sites, their cookies, and https where the provider is.
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sql } from '../../src/platform/db/sql.ts'
import { createOrganization, type Workspace } from '../factories.ts'
import { startTestApp, type TestApp } from '../harness/app.ts'
import { launchChromium } from '../harness/chromium.ts'
import { makeTls, type TestTls } from '../harness/tls.ts'
import { startCertifiedProvider, type CertifiedProvider } from '../stand-ins/certified-provider.ts'
import { mapHosts } from '../stand-ins/mapped-outbound.ts'

const SITE = 'http://longshore.test'

let tls: TestTls
let provider: CertifiedProvider
let app: TestApp
let browser: Browser
let workspace: Workspace
beforeAll(async () => {
  tls = makeTls('idp.example')
  provider = await startCertifiedProvider({
    issuer: 'https://idp.example',
    redirect_uris: [`${SITE}/complete/oidc/`],
    tls,
  })
  app = await startTestApp()
  app.services.outbound = mapHosts({ 'idp.example': provider.url })
  await app.http.listen({ host: '127.0.0.1', port: 0 })
  browser = await launchChromium({
    'longshore.test:80': `127.0.0.1:${(app.http.server.address() as AddressInfo).port}`,
    'idp.example:443': `127.0.0.1:${provider.secure_port}`,
  })
  workspace = await createOrganization(app, { name: 'Harbour & Sons' })
})
afterAll(async () => {
  await browser.close()
  await app.close()
  await provider.close()
  tls.remove()
})

it('a person of the domain signs in at the provider, and is in the console of the organization', async () => {
  const base = `/api/organizations/${workspace.organization.id}/domains/`
  const settings = {
    domain: 'people.example',
    oidc_issuer: provider.issuer,
    oidc_client_id: provider.client_id,
    oidc_client_secret: app.canary.plant('client secret', provider.client_secret),
  }
  const { id } = (await app.post(base, settings, { key: workspace.owner.key })).body
  await app.db.run(
    sql`UPDATE domain SET verified_at = now(), jit_provisioning_enabled = true WHERE id = ${id}`,
  )
  provider.people.set('ann', { email: 'ann@people.example', email_verified: true, given_name: 'Ann' })

  const context = await browser.newContext({ ignoreHTTPSErrors: true })
  context.setDefaultTimeout(30_000)
  const page = await context.newPage()
  await page.goto(`${SITE}/login/oidc/?email=ann@people.example&next=/account/profile`)
  expect(new URL(page.url()).host).toBe('idp.example')
  await page.getByLabel('Name').fill('ann')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(`${SITE}/account/profile`)
  await page.getByLabel('First name').waitFor()
  expect(await page.getByLabel('E-mail').inputValue()).toBe('ann@people.example')

  const cookies = await context.cookies(SITE)
  expect(cookies.map(({ name }) => name)).toEqual(['sessionid'])
  expect(cookies[0]).toMatchObject({ httpOnly: true, sameSite: 'Lax' })
  const me = await app.get('/api/users/@me/', {
    session: app.canary.plant('session token', cookies[0]!.value),
  })
  expect(me.body).toMatchObject({ email: 'ann@people.example', first_name: 'Ann' })
  await context.close()
})
