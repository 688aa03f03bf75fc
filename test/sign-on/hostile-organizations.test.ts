// What an organization with a provider, a domain and a directory of its own can do to others' people, and an admin to their owners. There
// is no outgoing mail, so addresses are taken unproven.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDirectory, patchOf, personOf } from '../../src/features/scim/fixture/directory.ts'
import { setUpDevice } from '../../src/features/two-factor/fixture/authenticator.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { createMember, createOrganization, createUser, secretOf, type Workspace } from '../factories.ts'
import { startTestApp, type TestApp } from '../harness/app.ts'
import { mapHosts } from '../stand-ins/mapped-outbound.ts'
import { startOpenidProvider, type OpenidProvider } from '../stand-ins/openid-provider.ts'

let provider: OpenidProvider
let app: TestApp
beforeAll(async () => {
  provider = await startOpenidProvider({ issuer: 'https://idp.example', now: () => app.services.now() })
  app = await startTestApp()
  app.services.outbound = mapHosts({ 'idp.example': `http://127.0.0.1:${provider.port}` })
  app.canary.plant('client secret', provider.client_secret)
})
afterAll(async () => {
  await app.close()
  await provider.close()
})

type Place = { id: string; domain: string; path: string; workspace: Workspace }

/** An organization with a verified domain and a provider that says what the test wants. */
async function makePlace(state: { jit?: boolean; enforced?: string } = {}): Promise<Place> {
  const workspace = await createOrganization(app)
  const { key } = workspace.owner
  const domain = `d${randomBytes(5).toString('hex')}.example`
  const base = `/api/organizations/${workspace.organization.id}/domains/`
  const oidc = {
    oidc_issuer: provider.issuer,
    oidc_client_id: provider.client_id,
    oidc_client_secret: provider.client_secret,
  }
  const { id } = (await app.post(base, { domain, ...oidc }, { key })).body
  await app.db.run(sql`
    UPDATE domain SET verified_at = now(), jit_provisioning_enabled = ${state.jit ?? false},
      sso_enforcement = ${state.enforced ?? ''} WHERE id = ${id}`)
  return { id, domain, path: `${base}${id}/`, workspace }
}

type Visit = { sub?: string; session?: string; from?: Record<string, string> }

/** `from` is what the browser tells of the page that led to the start. */
async function signIn({ id }: Place, email: string, { sub = email, session, from = {} }: Visit = {}) {
  const start = await app.get(`/login/oidc/?domain=${id}`, { headers: from })
  const attempt = [start.headers['set-cookie'] ?? []].flat().map((cookie) => String(cookie).split(';')[0])
  const { pathname, search } = provider.signIn(String(start.headers.location), {
    sub,
    given_name: 'Nia',
    email,
    email_verified: true,
  })
  const cookie = [...attempt, ...(session ? [`sessionid=${session}`] : [])].join('; ')
  const reply = await app.get(pathname + search, { headers: { cookie } })
  const end = new URL(String(reply.headers.location), 'http://longshore.test').searchParams
  const link = end.get('link')
  if (link) app.canary.plant('link', link)
  return { session: reply.session, refusal: end.get('error_code'), link }
}

const me = (session: string | undefined) => app.get('/api/users/@me/', { session: session! })
const change = (session: string | undefined, email: string) =>
  app.patch('/api/users/@me/', { email }, { session: session! })
const levelIn = async ({ workspace }: { workspace: Workspace }, email: string) =>
  (
    await app.db.row<{ level: number }>(sql`
      SELECT level FROM membership JOIN app_user ON app_user.id = user_id
      WHERE organization_id = ${workspace.organization.id} AND lower(email) = lower(${email})`)
  )?.level
const identitiesOf = (email: string) =>
  app.db.rows(sql`
    SELECT subject FROM identity JOIN app_user ON app_user.id = user_id WHERE lower(app_user.email) = lower(${email})`)

describe('the provider of another organization', () => {
  it('opens nobody whose address lies in a domain that demands its own provider of the same kind', async () => {
    const [theirs, ours] = [await makePlace({ jit: true }), await makePlace({ enforced: 'oidc' })]
    const { session } = await signIn(theirs, `mole@${theirs.domain}`, { sub: 'mole' })
    const moved = `mole@${ours.domain}`
    expect((await change(session, moved)).body.code).toBe('sso_enforced')
    // Somebody who changed over while nothing was demanded yet: neither the session nor the way goes on.
    await app.db.run(sql`UPDATE app_user SET email = ${moved} WHERE email = ${`mole@${theirs.domain}`}`)
    expect(await me(session)).toMatchObject({ status: 401, body: { code: 'sso_required' } })
    const again = await signIn(theirs, `mole@${theirs.domain}`, { sub: 'mole' })
    expect(again).toMatchObject({ session: undefined, refusal: 'way_not_allowed' })
    const own = await signIn(ours, moved)
    expect((await me(own.session)).body.email).toBe(moved)
  })

  it('makes nobody a member by an address that the account only claims', async () => {
    const [theirs, ours] = [await makePlace({ jit: true }), await makePlace({ jit: true })]
    const { session } = await signIn(theirs, `climber@${theirs.domain}`, { sub: 'climber' })
    const claimed = `climber@${ours.domain}`
    expect((await change(session, claimed)).body.email).toBe(claimed)
    expect((await me((await signIn(theirs, 'x@x.example', { sub: 'climber' })).session)).status).toBe(200)
    expect(await levelIn(ours, claimed)).toBeUndefined()
    // By the domain's own provider they join, and an invite from before is used up.
    const { organization, owner } = ours.workspace
    const invites = `/api/organizations/${organization.id}/invites/`
    const invited = await app.post(invites, { target_email: claimed, level: 8 }, { key: owner.key })
    app.canary.plant('invite secret', secretOf(invited.body))
    const from = { 'sec-fetch-site': 'same-origin' }
    const again = (await signIn(theirs, 'x@x.example', { sub: 'climber' })).session!
    await signIn(ours, claimed, { session: again, from })
    expect(await levelIn(ours, claimed)).toBe(1)
    expect((await app.get(invites, { key: owner.key })).body.results).toEqual([])
  })

  it('confirms no address that the account has taken since it was asked about another', async () => {
    const theirs = await makePlace()
    const ours = await makePlace({ jit: true })
    const user = await createUser(app, { email: `switch@${theirs.domain}` })
    const { link } = await signIn(theirs, user.email)
    const claimed = `switch@${ours.domain}`
    expect((await change(user.session, claimed)).body.email).toBe(claimed)
    const linked = await app.post('/api/login/link/', { link, password: user.password })
    expect(linked).toMatchObject({ status: 400, body: { code: 'invalid_token', attr: 'link' } })
    expect((await me(user.session)).body).toMatchObject({ email: claimed, is_email_verified: false })
    expect(await identitiesOf(claimed)).toEqual([])
  })

  it('does not outlast the moment when somebody proves the address that was only claimed', async () => {
    const theirs = await makePlace({ jit: true })
    const directory = await createDirectory(app)
    const { session } = await signIn(theirs, `squatter@${theirs.domain}`, { sub: 'squatter' })
    const claimed = `squatter@${directory.domain}`
    const { id } = (await change(session, claimed)).body
    await setUpDevice(app, { ...(await createUser(app)), id, session: session! })
    await app.db.run(sql`UPDATE app_user SET pending_email = 'evil@evil.example' WHERE id = ${id}`)
    expect((await directory.call('POST', '/Users', personOf(directory, 'squatter'))).status).toBe(201)
    expect(await levelIn(directory, claimed)).toBe(1)
    expect((await signIn(theirs, 'x@x.example', { sub: 'squatter' })).session).toBeUndefined()
    const left = await app.db.only(sql`
      SELECT pending_email, EXISTS (SELECT FROM totp_device WHERE user_id = ${id}) AS has_device
      FROM app_user WHERE id = ${id}`)
    expect(left).toEqual({ pending_email: null, has_device: false })
  })
})

describe('an admin who has the provider say what they like', () => {
  it('is not linked to whoever is signed in and follows a link of theirs: the password is asked for', async () => {
    const place = await makePlace()
    const { organization } = place.workspace
    const owner = await createMember(app, organization, { email: `o@${place.domain}`, level: 'owner' })
    const outside = await createUser(app, { email: `outside@${place.domain}` })
    const elsewhere: Record<string, string>[] = [
      {},
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': 'cross-site', referer: 'http://longshore.test/login' },
      { referer: 'http://longshore.test.evil.example/' },
    ]
    for (const { email, session } of [owner, outside]) {
      for (const from of elsewhere) {
        const lured = await signIn(place, email, { sub: 'of-the-admin', session, from })
        expect([from, lured.session, lured.link]).toEqual([from, undefined, expect.any(String)])
      }
      expect(await identitiesOf(email)).toEqual([])
    }
    const ours: Record<string, string>[] = [
      { 'sec-fetch-site': 'same-origin' },
      { referer: 'http://longshore.test/organization' },
    ]
    for (const [index, { email, session }] of [owner, outside].entries()) {
      const linked = await signIn(place, email, { session, from: ours[index]! })
      expect((await me(linked.session)).body.email).toBe(email)
    }
  })

  it('does not become owner by an invite for somebody else', async () => {
    const place = await makePlace()
    const { organization, owner } = place.workspace
    const email = `new-owner@${place.domain}`
    const invites = `/api/organizations/${organization.id}/invites/`
    const invited = await app.post(invites, { target_email: email, level: 15 }, { key: owner.key })
    app.canary.plant('invite secret', secretOf(invited.body))
    await signIn(place, email)
    expect(await levelIn(place, email)).toBe(8)
    expect((await app.get(invites, { key: owner.key })).body.results).toEqual([])
  })

  it('does not become owner by the account of an owner whom their directory deactivates for a while', async () => {
    const place = await makePlace({ enforced: 'oidc' })
    const directory = await createDirectory(app, place.workspace)
    const email = `away@${place.domain}`
    await createMember(app, place.workspace.organization, { email, level: 'owner' })
    const { id } = (await directory.call('POST', '/Users', { userName: email })).body
    const setActive = (value: boolean) =>
      directory.call('PATCH', `/Users/${id}`, patchOf({ op: 'replace', path: 'active', value }))
    expect((await setActive(false)).body.active).toBe(false)
    const { session } = await signIn(place, email, { sub: 'of-the-admin' })
    expect((await me(session)).body.email).toBe(email)
    expect((await setActive(true)).body.active).toBe(true)
    expect(await levelIn(place, email)).toBe(8)
    const organization = `/api/organizations/${place.workspace.organization.id}/`
    expect((await app.delete(organization, { session: session! })).status).toBe(403)
  })

  it('does not demand a provider that nobody has come in by since it was changed', async () => {
    const place = await makePlace()
    const { organization, owner } = place.workspace
    const admin = await createMember(app, organization, { email: `a@${place.domain}`, level: 'admin' })
    await signIn(place, admin.email)
    const patch = (fields: object) => app.patch(place.path, fields, { key: owner.key })
    const other = { oidc_client_id: 'mistyped', oidc_client_secret: provider.client_secret }
    const refused = { status: 400, body: { code: 'sso_not_tested', attr: 'sso_enforcement' } }
    expect(await patch({ ...other, sso_enforcement: 'oidc' })).toMatchObject(refused)
    expect((await patch(other)).status).toBe(200)
    app.advance(1000)
    expect(await patch({ sso_enforcement: 'oidc' })).toMatchObject(refused)
    expect((await patch({ ...other, oidc_client_id: provider.client_id })).status).toBe(200)
    app.advance(1000)
    await signIn(place, admin.email)
    expect((await patch({ sso_enforcement: 'oidc' })).status).toBe(200)
  })
})

describe('whoever the directory has deactivated', () => {
  it('does not come back by an invite from before', async () => {
    const directory = await createDirectory(app)
    const { organization, owner } = directory.workspace
    const user = await createUser(app, { email: `gone@${directory.domain}` })
    const late = await createUser(app, { email: `late@${directory.domain}` })
    const invite = async ({ email }: { email: string }) => {
      const fields = { target_email: email, level: 8 }
      const path = `/api/organizations/${organization.id}/invites/`
      const { body } = await app.post(path, fields, { key: owner.key })
      return app.canary.plant('invite secret', secretOf(body))
    }
    const accept = (secret: string, { session }: { session: string }) =>
      app.post(`/api/signup/${secret}/`, {}, { session })
    const secrets = [await invite(user), await invite(late)]
    const { id } = (await directory.call('POST', '/Users', personOf(directory, 'gone'))).body
    const off = patchOf({ op: 'replace', path: 'active', value: false })
    expect((await directory.call('PATCH', `/Users/${id}`, off)).body.active).toBe(false)
    // One whom the directory brings as inactive was never a member.
    await directory.call('POST', '/Users', personOf(directory, 'late', { active: false }))
    for (const [index, who] of [user, late].entries()) {
      expect((await accept(secrets[index]!, who)).body.code).toBe('invalid_input')
      expect(await levelIn(directory, who.email)).toBeUndefined()
    }
    // An invite from afterwards is somebody's wish.
    expect((await accept(await invite(user), user)).status).toBe(201)
  })
})
