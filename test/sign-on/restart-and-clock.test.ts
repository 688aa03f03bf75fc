// A sign-in that is under way while something happens to the server: it restarts, or its clock is set back.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { addSamlDomain } from '../../src/features/sign-in/saml/fixture/domain.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { saying } from '../attacks/saml/hostile-answer.ts'
import { createOrganization, type Workspace } from '../factories.ts'
import { startTestApp, type Reply, type TestApp } from '../harness/app.ts'
import {
  encode,
  mintAnswer,
  openIdentityProvider,
  type IdentityProvider,
} from '../stand-ins/identity-provider.ts'
import { startGitHubAccounts, type CodeHostAccounts } from '../stand-ins/code-host-accounts.ts'
import { mapHosts } from '../stand-ins/mapped-outbound.ts'
import { startOpenidProvider, type OpenidProvider } from '../stand-ins/openid-provider.ts'
import { beginSignIn, postAnswer, refusalOf, type Begun } from '../stand-ins/saml-browser.ts'
import { SITE } from './http-browser.ts'

const HOUR_MS = 3_600_000

let openid: OpenidProvider
let github: CodeHostAccounts
let idp: IdentityProvider
/** The server, and what it is after its restart. */
let app: TestApp
let restarted: TestApp
let workspace: Workspace
let domains: { oidc: string; saml: string }
beforeAll(async () => {
  openid = await startOpenidProvider({ issuer: 'https://idp.example' })
  github = await startGitHubAccounts()
  idp = openIdentityProvider('saml.example')
  const settings = {
    SECRET_KEY: randomBytes(32).toString('hex'),
    OPEN_SIGNUP: 'on',
    SOCIAL_AUTH_GITHUB_KEY: github.client_id,
    SOCIAL_AUTH_GITHUB_SECRET: github.client_secret,
  }
  app = await startTestApp(settings)
  restarted = await startTestApp(settings, app)
  for (const each of [app, restarted])
    each.services.outbound = mapHosts({
      'idp.example': `http://127.0.0.1:${openid.port}`,
      'github.com': github.url,
      'api.github.com': github.url,
    })
  workspace = await createOrganization(app)
  const { organization, owner } = workspace
  const { id } = (
    await app.post(
      `/api/organizations/${organization.id}/domains/`,
      {
        domain: 'open.example',
        oidc_issuer: openid.issuer,
        oidc_client_id: openid.client_id,
        oidc_client_secret: app.canary.plant('client secret', openid.client_secret),
      },
      { key: owner.key },
    )
  ).body
  await app.db.run(
    sql`UPDATE domain SET verified_at = now(), jit_provisioning_enabled = true WHERE id = ${id}`,
  )
  const saml = await addSamlDomain(app.db, organization.id, 'saml.example', idp)
  domains = { oidc: id, saml: saml.id }
})
afterAll(async () => {
  await restarted.close()
  await app.close()
  await openid.close()
  await github.close()
})

type Way = {
  begin(on: TestApp): Promise<(on: TestApp, email: string) => Promise<Reply>>
  email(name: string): string
}

async function beginAt(on: TestApp, path: string): Promise<{ url: string; cookie: string }> {
  const { headers } = await on.get(path)
  return { url: String(headers.location), cookie: String(headers['set-cookie']).split(';')[0]! }
}

const WAYS: Record<string, Way> = {
  oidc: {
    email: (name) => `${name}@open.example`,
    async begin(on) {
      const { url, cookie } = await beginAt(on, `/login/oidc/?domain=${domains.oidc}`)
      return (later, email) => {
        const back = openid.signIn(url, { sub: email, email, email_verified: true })
        return later.get(`${back.pathname}${back.search}`, { headers: { cookie } })
      }
    },
  },
  saml: {
    email: (name) => `${name}@saml.example`,
    async begin(on) {
      const begun: Begun = await beginSignIn(on.call, { domain: domains.saml })
      return async (later, email) => {
        const { request_id } = begun
        const said = saying({ idp, site_url: SITE, request_id, victim: '', mallory: email })
        return postAnswer(later.call, begun, encode(await mintAnswer(said)))
      }
    },
  },
  github: {
    email: (name) => `${name}@code.example`,
    async begin(on) {
      const { url, cookie } = await beginAt(on, '/login/github/')
      return (later, email) => {
        const back = github.signIn(url, {
          user: { id: 1 + Buffer.from(email).readUInt32BE(), login: 'octo' },
          emails: [{ email, primary: true, verified: true }],
        })
        return later.get(`${back.pathname}${back.search}`, { headers: { cookie } })
      }
    },
  },
}

const whoIs = async ({ session }: Reply) =>
  (await restarted.get('/api/users/@me/', { session: session! })).body.email
const accountOf = (email: string) => app.db.row(sql`SELECT FROM app_user WHERE email = ${email}`)

it.each(Object.entries(WAYS))('%s: one that set out before a restart comes back after it', async (_, way) => {
  const email = way.email('anew')
  const finish = await way.begin(app)
  const reply = await finish(restarted, email)
  expect(reply).toMatchObject({ status: 303, headers: { location: '/' } })
  expect(await whoIs(reply)).toBe(email)
})

it('SAML: one whose answer came before the restart is let in after it, once', async () => {
  const begun = await beginSignIn(app.call, { domain: domains.saml })
  const email = 'between@saml.example'
  const said = saying({ idp, site_url: SITE, request_id: begun.request_id, victim: '', mallory: email })
  let calls = 0
  // The post goes to the server as it was, what follows to the one after it.
  const switching: TestApp['call'] = (...args) => (calls++ === 0 ? app : restarted).call(...args)
  const field = encode(await mintAnswer(said))
  expect(await whoIs(await postAnswer(switching, begun, field))).toBe(email)
  expect((await postAnswer(restarted.call, begun, field)).session).toBeUndefined()
})

it.each([
  ['oidc', /3[56]\d\d seconds ahead/],
  ['saml', /clocks are apart by 3[56]\d\d s or more/],
] as const)(
  '%s: a clock that is set back an hour meanwhile lets nobody in, and says so',
  async (name, says) => {
    const way = WAYS[name]!
    const email = way.email('back')
    const finish = await way.begin(app)
    app.advance(-HOUR_MS)
    try {
      const reply = await finish(app, email)
      expect([refusalOf(reply).code, reply.session]).toEqual(['answer_not_accepted', undefined])
      const record = await app.db.only<{ checks: { is_passed: boolean; message: string }[] }>(
        sql`SELECT checks FROM sign_in_record WHERE id = ${refusalOf(reply).id}`,
      )
      expect(record.checks.find(({ is_passed }) => !is_passed)?.message).toMatch(says)
      expect(await accountOf(email)).toBeUndefined()
    } finally {
      app.advance(HOUR_MS)
    }
    expect(await whoIs(await (await way.begin(app))(app, email))).toBe(email)
  },
)

it('a clock that is set forward ends those under way, and a second of it does nobody harm', async () => {
  for (const [name, way] of Object.entries(WAYS)) {
    const [late, soon] = [await way.begin(app), await way.begin(app)]
    app.advance(-1_000)
    const reply = await soon(app, way.email('soon'))
    expect([name, await whoIs(reply)]).toEqual([name, way.email('soon')])
    app.advance(1_000 + HOUR_MS)
    const refused = await late(app, way.email('late'))
    app.advance(-HOUR_MS)
    expect([name, refused.status, refused.session]).toEqual([name, 303, undefined])
    expect([name, refusalOf(refused).code]).toEqual([name, 'attempt_unknown'])
    expect([name, await accountOf(way.email('late'))]).toEqual([name, undefined])
  }
})
