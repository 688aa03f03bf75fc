// The mailed way back for owners whose domain demands a provider, through HTTP and real SMTP: who gets it, what it opens and
// for how long, and that every owner hears of it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMember, createOrganization, type TestUser, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { startSmtpServer, type SmtpStandIn } from '../../../test/stand-ins/smtp.ts'
import { sql } from '../../platform/db/sql.ts'
import { jobsAreDone } from '../../platform/jobs/fixture/queue.ts'
import { LEVELS } from '../../platform/http/caller.ts'
import { makeCertificate } from '../domains/fixture/certificate.ts'
import { insertMembership } from '../members/queries.ts'
import { codeOf, setUpDevice } from '../two-factor/fixture/authenticator.ts'

const HOUR_MS = 3_600_000
const ASKED = 'Sign in to Longshore without your identity provider'

let smtp: SmtpStandIn
let app: TestApp
beforeAll(async () => {
  smtp = await startSmtpServer()
  app = await startTestApp({ SMTP_URL: smtp.url })
})
afterAll(async () => {
  await app.close()
  await smtp.close()
})

let count = 0

/** An organization whose domain demands SAML; its owner and a second one live in the domain. */
async function makeClosed() {
  const workspace = await createOrganization(app)
  const domain = `closed-${++count}.example`
  await app.db.run(sql`
    INSERT INTO domain (id, organization_id, domain, verification_challenge, verified_at, sso_enforcement,
      saml_entity_id, saml_acs_url, saml_x509_cert, created_at, updated_at)
    VALUES (gen_random_uuid(), ${workspace.organization.id}, ${domain}, 'challenge', now(), 'saml', 'entity',
      'https://idp.example/', ${makeCertificate().pem}, now(), now())`)
  const level = 'owner' as const
  const owner = await createMember(app, workspace.organization, { email: `owner@${domain}`, level })
  return { workspace, domain, owner }
}

const mailsTo = (email: string) => smtp.mails.filter((mail) => mail.recipients.includes(email))
const ask = (email: string) => app.post('/api/login/recovery/', { email })
const me = async (session: string | undefined) =>
  (await app.get('/api/users/@me/', { session: session! })).status

async function tokenFor(owner: TestUser): Promise<string> {
  expect((await ask(owner.email)).status).toBe(204)
  await jobsAreDone(app.services)
  const mail = mailsTo(owner.email).at(-1)!
  expect(mail.subject).toBe(ASKED)
  const [, uuid, token] = /\/login\/recovery\/([^/]+)\/([^/]+)$/.exec(mail.links[0]!)!
  expect(uuid).toBe(owner.uuid)
  return app.canary.plant('recovery token', token!)
}

const useLink = (owner: TestUser, token: string) => app.post(`/api/login/recovery/${owner.uuid}/`, { token })

async function liftEnforcement({ organization }: Workspace, session: string) {
  const path = `/api/organizations/${organization.id}/domains/`
  const { id } = (await app.get(path, { session })).body.results[0]
  return app.patch(`${path}${id}/`, { sso_enforcement: '' }, { session })
}

describe('the link of an owner', () => {
  it('200 opens a session that can put things right, once, and every owner is told', async () => {
    const { workspace, domain, owner } = await makeClosed()
    expect((await app.post('/api/login/', owner)).body.code).toBe('sso_enforced')
    const token = await tokenFor(owner)
    const reply = await useLink(owner, token)
    expect(reply.status).toBe(200)
    expect(await me(reply.session)).toBe(200)
    expect(await useLink(owner, token)).toMatchObject({ status: 400, body: { code: 'invalid_token' } })
    await jobsAreDone(app.services)
    for (const { email } of [owner, workspace.owner]) {
      expect(mailsTo(email).at(-1)!.subject).toBe(
        `An owner signed in without the identity provider of ${domain}`,
      )
      expect(mailsTo(email).at(-1)!.text).toContain(owner.email)
    }
    const entries = await app.db.rows(sql`
      SELECT actor_name FROM activity_log WHERE activity = 'owner_recovered'
        AND organization_id = ${workspace.organization.id}`)
    expect(entries).toEqual([{ actor_name: owner.email }])
    expect((await liftEnforcement(workspace, reply.session!)).status).toBe(200)
    expect((await app.post('/api/login/', owner)).status).toBe(200)
  })

  it('its session ends after two hours', async () => {
    const { owner } = await makeClosed()
    const { session } = await useLink(owner, await tokenFor(owner))
    app.advance(2 * HOUR_MS - 1000)
    expect(await me(session)).toBe(200)
    app.advance(2000)
    expect(await me(session)).toBe(401)
    app.advance(-2 * HOUR_MS - 1000)
  })

  it('400 to change the address into another domain that is closed: there the owner is nobody', async () => {
    const [own, other] = [await makeClosed(), await makeClosed()]
    const session = (await useLink(own.owner, await tokenFor(own.owner))).session!
    const move = (domain: string) => app.patch('/api/users/@me/', { email: `moved@${domain}` }, { session })
    expect(await move(other.domain)).toMatchObject({ status: 400, body: { code: 'sso_enforced' } })
    expect((await move(own.domain)).status).toBe(200)
  })

  it('is no provider: where a second factor is demanded of whoever comes without one, its session needs it', async () => {
    const { workspace, owner } = await makeClosed()
    const { id } = workspace.organization
    await app.db.run(
      sql`UPDATE organization SET enforce_2fa = true, enforce_2fa_with_sso = false WHERE id = ${id}`,
    )
    const session = (await useLink(owner, await tokenFor(owner))).session!
    const denied = { status: 403, body: { code: 'two_factor_setup_required' } }
    const get = () => app.get(`/api/organizations/${id}/`, { session })
    expect(await get()).toMatchObject(denied)
    expect(await app.get('/api/organizations/', { session })).toMatchObject(denied)
    // Also while another organization is the current one.
    const other = (await createOrganization(app)).organization.id
    await insertMembership(app.db, other, owner.id, LEVELS.member, app.services.now())
    await app.db.run(sql`UPDATE app_user SET current_organization_id = ${other} WHERE id = ${owner.id}`)
    expect(await get()).toMatchObject(denied)
    await setUpDevice(app, { ...owner, session })
    expect((await get()).status).toBe(200)
  })

  it('asks for the second factor of whoever has one', async () => {
    const { owner, domain } = await makeClosed()
    await app.db.run(sql`UPDATE domain SET sso_enforcement = '' WHERE domain = ${domain}`)
    const device = await setUpDevice(app, owner)
    await app.db.run(sql`UPDATE domain SET sso_enforcement = 'saml' WHERE domain = ${domain}`)
    const token = await tokenFor(owner)
    await useLink(owner, token)
    const pending = await useLink(owner, token)
    expect(pending).toMatchObject({ status: 401, body: { code: '2fa_required' } })
    expect(await me(pending.session)).toBe(401)
    const told = () =>
      app.db.rows(sql`
        SELECT activity.id FROM activity_log AS activity JOIN domain ON domain.id::text = activity.item_id
        WHERE domain.domain = ${domain} AND activity.activity = 'owner_recovered'`)
    expect(await told()).toEqual([])
    app.advance(60_000)
    const reply = await app.post(
      '/api/login/token/',
      { token: codeOf(app, device) },
      { session: pending.session! },
    )
    expect(reply.status).toBe(200)
    expect(await me(reply.session)).toBe(200)
    expect(await told()).toHaveLength(1)
    expect(await useLink(owner, token)).toMatchObject({ status: 400, body: { code: 'invalid_token' } })
  })
})

describe('204 and no mail', () => {
  it('for anybody else: a member, an owner of another domain, nobody, and where nothing is demanded', async () => {
    const { workspace, domain, owner } = await makeClosed()
    const member = await createMember(app, workspace.organization, {
      email: `member@${domain}`,
      level: 'admin',
    })
    const stranger = (await createOrganization(app)).owner
    await app.db.run(sql`UPDATE app_user SET email = ${`stranger@${domain}`} WHERE id = ${stranger.id}`)
    const open = await makeClosed()
    await app.db.run(sql`UPDATE domain SET sso_enforcement = '' WHERE domain = ${open.domain}`)
    const addresses = [
      member.email,
      `stranger@${domain}`,
      workspace.owner.email,
      `nobody@${domain}`,
      open.owner.email,
    ]
    for (const email of addresses) expect((await ask(email)).status).toBe(204)
    await jobsAreDone(app.services)
    expect(addresses.flatMap(mailsTo)).toEqual([])
    expect(await useLink(owner, 'nonsense')).toMatchObject({ status: 400, body: { code: 'invalid_token' } })
  })

  it('a link is worth nothing once its owner is none any more', async () => {
    const { workspace, owner } = await makeClosed()
    const token = await tokenFor(owner)
    await app.db.run(sql`
      UPDATE membership SET level = 8 WHERE user_id = ${owner.id} AND organization_id = ${workspace.organization.id}`)
    const reply = await useLink(owner, token)
    expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_token' } })
    expect(reply.session).toBeUndefined()
  })
})

describe('limits', () => {
  it('429 after three links a day from one network; another network still gets one, up to thirty', async () => {
    const limited = await startTestApp({ SMTP_URL: smtp.url, RATE_LIMITS: 'on' })
    const ask = (ip: string, email = 'owner@closed.example') =>
      limited.post('/api/login/recovery/', { email }, { ip })
    for (let tries = 0; tries < 3; tries++) expect((await ask(`198.51.100.${tries}`)).status).toBe(204)
    for (let tries = 0; tries < 40; tries++)
      expect(await ask(`198.51.100.${tries + 3}`, 'OWNER@closed.example')).toMatchObject({
        status: 429,
        body: { code: 'throttled' },
      })
    for (let asked = 3; asked < 30; asked++) expect((await ask(`10.0.${asked}.1`)).status).toBe(204)
    expect((await ask('10.0.30.1')).status).toBe(429)
    expect((await ask('198.51.100.50', 'other@closed.example')).status).toBe(204)
    await limited.close()
  })
})
