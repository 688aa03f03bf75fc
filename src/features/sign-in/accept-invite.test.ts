// Accepting an invite through HTTP: what the link shows, every reason against it in its order, joining with a new
// account or as the signed-in user, once, and the mail to the others.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createMember,
  createOrganization,
  createUser,
  secretOf,
  type Workspace,
} from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { startSmtpServer, type SmtpStandIn } from '../../../test/stand-ins/smtp.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Level } from '../../platform/http/caller.ts'
import { jobsAreDone } from '../../platform/jobs/fixture/queue.ts'
import { inviteLink, type Way } from '../invites/link.ts'
import { insertInvite } from '../invites/queries.ts'
import type { InviteRow } from '../invites/schema.ts'
import { joinedEmail } from '../members/joined-email.ts'

const DAY_MS = 86_400_000
const PASSWORD = 'x9$Kq2!vZ for accepting'
const ACCOUNT = { first_name: 'Ines', password: PASSWORD }

let app: TestApp
let workspace: Workspace
beforeAll(async () => {
  app = await startTestApp()
  app.canary.plant('password', PASSWORD)
  workspace = await createOrganization(app, { name: 'Acme' })
})
afterAll(() => app.close())

let count = 0
const address = () => `invited-${++count}@example.com`

/** Straight into the table, since the API would refuse to invite some of these addresses. */
function makeInvite(
  target_email: string = address(),
  {
    level = 1,
    organization = workspace.organization,
    on = app,
  }: { level?: Level; organization?: { id: string }; on?: TestApp } = {},
): Promise<InviteRow> {
  const fields = {
    target_email,
    level,
    first_name: 'Ines',
    message: null,
    private_project_access: [],
    emailing_attempt_made: false,
    created_by: null,
  }
  return insertInvite(on.db, organization.id, fields, on.services.now())
}

const secretFor = (invite: InviteRow, on = app, way: Way = 'passed on') =>
  secretOf({ link: inviteLink(on.services, invite, way) })
const linkOf = (invite: InviteRow, on = app, way: Way = 'passed on') =>
  `/api/signup/${secretFor(invite, on, way)}/`
const membersOf = (organization: { id: string } = workspace.organization, on = app) =>
  on.db.rows<{ email: string; level: number }>(sql`
    SELECT email, level FROM membership JOIN app_user ON app_user.id = user_id
    WHERE organization_id = ${organization.id} ORDER BY joined_at, email`)
const membershipsOf = async (email: string) => (await membersOf()).filter((member) => member.email === email)
const isThere = async (invite: { id: string }) =>
  (await app.db.row(sql`SELECT FROM invite WHERE id = ${invite.id}`)) !== undefined

describe('GET /api/signup/:invite_id/', () => {
  it('200 shows anybody with the link what it is for, and no more', async () => {
    const invite = await makeInvite()
    const reply = await app.get(linkOf(invite))
    expect(reply).toMatchObject({ status: 200 })
    expect(reply.body).toEqual({
      id: invite.id,
      target_email: invite.target_email,
      first_name: 'Ines',
      organization_name: 'Acme',
    })
  })

  it('200 for the invited user, whatever the case of the address', async () => {
    const user = await createUser(app)
    const invite = await makeInvite(user.email.toUpperCase())
    expect((await app.get(linkOf(invite), { session: user.session })).status).toBe(200)
  })
})

// Each case meets its own reason and, where possible, every later one too: the first in order is the one told.
describe.each(['GET', 'POST'] as const)('what speaks against accepting, %s', (method) => {
  const visit = (invite: InviteRow, session?: string) => visitLink(linkOf(invite), session)
  const visitLink = (link: string, session?: string) =>
    app.call(method, link, {
      ...(session === undefined ? {} : { session }),
      ...(method === 'POST' ? { body: ACCOUNT } : {}),
    })
  const refusal = (code: string) => ({ status: 400, body: { type: 'validation_error', code, attr: null } })

  it('1: the link is unknown, malformed, or not of the invite as it is', async () => {
    const user = await createUser(app)
    const invite = await makeInvite(user.email)
    const [right, of_another] = [secretFor(invite), secretFor(await makeInvite())]
    const secrets = [
      '00000000-0000-4000-8000-000000000000',
      'nonsense',
      '1',
      '%20',
      'm'.repeat(66),
      // The id opens nothing, however it is spelled.
      invite.id,
      `p${right.slice(1, 23)}`,
      `${right.slice(0, 23)}${of_another.slice(23)}`,
      // Another way than it was made for, another level, another time.
      `m${right.slice(1)}`,
      secretFor({ ...invite, level: 15 }),
      secretFor({ ...invite, expires_at: new Date(invite.expires_at.getTime() + 1) }),
    ]
    for (const secret of secrets) {
      const link = `/api/signup/${secret}/`
      expect(await visitLink(link), secret).toMatchObject(refusal('invalid_input'))
      expect(await visitLink(link, user.session), secret).toMatchObject(refusal('invalid_input'))
    }
    expect(await isThere(invite)).toBe(true)
    expect((await visit(invite, user.session)).status).toBe(method === 'GET' ? 200 : 201)
  })

  it('2: the visitor is signed in with another address', async () => {
    const other = await createMember(app, workspace.organization)
    const invite = await makeInvite((await createMember(app, workspace.organization)).email)
    app.advance(4 * DAY_MS)
    expect(await visit(invite, other.session)).toMatchObject(refusal('invalid_recipient'))
    expect(await isThere(invite)).toBe(true)
  })

  it('3: it has expired', async () => {
    const user = await createMember(app, workspace.organization)
    const invite = await makeInvite(user.email)
    app.advance(3 * DAY_MS)
    expect(await visit(invite)).toMatchObject(refusal('expired'))
    expect(await visit(invite, user.session)).toMatchObject(refusal('expired'))
  })

  it('4: the visitor is not signed in and the address has an account', async () => {
    const user = await createMember(app, workspace.organization)
    const invite = await makeInvite(user.email.toUpperCase())
    const reply = await visit(invite)
    expect(reply).toMatchObject(refusal(method === 'GET' ? 'account_exists' : 'invalid_input'))
    expect(reply.body.detail).toBe(`/login?next=/signup/${secretFor(invite)}`)
    // A key is not a sign-in: the link says who is meant, not whose key happens to be at hand.
    const withKey = await app.call(method, linkOf(invite), { key: user.key, body: ACCOUNT })
    expect(withKey.body.code).toBe(reply.body.code)
    expect(await isThere(invite)).toBe(true)
  })

  it('5: the visitor is a member already', async () => {
    const user = await createMember(app, workspace.organization, { level: 'admin' })
    const invite = await makeInvite(user.email)
    expect(await visit(invite, user.session)).toMatchObject(refusal('user_already_member'))
    expect(await membershipsOf(user.email)).toEqual([{ email: user.email, level: 8 }])
  })

  it('6: somebody else of that address is a member', async () => {
    // The one way to two users of one address: "İ" in lower case is one letter to the database and two to JavaScript.
    const [visitor, other] = [`i\u0307${++count}@example.com`, `\u0130${count}@example.com`]
    const user = await createUser(app, { email: visitor })
    await createMember(app, workspace.organization, { email: other })
    expect(await visit(await makeInvite(other), user.session)).toMatchObject(
      refusal('existing_email_address'),
    )
    expect(await membershipsOf(visitor)).toEqual([])
  })
})

describe('POST /api/signup/:invite_id/ of a visitor', () => {
  it('201 makes the account of the invited address, joins at the level of the invite, and signs in', async () => {
    const invite = await makeInvite('Ines.Invited@example.com', { level: 8 })
    const other = await createOrganization(app)
    const elsewhere = await makeInvite(invite.target_email, { organization: other.organization })
    const reply = await app.post(linkOf(invite), {
      ...ACCOUNT,
      role_at_organization: 'data',
      // Nothing of this is theirs to say.
      email: 'somebody-else@example.com',
      level: 15,
      is_staff: true,
    })
    expect(reply.status).toBe(201)
    expect(reply.body).toEqual({
      id: expect.any(Number),
      uuid: expect.any(String),
      distinct_id: expect.any(String),
      first_name: 'Ines',
      last_name: '',
      email: 'Ines.Invited@example.com',
      is_email_verified: false,
      hedgehog_config: {},
      redirect_url: '/',
    })
    const account = (await app.get('/api/users/@me/', { session: reply.session! })).body
    expect(account).toMatchObject({
      is_staff: false,
      role_at_organization: 'data',
      organization: { id: workspace.organization.id, membership_level: 8 },
      team: { id: workspace.project.id },
      organizations: [{ id: workspace.organization.id }],
    })
    expect([await isThere(invite), await isThere(elsewhere)]).toEqual([false, true])
    const entries = await app.db.rows(sql`
      SELECT scope, activity, actor_name, user_id FROM activity_log
      WHERE detail->>'name' = ${invite.target_email} ORDER BY position`)
    const actor = { actor_name: invite.target_email, user_id: reply.body.id }
    expect(entries).toEqual([
      { scope: 'OrganizationInvite', activity: 'accepted', ...actor },
      { scope: 'OrganizationMembership', activity: 'created', ...actor },
    ])
    const again = await app.post(linkOf(invite), ACCOUNT)
    expect(again).toMatchObject({ status: 400, body: { code: 'invalid_input', attr: null } })
  })

  it.each([
    [{ first_name: undefined }, 'required', 'first_name'],
    [{ first_name: '' }, 'blank', 'first_name'],
    [{ first_name: 'x'.repeat(129) }, 'max_length', 'first_name'],
    [{ password: undefined }, 'required', 'password'],
    [{ password: null }, 'null', 'password'],
    [{ password: 'x9$Kq2!' }, 'password_too_short', 'password'],
    [{ password: 'password1' }, 'password_too_weak', 'password'],
    [{ first_name: 'Xyloquartz', password: 'Xyloquartz1234' }, 'password_too_weak', 'password'],
  ])('400 for %j, and the invite stays', async (fields, code, attr) => {
    const invite = await makeInvite()
    const reply = await app.post(linkOf(invite), { ...ACCOUNT, ...fields })
    expect(reply).toMatchObject({ status: 400, body: { code, attr } })
    expect(reply.session).toBeUndefined()
    expect(await isThere(invite)).toBe(true)
    expect(await app.db.rows(sql`SELECT FROM app_user WHERE email = ${invite.target_email}`)).toEqual([])
  })

  it('400 for a password made of the invited address', async () => {
    const invite = await makeInvite('someone@xyloquartz.example')
    const reply = await app.post(linkOf(invite), { ...ACCOUNT, password: 'Xyloquartz1234' })
    expect(reply).toMatchObject({ status: 400, body: { code: 'password_too_weak' } })
  })

  it('400 once the organization is gone', async () => {
    const { organization, owner } = await createOrganization(app)
    const invite = await makeInvite(address(), { organization })
    await app.delete(`/api/organizations/${organization.id}/`, { key: owner.key })
    expect(await app.post(linkOf(invite), ACCOUNT)).toMatchObject({
      status: 400,
      body: { code: 'invalid_input' },
    })
  })

  it('makes one account and one membership of many requests at once', async () => {
    const invite = await makeInvite()
    const replies = await Promise.all(Array.from({ length: 6 }, () => app.post(linkOf(invite), ACCOUNT)))
    expect(replies.map((reply) => reply.status).toSorted((a, b) => a - b)).toEqual([
      201, 400, 400, 400, 400, 400,
    ])
    for (const reply of replies.filter(({ status }) => status === 400)) {
      expect(reply).toMatchObject({ body: { code: 'invalid_input', attr: null }, session: undefined })
    }
    expect(await membershipsOf(invite.target_email)).toHaveLength(1)
  })
})

describe('POST /api/signup/:invite_id/ of a signed-in user', () => {
  it('201 joins; the current organization and project become the new ones', async () => {
    const { owner: user, organization: own } = await createOrganization(app)
    const invite = await makeInvite(user.email.toUpperCase(), { level: 8 })
    const reply = await app.call('POST', linkOf(invite), { session: user.session })
    expect(reply).toMatchObject({
      status: 201,
      body: { uuid: user.uuid, email: user.email, redirect_url: '/' },
    })
    expect(reply.session).toBeUndefined()
    const account = (await app.get('/api/users/@me/', { session: user.session })).body
    expect(account).toMatchObject({
      organization: { id: workspace.organization.id, membership_level: 8 },
      team: { id: workspace.project.id },
      organizations: [{ id: own.id }, { id: workspace.organization.id }],
    })
    expect(await isThere(invite)).toBe(false)
  })

  it.each([
    { first_name: 'Mallory', password: 'another x9$Kq2!vZ', role_at_organization: 'spy' },
    { first_name: null, password: '' },
    { first_name: 5, password: ['x'] },
    ['nonsense'],
  ])('201 and %j in the body changes neither name nor password', async (body) => {
    const user = await createUser(app)
    const before = await app.db.only(
      sql`SELECT first_name, password_hash, role_at_organization FROM app_user WHERE id = ${user.id}`,
    )
    const reply = await app.post(linkOf(await makeInvite(user.email)), body, { session: user.session })
    expect(reply).toMatchObject({ status: 201, body: { first_name: 'Test' } })
    const after = await app.db.only(
      sql`SELECT first_name, password_hash, role_at_organization FROM app_user WHERE id = ${user.id}`,
    )
    expect(after).toEqual(before)
  })

  it('201 once of many requests at once', async () => {
    const user = await createUser(app)
    const invite = await makeInvite(user.email)
    const replies = await Promise.all(
      Array.from({ length: 6 }, () => app.post(linkOf(invite), {}, { session: user.session })),
    )
    expect(replies.map((reply) => reply.status).toSorted((a, b) => a - b)).toEqual([
      201, 400, 400, 400, 400, 400,
    ])
    expect(await membershipsOf(user.email)).toHaveLength(1)
  })

  it('201 into an organization that demands a second factor, which then keeps the session out', async () => {
    const { organization } = await createOrganization(app, { enforce_2fa: true })
    const user = await createUser(app)
    const invite = await makeInvite(user.email, { organization })
    expect((await app.post(linkOf(invite), {}, { session: user.session })).status).toBe(201)
    expect(await app.get('/api/organizations/', { session: user.session })).toMatchObject({
      status: 403,
      body: { code: 'two_factor_setup_required' },
    })
  })

  it('403 from another site', async () => {
    const user = await createUser(app)
    const invite = await makeInvite(user.email)
    const call = { session: user.session, headers: { origin: 'https://evil.example' } }
    expect((await app.post(linkOf(invite), {}, call)).status).toBe(403)
    expect(await isThere(invite)).toBe(true)
  })
})

describe('where mail is configured', () => {
  let smtp: SmtpStandIn
  let mailing: TestApp
  beforeAll(async () => {
    smtp = await startSmtpServer()
    mailing = await startTestApp({ SMTP_URL: smtp.url })
    mailing.canary.plant('password', PASSWORD)
  })
  afterAll(async () => {
    await mailing.close()
    await smtp.close()
  })

  const joinMails = (name: string) =>
    smtp.mails
      .filter((mail) => mail.subject === `${name} joined you on Longshore`)
      .flatMap((mail) => mail.recipients)

  it('201 without a cookie for a new account: the address has to be verified first', async () => {
    const { organization } = await createOrganization(mailing)
    const invite = await makeInvite(address(), { organization, on: mailing })
    const reply = await mailing.post(linkOf(invite, mailing), ACCOUNT)
    expect(reply).toMatchObject({ status: 201, body: { redirect_url: `/verify_email/${reply.body.uuid}` } })
    expect(reply.session).toBeUndefined()
    expect(await membersOf(organization, mailing)).toHaveLength(2)
    const mail = await smtp.waitForMail(invite.target_email)
    const token = mail.links[0]!.split('/').at(-1)!
    const verified = await mailing.post(`/api/users/${reply.body.uuid}/verify_email/`, { token })
    mailing.canary.plant('verification token', token)
    const account = await mailing.get('/api/users/@me/', { session: verified.session! })
    expect(account.body).toMatchObject({ is_email_verified: true, organization: { id: organization.id } })
  })

  it('201 with a cookie by the mailed link: it proves the address', async () => {
    const { organization } = await createOrganization(mailing)
    const invite = await makeInvite(address(), { organization, on: mailing, level: 15 })
    const reply = await mailing.post(linkOf(invite, mailing, 'mailed'), ACCOUNT)
    expect(reply).toMatchObject({ status: 201, body: { redirect_url: '/', is_email_verified: true } })
    const account = await mailing.get('/api/users/@me/', { session: reply.session! })
    expect(account.body).toMatchObject({ organization: { id: organization.id, membership_level: 15 } })
  })

  it.each([
    [8, false],
    [15, false],
    [1, true],
  ] as const)(
    '400 for level %i (with a private project: %s) by a link that was passed on, until the address is proved',
    async (level, hasProject) => {
      const { organization, project } = await createOrganization(mailing)
      const invite = await makeInvite(address(), { organization, on: mailing, level })
      const promised = hasProject ? [{ id: project.id, level: 'member' }] : []
      await mailing.db.run(sql`
        UPDATE invite SET private_project_access = ${JSON.stringify(promised)} WHERE id = ${invite.id}`)
      const refusal = { status: 400, body: { code: 'address_not_proved', attr: null } }
      expect(await mailing.get(linkOf(invite, mailing))).toMatchObject(refusal)
      expect(await mailing.post(linkOf(invite, mailing), ACCOUNT)).toMatchObject(refusal)
      const user = await createUser(mailing, { email: invite.target_email })
      await mailing.db.run(sql`UPDATE app_user SET is_email_verified = false WHERE id = ${user.id}`)
      const accept = () => mailing.post(linkOf(invite, mailing), {}, { session: user.session })
      expect(await accept()).toMatchObject(refusal)
      expect(await membersOf(organization, mailing)).toHaveLength(1)
      await mailing.db.run(sql`UPDATE app_user SET is_email_verified = true WHERE id = ${user.id}`)
      expect((await accept()).status).toBe(201)
      expect(await membersOf(organization, mailing)).toContainEqual({ email: user.email, level })
    },
  )

  it('tells every other active member, each in a mail of their own, and not the one who joined', async () => {
    const { organization, owner } = await createOrganization(mailing)
    const member = await createMember(mailing, organization)
    const inactive = await createMember(mailing, organization)
    await mailing.db.run(sql`UPDATE app_user SET is_active = false WHERE id = ${inactive.id}`)
    const user = await createUser(mailing, { first_name: 'Jo<b>' })
    const invite = await makeInvite(user.email, { organization, on: mailing })
    expect((await mailing.post(linkOf(invite, mailing), {}, { session: user.session })).status).toBe(201)
    await jobsAreDone(mailing.services)
    expect(joinMails('Jo<b>').toSorted()).toEqual([owner.email, member.email].toSorted())
    const mail = await smtp.waitForMail(owner.email)
    expect(mail.text).toContain(`Jo<b> (${user.email})`)
    expect(mail.html).not.toContain('<b>')
  })

  it('tells nobody where the organization does not want it, or where nobody else is', async () => {
    const silent = await createOrganization(mailing, { is_member_join_email_enabled: false })
    const empty = await createOrganization(mailing)
    await mailing.db.run(sql`DELETE FROM membership WHERE organization_id = ${empty.organization.id}`)
    for (const { organization } of [silent, empty]) {
      const user = await createUser(mailing, { first_name: 'Quiet' })
      const invite = await makeInvite(user.email, { organization, on: mailing })
      expect((await mailing.post(linkOf(invite, mailing), {}, { session: user.session })).status).toBe(201)
    }
    await jobsAreDone(mailing.services)
    expect(joinMails('Quiet')).toEqual([])
  })

  it('tells nobody who has left by the time the mail is sent', async () => {
    const { organization, owner } = await createOrganization(mailing)
    const joiner = await createMember(mailing, organization, { first_name: 'Late' })
    const data = { organization_id: organization.id, joined_user_id: joiner.id, recipient_id: owner.id }
    await joinedEmail.handle(mailing.services, data, mailing.services.now())
    expect(joinMails('Late')).toEqual([owner.email])
    await mailing.db.run(sql`DELETE FROM membership WHERE user_id = ${owner.id}`)
    await joinedEmail.handle(mailing.services, data, mailing.services.now())
    expect(joinMails('Late')).toEqual([owner.email])
  })
})
