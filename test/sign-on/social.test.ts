// Signing in with Google, GitHub and GitLab, from the first redirect to the session, at strict stand-ins.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../../src/platform/db/sql.ts'
import { createMember, createOrganization, createUser, type Workspace } from '../factories.ts'
import { startTestApp, type TestApp } from '../harness/app.ts'
import {
  startGitHubAccounts,
  startGitLabAccounts,
  type Account,
  type CodeHostAccounts,
} from '../stand-ins/code-host-accounts.ts'
import { mapHosts } from '../stand-ins/mapped-outbound.ts'
import { startOpenidProvider, type OpenidProvider } from '../stand-ins/openid-provider.ts'
import { HttpBrowser, SITE } from './http-browser.ts'

let google: OpenidProvider
let github: CodeHostAccounts
let gitlab: CodeHostAccounts
let app: TestApp
let workspace: Workspace

beforeAll(async () => {
  google = await startOpenidProvider({ issuer: 'https://accounts.google.com' })
  github = await startGitHubAccounts()
  gitlab = await startGitLabAccounts()
  app = await startTestApp({
    SOCIAL_AUTH_GOOGLE_OAUTH2_KEY: google.client_id,
    SOCIAL_AUTH_GOOGLE_OAUTH2_SECRET: google.client_secret,
    SOCIAL_AUTH_GITHUB_KEY: github.client_id,
    SOCIAL_AUTH_GITHUB_SECRET: github.client_secret,
    SOCIAL_AUTH_GITLAB_KEY: gitlab.client_id,
    SOCIAL_AUTH_GITLAB_SECRET: gitlab.client_secret,
  })
  app.services.outbound = mapHosts({
    'accounts.google.com': `http://127.0.0.1:${google.port}`,
    'github.com': github.url,
    'api.github.com': github.url,
    'gitlab.com': gitlab.url,
  })
  for (const { client_secret } of [google, github, gitlab]) app.canary.plant('client secret', client_secret)
  workspace = await createOrganization(app)
})
afterAll(async () => {
  await app.close()
  await Promise.all([google, github, gitlab].map((server) => server.close()))
})

const newBrowser = () => new HttpBrowser(app)
const accountOf = (email: string) => app.db.row(sql`SELECT id FROM app_user WHERE email = ${email}`)
const meIn = async (browser: HttpBrowser) =>
  (await app.get('/api/users/@me/', { session: browser.session! })).body

/** What the page says that a refused sign-in ends on. */
const refusalAt = (url: URL) => [url.pathname, url.searchParams.get('error_code')]

describe('providers of the instance', () => {
  it('are named before anybody signs in', async () => {
    expect((await app.get('/_preflight/')).body.available_social_auth_providers).toEqual({
      'google-oauth2': true,
      github: true,
      gitlab: true,
    })
  })

  /** Where it ends, in the browser of somebody who does whatever `signIn` does there. */
  async function through(provider: string, signIn: (url: string) => URL, browser = newBrowser()) {
    const { status, headers } = await browser.call(`/login/${provider}/?next=/insights`)
    expect(status).toBe(303)
    return { browser, end: (await browser.go(signIn(String(headers.location)).href)).url }
  }

  async function invited(provider: string) {
    const email = `${provider}-${randomBytes(4).toString('hex')}@example.com`
    const path = `/api/organizations/${workspace.organization.id}/invites/`
    await app.post(path, { target_email: email, level: 8 }, { key: workspace.owner.key })
    return email
  }

  const GITHUB = (email: string, fields: object = {}): Account => ({
    user: { id: 583231, login: 'octocat', name: 'Mona Lisa Octocat', email: 'public@example.com' },
    emails: [
      { email: 'public@example.com', primary: false, verified: true, visibility: 'public' },
      { email, primary: true, verified: true, visibility: null, ...fields },
    ],
  })
  const GITLAB = (email: string, fields: object = {}): Account => ({
    user: {
      id: 42,
      username: 'tanuki',
      name: 'Tanuki',
      state: 'active',
      email,
      confirmed_at: '2024-01-01T00:00:00Z',
      ...fields,
    },
  })

  it.each([
    [
      'google-oauth2',
      (email: string) => (url: string) =>
        google.signIn(url, { sub: '1098', email, email_verified: true, given_name: 'Gil' }),
    ],
    ['github', (email: string) => (url: string) => github.signIn(url, GITHUB(email))],
    ['gitlab', (email: string) => (url: string) => gitlab.signIn(url, GITLAB(email))],
  ])('%s lets an invited person in, at the level of the invite', async (provider, personOf) => {
    const email = await invited(provider)
    const { browser, end } = await through(provider, personOf(email))
    expect(end.href).toBe(`${SITE}/insights`)
    const me = await meIn(browser)
    expect(me).toMatchObject({ email, organization: { id: workspace.organization.id, membership_level: 8 } })
    const again = await through(provider, personOf('changed@example.org'))
    expect((await meIn(again.browser)).uuid).toBe(me.uuid)
  })

  it.each([
    [
      'email_not_vouched',
      'google-oauth2',
      (email: string) => (url: string) => google.signIn(url, { sub: 'u', email }),
    ],
    [
      'email_not_vouched',
      'github',
      (email: string) => (url: string) =>
        github.signIn(url, { ...GITHUB(email, { verified: false }), user: { id: 1, login: 'x' } }),
    ],
    [
      'no_email',
      'github',
      () => (url: string) => github.signIn(url, { user: { id: 1, login: 'x' }, emails: [] }),
    ],
    [
      'answer_not_accepted',
      'github',
      () => (url: string) => github.signIn(url, { user: { login: 'x' }, emails: [] }),
    ],
    [
      'email_not_vouched',
      'gitlab',
      (email: string) => (url: string) => gitlab.signIn(url, GITLAB(email, { id: 7, confirmed_at: null })),
    ],
    [
      'provider_refused',
      'gitlab',
      (email: string) => (url: string) => gitlab.signIn(url, GITLAB(email, { id: 8, state: 'blocked' })),
    ],
    [
      'not_invited',
      'gitlab',
      () => (url: string) => gitlab.signIn(url, GITLAB('stranger@example.org', { id: 9 })),
    ],
  ])(
    '%s: %s lets nobody in whom it does not vouch for, or nobody knows',
    async (code, provider, personOf) => {
      const email = await invited(provider)
      const { browser, end } = await through(provider, personOf(email))
      expect(refusalAt(end)).toEqual(['/login', code])
      expect(browser.session).toBeUndefined()
      expect(await accountOf(email)).toBeUndefined()
      const line = app.logs.find((each) => each.includes(end.searchParams.get('sign_in')!))
      expect(JSON.parse(line!)).toMatchObject({ sign_in: { provider, outcome: code } })
    },
  )

  it('an account is not taken over by its address: its password is asked for', async () => {
    const user = await createUser(app)
    const { browser, end } = await through('github', (url) =>
      github.signIn(url, { ...GITHUB(user.email), user: { id: 77, login: 'thief' } }),
    )
    expect([end.pathname, end.searchParams.get('email')]).toEqual(['/login', user.email])
    expect(browser.session).toBeUndefined()
    expect(await app.db.rows(sql`SELECT FROM identity WHERE user_id = ${user.id}`)).toEqual([])
  })

  it('that are not set up send nobody anywhere', async () => {
    const bare = await startTestApp()
    try {
      const member = await createMember(bare, (await createOrganization(bare)).organization)
      expect((await bare.get('/_preflight/')).body.available_social_auth_providers).toEqual({
        'google-oauth2': false,
        github: false,
        gitlab: false,
      })
      for (const provider of ['google-oauth2', 'github', 'gitlab']) {
        const { status, headers } = await bare.get(`/login/${provider}/`)
        expect([status, headers.location]).toEqual([
          303,
          expect.stringContaining('error_code=provider_not_set_up'),
        ])
      }
      expect((await bare.get('/api/users/@me/', { session: member.session })).status).toBe(200)
    } finally {
      await bare.close()
    }
  })
})
