// Invites through HTTP: who may invite whom, what a list shows, the mail, and that all of a bulk call happens or none.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createKey,
  createMember,
  createOrganization,
  createServiceKey,
  createUser,
  secretOf,
  type TestUser,
  type Workspace,
} from '../../../test/factories.ts'
import { startTestApp, type Reply, type TestApp } from '../../../test/harness/app.ts'
import { startSmtpServer, type SmtpStandIn } from '../../../test/stand-ins/smtp.ts'
import { sql } from '../../platform/db/sql.ts'
import type { LevelName } from '../../platform/http/caller.ts'
import { jobsAreDone } from '../../platform/jobs/fixture/queue.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const NOBODY = '00000000-0000-4000-8000-000000000000'

let smtp: SmtpStandIn
let app: TestApp
let workspace: Workspace
let member: TestUser
let admin: TestUser

beforeAll(async () => {
  smtp = await startSmtpServer()
  app = await startTestApp({ SMTP_URL: smtp.url })
  workspace = await createOrganization(app, { name: 'Acme' })
  member = await createMember(app, workspace.organization)
  admin = await createMember(app, workspace.organization, { level: 'admin' })
})
afterAll(async () => {
  await app.close()
  await smtp.close()
})
let count = 0
const address = (name = 'guest') => `${name}-${++count}@guests.example`
const pathOf = (organization: { id: string }) => `/api/organizations/${organization.id}/invites/`
const path = () => pathOf(workspace.organization)
const invite = (fields: object, user: TestUser = workspace.owner): Promise<Reply> =>
  app.post(path(), fields, { key: user.key })
const invitesOf = (organization = workspace.organization) =>
  app.db.rows<{ id: string; target_email: string; level: number }>(
    sql`SELECT * FROM invite WHERE organization_id = ${organization.id} ORDER BY created_at`,
  )
const activitiesFor = (name: string) =>
  app.db.rows<{ activity: string; item_id: string | null; actor_name: string }>(
    sql`SELECT * FROM activity_log WHERE scope = 'OrganizationInvite' AND detail->>'name' = ${name} ORDER BY position`,
  )
const mailsTo = (recipient: string) => smtp.mails.filter((mail) => mail.recipients.includes(recipient))

describe('GET /api/organizations/:id/invites/', () => {
  it('200 shows pending and expired invites to any member, newest first and in pages', async () => {
    const { organization, owner } = await createOrganization(app)
    const reader = await createMember(app, organization)
    const addresses = [address(), address(), address()]
    for (const target_email of addresses) {
      await app.post(pathOf(organization), { target_email }, { key: owner.key })
      app.advance(2 * DAY_MS)
    }
    const reply = await app.get(pathOf(organization), { key: reader.key })
    expect(reply).toMatchObject({ status: 200, body: { count: 3, next: null, previous: null } })
    expect(JSON.stringify(reply.body)).not.toContain('/signup/')
    expect(reply.body.results.map((row: { target_email: string }) => row.target_email)).toEqual(
      addresses.toReversed(),
    )
    expect(reply.body.results.map((row: { is_expired: boolean }) => row.is_expired)).toEqual([
      false,
      true,
      true,
    ])
    for (const { created_at, expires_at } of reply.body.results) {
      expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(3 * DAY_MS)
    }
    const page = await app.get(`${pathOf(organization)}?limit=1&offset=1`, { key: reader.key })
    expect(page.body).toMatchObject({ count: 3, results: [{ target_email: addresses[1] }] })
  })

  it('200 no longer shows an accepted one', async () => {
    const { organization, owner } = await createOrganization(app)
    const user = await createUser(app)
    const { body } = await app.post(pathOf(organization), { target_email: user.email }, { key: owner.key })
    expect((await app.post(`/api/signup/${secretOf(body)}/`, {}, { session: user.session })).status).toBe(201)
    expect((await app.get(pathOf(organization), { key: owner.key })).body).toMatchObject({
      count: 0,
      results: [],
    })
  })

  it('403 for strangers and for keys without the scope', async () => {
    const stranger = await createUser(app)
    const key = await createKey(app, workspace.owner, { scopes: ['organization:write'] })
    for (const call of [{ key: stranger.key }, { session: stranger.session }, { key }]) {
      expect(await app.get(path(), call)).toMatchObject({ status: 403, body: { code: 'permission_denied' } })
    }
  })
})

describe('POST /api/organizations/:id/invites/', () => {
  it('201 gives exactly the fields of the API, with their defaults', async () => {
    const reply = await invite({ target_email: '  Mixed.Case@GUESTS.Example ' })
    expect(reply.status).toBe(201)
    expect(reply.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      target_email: 'Mixed.Case@guests.example',
      first_name: '',
      emailing_attempt_made: true,
      level: 1,
      is_expired: false,
      expires_at: expect.any(String),
      created_by: expect.objectContaining({ uuid: workspace.owner.uuid, email: workspace.owner.email }),
      created_at: expect.any(String),
      updated_at: reply.body.created_at,
      message: null,
      private_project_access: [],
      link: expect.stringMatching(/^http:\/\/longshore\.test\/signup\/p[\w-]{65}$/),
    })
    expect(reply.body.created_by).not.toHaveProperty('password_hash')
    expect(Date.parse(reply.body.expires_at) - Date.parse(reply.body.created_at)).toBe(3 * DAY_MS)
  })

  it('201 keeps what was given, trimmed, and leaves an entry', async () => {
    const target_email = address()
    const fields = { target_email, first_name: ' Grace ', level: '8', message: '  Come over.\nTo us. ' }
    const { status, body } = await invite(fields, admin)
    expect(status).toBe(201)
    expect(body).toMatchObject({ first_name: 'Grace', level: 8, message: 'Come over.\nTo us.' })
    const entries = await activitiesFor(target_email)
    expect(entries).toMatchObject([{ activity: 'created', item_id: body.id, actor_name: admin.email }])
    expect(JSON.stringify(entries)).not.toContain(secretOf(body))
  })

  it('201 by a service key: nobody made it, and replies go nowhere but to us', async () => {
    const key = await createServiceKey(app, workspace.organization, { scopes: ['organization_member:write'] })
    const target_email = address()
    const reply = await app.post(path(), { target_email }, { key })
    expect(reply).toMatchObject({ status: 201, body: { created_by: null } })
    const mail = await smtp.waitForMail(target_email)
    expect(mail.replyTo).toEqual([])
    expect(mail.subject).toBe('Acme invited you to join Acme on Longshore')
  })

  it('201 replaces an earlier invite for the address, whatever its case: the old link dies', async () => {
    const target_email = address('Again')
    const first = await invite({ target_email, level: 8 })
    app.advance(4 * DAY_MS)
    const second = await invite({ target_email: target_email.toUpperCase() })
    expect(second).toMatchObject({ status: 201, body: { level: 1, is_expired: false } })
    expect(second.body.id).not.toBe(first.body.id)
    const rows = await invitesOf()
    expect(rows.filter((row) => row.target_email.toLowerCase() === target_email.toLowerCase())).toHaveLength(
      1,
    )
    expect(await app.get(`/api/signup/${secretOf(first.body)}/`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_input' },
    })
    expect((await app.get(`/api/signup/${secretOf(second.body)}/`)).status).toBe(200)
    expect(await activitiesFor(target_email)).toMatchObject([
      { activity: 'created', item_id: first.body.id },
      { activity: 'deleted', item_id: first.body.id },
    ])
  })

  it('201 leaves invites of other organizations for the address alone', async () => {
    const other = await createOrganization(app)
    const target_email = address()
    const kept = await app.post(pathOf(other.organization), { target_email }, { key: other.owner.key })
    await invite({ target_email })
    expect((await app.get(`/api/signup/${secretOf(kept.body)}/`)).status).toBe(200)
  })

  it('201 for a member of another organization', async () => {
    const { owner } = await createOrganization(app)
    expect(await invite({ target_email: owner.email })).toMatchObject({ status: 201 })
  })

  it('201 with combine_pending_invites takes the highest level pending, not that of an expired one', async () => {
    const target_email = address()
    await invite({ target_email, level: 8 })
    const combined = await invite({ target_email, combine_pending_invites: true })
    expect(combined.body.level).toBe(8)
    app.advance(3 * DAY_MS)
    expect((await invite({ target_email, combine_pending_invites: true })).body.level).toBe(1)
  })

  it('403 in place of a pending invite above the own level, or a member for one of somebody else', async () => {
    for (const [user, level] of [
      [member, 15],
      [admin, 15],
      [member, 1],
    ] as const) {
      const target_email = address()
      const kept = await invite({ target_email, level })
      for (const more of [{}, { combine_pending_invites: true }])
        expect(await invite({ target_email, level: 1, ...more }, user)).toMatchObject({
          status: 403,
          body: { code: 'permission_denied' },
        })
      const bulk = [{ target_email: address() }, { target_email }]
      expect((await app.post(`${path()}bulk/`, bulk, { key: user.key })).status).toBe(403)
      const rows = (await invitesOf()).filter((row) =>
        bulk.some((each) => each.target_email === row.target_email),
      )
      expect(rows).toMatchObject([{ id: kept.body.id, level }])
      app.advance(3 * DAY_MS)
      expect((await invite({ target_email, level: 1 }, user)).status).toBe(201)
    }
  })

  it('201 in place of the own invite for a member, and of one up to their level for an admin', async () => {
    const target_email = address()
    await invite({ target_email }, member)
    expect((await invite({ target_email }, member)).status).toBe(201)
    expect((await invite({ target_email, level: 8 }, admin)).status).toBe(201)
    expect((await invite({ target_email }, admin)).status).toBe(201)
  })

  it('201 without a mail when send_email is false', async () => {
    const target_email = address()
    const reply = await invite({ target_email, send_email: false })
    expect(reply).toMatchObject({ status: 201, body: { emailing_attempt_made: false } })
    await jobsAreDone(app.services)
    expect(mailsTo(target_email)).toEqual([])
  })

  it('201 for a repeat with the same Idempotency-Key is the same invite, mailed once', async () => {
    const target_email = address()
    const headers = { 'idempotency-key': `invite-${target_email}` }
    const replies = [
      await app.post(path(), { target_email }, { key: workspace.owner.key, headers }),
      await app.post(path(), { target_email }, { key: workspace.owner.key, headers }),
    ]
    expect(replies[1]!.body).toEqual(replies[0]!.body)
    await jobsAreDone(app.services)
    expect(mailsTo(target_email)).toHaveLength(1)
  })

  it.each([
    [{}, 'required', 'target_email'],
    [{ target_email: null }, 'null', 'target_email'],
    [{ target_email: 'nobody' }, 'invalid_input', 'target_email'],
    [{ target_email: 'a@b@example.com' }, 'invalid_input', 'target_email'],
    [{ target_email: 'a@example.com\r\nBcc: b@example.com' }, 'invalid_input', 'target_email'],
    [{ target_email: 5 }, 'invalid_input', 'target_email'],
    [
      { target_email: `${'a'.repeat(64)}@${'b'.repeat(62)}.${'c'.repeat(62)}.${'d'.repeat(62)}.example` },
      'max_length',
      'target_email',
    ],
    [{ target_email: 'a@x.example', first_name: 'x'.repeat(31) }, 'max_length', 'first_name'],
    [{ target_email: 'a@x.example', level: 2 }, 'invalid_choice', 'level'],
    [{ target_email: 'a@x.example', level: 'admin' }, 'invalid_choice', 'level'],
    [{ target_email: 'a@x.example', message: 'x'.repeat(5001) }, 'max_length', 'message'],
    [{ target_email: 'a@x.example', message: 'a\0b' }, 'invalid_input', 'message'],
    [{ target_email: 'a@x.example', send_email: 'perhaps' }, 'invalid_input', 'send_email'],
    [[{ target_email: 'a@x.example' }], 'invalid_input', null],
  ])('400 case %#: %s', async (body, code, attr) => {
    const before = await invitesOf()
    expect(await invite(body)).toMatchObject({ status: 400, body: { type: 'validation_error', code, attr } })
    expect(await invitesOf()).toEqual(before)
  })

  it('400 when the address is a member already, whatever its case', async () => {
    const reply = await invite({ target_email: member.email.toUpperCase() })
    expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_input', attr: null } })
    expect((await invitesOf()).some((row) => row.target_email.toLowerCase() === member.email)).toBe(false)
  })

  it.each<[LevelName, number, number]>([
    ['member', 1, 201],
    ['member', 8, 403],
    ['member', 15, 403],
    ['admin', 1, 201],
    ['admin', 8, 201],
    ['admin', 15, 403],
    ['owner', 8, 201],
    ['owner', 15, 201],
  ])('a %s inviting at level %i: %i', async (inviter, level, status) => {
    const user = { member, admin, owner: workspace.owner }[inviter]
    const target_email = address(inviter)
    const reply = await invite({ target_email, level }, user)
    expect(reply.status).toBe(status)
    const rows = (await invitesOf()).filter((row) => row.target_email === target_email)
    expect(rows.map((row) => row.level)).toEqual(status === 201 ? [level] : [])
    const entries = await activitiesFor(target_email)
    expect(entries.map((entry) => entry.activity)).toEqual(status === 201 ? ['created'] : [])
    const refusal = { type: 'authentication_error', code: 'permission_denied', attr: null }
    expect(reply.body).toMatchObject(status === 201 ? { target_email, level } : refusal)
  })

  it('403 counts the level in the organization of the path, not in the current one', async () => {
    const own = await createOrganization(app)
    const target_email = address()
    await app.db.run(
      sql`INSERT INTO membership VALUES (gen_random_uuid(), ${workspace.organization.id}, ${own.owner.id}, 1, now(), now())`,
    )
    const reply = await app.post(path(), { target_email, level: 8 }, { session: own.owner.session })
    expect(reply).toMatchObject({ status: 403, body: { code: 'permission_denied' } })
  })

  it('403 for strangers and for keys that may only read; 404 for an unknown organization', async () => {
    const stranger = await createUser(app)
    const reader = await createKey(app, workspace.owner, {
      scopes: ['organization_member:read', 'organization:write'],
    })
    const target_email = address()
    for (const key of [stranger.key, reader]) {
      // A bad body does not matter before the right to send one.
      for (const body of [{ target_email }, { target_email: 'nonsense' }]) {
        expect((await app.post(path(), body, { key })).status).toBe(403)
      }
    }
    expect((await app.post(pathOf({ id: NOBODY }), { target_email }, { key: stranger.key })).status).toBe(404)
    expect(await activitiesFor(target_email)).toEqual([])
  })
})

describe('POST /api/organizations/:id/invites/bulk/', () => {
  const bulk = (body: unknown, user: TestUser = workspace.owner) =>
    app.post(`${path()}bulk/`, body, { key: user.key, headers: { 'content-type': 'application/json' } })

  it('200 answers a list with a list in the same order, and mails everybody once', async () => {
    const addresses = Array.from({ length: 20 }, () => address('bulk'))
    const body = addresses.map((target_email, index) => ({ target_email, level: index === 3 ? 8 : 1 }))
    const reply = await bulk(body)
    expect(reply.status).toBe(200)
    expect(reply.body.map((row: { target_email: string }) => row.target_email)).toEqual(addresses)
    expect(reply.body[3].level).toBe(8)
    await jobsAreDone(app.services)
    expect(addresses.map((one) => mailsTo(one).length)).toEqual(addresses.map(() => 1))
  })

  it('200 answers a single object with a single invite', async () => {
    const target_email = address()
    expect(await bulk({ target_email })).toMatchObject({ status: 200, body: { target_email, level: 1 } })
  })

  const good = { target_email: 'good@bulk.example' }
  it.each<[unknown, string, string | null]>([
    [[], 'empty', null],
    [
      Array.from({ length: 21 }, (_, index) => ({ target_email: `n${index}@bulk.example` })),
      'max_length',
      null,
    ],
    ['"text"', 'invalid_input', null],
    ['5', 'invalid_input', null],
    ['null', 'invalid_input', null],
    ['true', 'invalid_input', null],
    [{}, 'required', 'target_email'],
    [[good, 'text'], 'invalid_input', '1'],
    [[good, { target_email: 'bad' }], 'invalid_input', '1__target_email'],
    [[good, { first_name: 'Nobody' }], 'required', '1__target_email'],
    [[good, { target_email: 'b@bulk.example', first_name: 'x'.repeat(31) }], 'max_length', '1__first_name'],
    [[good, { target_email: 'b@bulk.example', level: 3 }], 'invalid_choice', '1__level'],
    [
      [good, { target_email: 'b@bulk.example' }, { target_email: 'GOOD@Bulk.Example' }],
      'invalid_input',
      '2__target_email',
    ],
  ])('400 case %#: %s, and nobody is invited', async (body, code, attr) => {
    const before = await invitesOf()
    expect(await bulk(body)).toMatchObject({ status: 400, body: { code, attr } })
    expect(await invitesOf()).toEqual(before)
    expect(await activitiesFor('good@bulk.example')).toEqual([])
    await jobsAreDone(app.services)
    expect(mailsTo('good@bulk.example')).toEqual([])
  })

  it('400 when one of them is a member: the invites before it are taken back, earlier ones stay', async () => {
    const pending = address('pending')
    const earlier = await invite({ target_email: pending, send_email: false })
    const before = await invitesOf()
    const reply = await bulk([
      { target_email: pending },
      { target_email: address() },
      { target_email: admin.email },
    ])
    expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_input', attr: null } })
    expect(await invitesOf()).toEqual(before)
    expect((await app.get(`/api/signup/${secretOf(earlier.body)}/`)).status).toBe(200)
    await jobsAreDone(app.services)
    expect(mailsTo(pending)).toEqual([])
  })

  it('400 for an empty object: a list is expected', async () => {
    expect(await bulk({})).toMatchObject({
      status: 400,
      body: {
        code: 'required',
        attr: 'target_email',
        detail: expect.stringContaining('A list of invites is expected'),
      },
    })
  })

  it('403 when one level is above the inviter, and nobody is invited', async () => {
    const before = await invitesOf()
    const reply = await bulk([{ target_email: address() }, { target_email: address(), level: 8 }], member)
    expect(reply).toMatchObject({ status: 403, body: { code: 'permission_denied' } })
    expect(await invitesOf()).toEqual(before)
  })
})

describe('/api/organizations/:id/invites/:id/', () => {
  it('405 for reading or changing one, with what is offered', async () => {
    const { body } = await invite({ target_email: address() })
    for (const method of ['GET', 'PATCH', 'PUT']) {
      const reply = await app.call(method, `${path()}${body.id}/`, { key: workspace.owner.key })
      expect(reply).toMatchObject({ status: 405, headers: { allow: 'DELETE' } })
    }
  })

  it('204 DELETE by an admin, and the link is dead', async () => {
    const target_email = address()
    const { body } = await invite({ target_email }, member)
    const reply = await app.delete(`${path()}${body.id}/`, { key: admin.key })
    expect(reply).toMatchObject({ status: 204, body: null })
    for (const [method, content] of [
      ['GET'],
      ['POST', { first_name: 'A', password: 'x9$Kq2!vZ' }],
    ] as const) {
      const visit = await app.call(method, `/api/signup/${secretOf(body)}/`, { body: content })
      expect(visit).toMatchObject({ status: 400, body: { code: 'invalid_input', attr: null } })
    }
    expect((await app.delete(`${path()}${body.id}/`, { key: admin.key })).status).toBe(404)
    expect(await activitiesFor(target_email)).toMatchObject([
      { activity: 'created' },
      { activity: 'deleted', item_id: body.id },
    ])
  })

  it("a member takes back their own invites (204) and nobody else's (403)", async () => {
    const own = await invite({ target_email: address() }, member)
    const foreign = await invite({ target_email: address() }, admin)
    expect((await app.delete(`${path()}${own.body.id}/`, { key: member.key })).status).toBe(204)
    expect((await app.delete(`${path()}${foreign.body.id}/`, { key: member.key })).status).toBe(403)
    expect((await app.get(`/api/signup/${secretOf(foreign.body)}/`)).status).toBe(200)
  })

  it('404 for an unknown id, a malformed one and one of another organization', async () => {
    const other = await createOrganization(app)
    const foreign = await app.post(
      pathOf(other.organization),
      { target_email: address() },
      { key: other.owner.key },
    )
    for (const id of [NOBODY, 'nonsense', '1', foreign.body.id]) {
      expect((await app.delete(`${path()}${id}/`, { key: workspace.owner.key })).status).toBe(404)
      expect((await app.post(`${path()}${id}/resend/`, {}, { key: workspace.owner.key })).status).toBe(404)
    }
    expect((await app.get(`/api/signup/${secretOf(foreign.body)}/`)).status).toBe(200)
  })
})

describe('POST /api/organizations/:id/invites/:id/resend/', () => {
  const resend = (id: string, user: TestUser) => app.post(`${path()}${id}/resend/`, {}, { key: user.key })

  it('200 sends a new link with a fresh three days, even after it has expired; the earlier ones are dead', async () => {
    const target_email = address()
    const { body } = await invite({ target_email, message: 'Again.' })
    await smtp.waitForMail(target_email)
    app.advance(4 * DAY_MS)
    expect(await app.get(`/api/signup/${secretOf(body)}/`)).toMatchObject({
      status: 400,
      body: { code: 'expired' },
    })
    const reply = await resend(body.id, member)
    expect(reply.status).toBe(200)
    expect(reply.body).toEqual({
      ...body,
      expires_at: expect.any(String),
      updated_at: expect.any(String),
      link: expect.any(String),
    })
    expect(secretOf(reply.body)).not.toBe(secretOf(body))
    expect(Date.parse(reply.body.expires_at) - Date.parse(reply.body.updated_at)).toBe(3 * DAY_MS)
    const visit = async (invite: { link?: string }) =>
      (await app.get(`/api/signup/${secretOf(invite)}/`)).status
    expect(await visit(body)).toBe(400)
    expect(await visit(reply.body)).toBe(200)
    await jobsAreDone(app.services)
    const [first, second] = mailsTo(target_email).map(({ links }) => ({ link: links[0]! }))
    expect([await visit(first!), await visit(second!)]).toEqual([400, 200])
    expect(await activitiesFor(target_email)).toMatchObject([
      { activity: 'created' },
      { activity: 'resent', item_id: body.id },
    ])
  })

  it('200 counts as the first attempt for an invite made without a mail', async () => {
    const { body } = await invite({ target_email: address(), send_email: false })
    expect(await resend(body.id, admin)).toMatchObject({ status: 200, body: { emailing_attempt_made: true } })
  })

  it('403 for an invite at a level above the own, and nothing is sent', async () => {
    const target_email = address()
    const { body } = await invite({ target_email, level: 8, send_email: false })
    expect((await resend(body.id, member)).status).toBe(403)
    await jobsAreDone(app.services)
    expect(mailsTo(target_email)).toEqual([])
  })
})

describe('limits', () => {
  let limited: TestApp
  beforeAll(async () => {
    limited = await startTestApp({ RATE_LIMITS: 'on' })
  })
  afterAll(() => limited.close())

  const some = (length: number) => Array.from({ length }, () => ({ target_email: address('limited') }))

  it('429 beyond 50 an hour and 200 a day for each organization; resending counts, refused calls do not', async () => {
    const { organization, owner } = await createOrganization(limited)
    const call = { session: owner.session }
    const bulk = (length: number) => limited.post(`${pathOf(organization)}bulk/`, some(length), call)
    for (const length of [20, 20, 8]) expect((await bulk(length)).status).toBe(200)
    expect(await bulk(3)).toMatchObject({ status: 429, body: { code: 'throttled', attr: null } })
    const last = await limited.post(pathOf(organization), some(1)[0], call)
    expect(last.status).toBe(201)
    const resend = `${pathOf(organization)}${last.body.id}/resend/`
    expect((await limited.post(resend, {}, call)).status).toBe(200)
    const refused = await limited.post(resend, {}, call)
    expect(refused).toMatchObject({ status: 429, body: { type: 'throttled_error' } })
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3_000)
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(3_600)

    for (let hour = 1; hour < 4; hour++) {
      limited.advance(HOUR_MS)
      for (const length of [20, 20, 10]) expect((await bulk(length)).status).toBe(200)
    }
    limited.advance(HOUR_MS)
    const tomorrow = await bulk(1)
    expect(tomorrow.status).toBe(429)
    expect(Number(tomorrow.headers['retry-after'])).toBeGreaterThan(19 * 3_600)
    limited.advance(20 * HOUR_MS)
    expect((await bulk(1)).status).toBe(200)
  })

  it('is nothing to other organizations', async () => {
    const first = await createOrganization(limited)
    const second = await createOrganization(limited)
    for (const length of [20, 20, 10, 1]) {
      await limited.post(`${pathOf(first.organization)}bulk/`, some(length), { session: first.owner.session })
    }
    const blocked = await limited.post(pathOf(first.organization), some(1)[0], {
      session: first.owner.session,
    })
    expect(blocked.status).toBe(429)
    const free = await limited.post(pathOf(second.organization), some(1)[0], {
      session: second.owner.session,
    })
    expect(free.status).toBe(201)
  })
})
