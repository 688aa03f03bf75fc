// A sign-in through a SAML provider in a real browser: across sites, with the cookies that browsers really send.
import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inflateRawSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { addSamlDomain } from '../../src/features/sign-in/saml/fixture/domain.ts'
import { saying } from '../attacks/saml/hostile-answer.ts'
import { createOrganization, type Workspace } from '../factories.ts'
import { startTestApp, type TestApp } from '../harness/app.ts'
import { encode, mintAnswer, openIdentityProvider } from '../stand-ins/identity-provider.ts'
import { jsonOf, openVisitor, type Visitor } from './visitor.ts'

const SITE = 'http://longshore.test'
const ME = '/api/users/@me/'
const idp = openIdentityProvider('idp.example')

let app: TestApp
let provider: Server
let visitor: Visitor
let workspace: Workspace
let domain_id: string

beforeAll(async () => {
  app = await startTestApp()
  provider = createServer(({ url }, response) => void answer(url!, response)).listen(0, '127.0.0.1')
  await once(provider, 'listening')
  const sso_url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/sso`
  workspace = await createOrganization(app)
  const row = await addSamlDomain(
    app.db,
    workspace.organization.id,
    'acme.example',
    { ...idp, sso_url },
    { idp_initiated: true },
  )
  domain_id = row.id
  visitor = await openVisitor(app)
})
afterAll(async () => {
  await visitor.close()
  provider.close()
  await app.close()
})

/** The page of the provider: whoever comes is Ada, and is sent on at once. */
async function answer(url: string, response: ServerResponse) {
  const { searchParams } = new URL(url, 'http://idp.example')
  const asked = searchParams.get('SAMLRequest')
  const request = asked === null ? '' : inflateRawSync(Buffer.from(asked, 'base64')).toString()
  const request_id = / ID="([^"]+)"/.exec(request)?.[1] ?? ''
  const about = { idp, site_url: SITE, request_id, victim: '', mallory: 'ada@acme.example' }
  const xml = await mintAnswer(saying(about, asked === null ? { request_id: null } : {}))
  response.setHeader('content-type', 'text/html').end(
    `<body onload="document.forms[0].submit()"><form method="post" action="${SITE}/complete/saml/">
    <input name="SAMLResponse" value="${encode(xml)}"><input name="RelayState" value="${domain_id}"></form>`,
  )
}

it('signs in from our page and from the provider’s', async () => {
  const start = `${SITE}/login/saml/?${new URLSearchParams({ email: 'ada@acme.example', next: ME }).toString()}`
  await visitor.visit(async (page) => {
    await page.goto(start)
    await page.waitForURL(`${SITE}${ME}`)
    expect(await jsonOf(page)).toMatchObject({ email: 'ada@acme.example' })
    const cookies = await page.context().cookies(SITE)
    expect(cookies).toMatchObject([{ name: 'sessionid', httpOnly: true, sameSite: 'Lax' }])
    app.canary.plant('session token', cookies[0]!.value)
  })
  await visitor.visit(async (page) => {
    await page.goto(`http://127.0.0.1:${(provider.address() as AddressInfo).port}/`)
    await page.waitForURL(`${SITE}/`)
    await page.goto(`${SITE}${ME}`)
    expect(await jsonOf(page)).toMatchObject({ email: 'ada@acme.example' })
  })
})
