// /api/users/@me/ through HTTP: what an account shows and to whom, and every field that can be changed.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createKey,
  createMember,
  createOrganization,
  createServiceKey,
  createUser,
  type TestUser,
  type Workspace,
} from '../../../test/factories.ts'
import { startTestApp, type Call, type TestApp } from '../../../test/harness/app.ts'
import { startSmtpServer, type SmtpStandIn } from '../../../test/stand-ins/smtp.ts'
import { sql } from '../../platform/db/sql.ts'
import { jobsAreDone } from '../../platform/jobs/fixture/queue.ts'
import { setUpDevice } from '../two-factor/fixture/authenticator.ts'

const MINUTE_MS = 60_000
const NOBODY = '00000000-0000-7000-8000-000000000000'
const NEW_PASSWORD = 'x9$Kq2!vZ of one’s own choice'

let app: TestApp
let workspace: Workspace
let owner: TestUser

beforeAll(async () => {
  app = await startTestApp()
  app.canary.plant('password', NEW_PASSWORD)
  workspace = await createOrganization(app, { name: 'Acme' })
  owner = workspace.owner
})
afterAll(() => app.close())

const get = (call: Call, uuid = '@me') => app.get(`/api/users/${uuid}/`, call)
const patch = (body: object, call: Call, uuid = '@me', on: TestApp = app) =>
  on.patch(`/api/users/${uuid}/`, body, call)
const login = (email: string, password: string, on: TestApp = app) =>
  on.post('/api/login/', { email, password })
const join = (organization: { id: string }, user: { id: number }) =>
  app.db.run(
    sql`INSERT INTO membership VALUES (gen_random_uuid(), ${organization.id}, ${user.id}, 1, now(), now())`,
  )
const activitiesOf = (user: { uuid: string }) =>
  app.db.rows<{ detail: { changes: object[] } }>(
    sql`SELECT * FROM activity_log WHERE scope = 'User' AND item_id = ${user.uuid} ORDER BY position`,
  )

const EMBEDDED = [
  'id',
  'uuid',
  'distinct_id',
  'first_name',
  'last_name',
  'email',
  'is_email_verified',
  'hedgehog_config',
]
const BRIEF = [...EMBEDDED, 'date_joined']
const FULL = [
  ...BRIEF,
  'pending_email',
  'notification_settings',
  'anonymize_data',
  'has_password',
  'active_personal_api_keys',
  'is_staff',
  'is_2fa_enabled',
  'has_social_auth',
  'role_at_organization',
  'team',
  'organization',
  'organizations',
]

describe('GET /api/users/@me/', () => {
  it('200 shows the whole account to its session and to a key with user:read', async () => {
    const key = await createKey(app, owner, { scopes: ['user:read'] })
    for (const call of [{ session: owner.session }, { key }, { key: owner.key }]) {
      const reply = await get(call)
      expect(reply.status).toBe(200)
      expect(Object.keys(reply.body).toSorted()).toEqual(FULL.toSorted())
      expect(reply.body).toMatchObject({
        id: owner.id,
        uuid: owner.uuid,
        email: owner.email,
        pending_email: null,
        has_password: true,
        is_staff: false,
        is_2fa_enabled: false,
        has_social_auth: false,
        hedgehog_config: {},
        team: { id: workspace.project.id, name: 'Default project' },
        organization: {
          id: workspace.organization.id,
          name: 'Acme',
          membership_level: 15,
          member_count: '1',
        },
        organizations: [
          {
            id: workspace.organization.id,
            name: 'Acme',
            slug: workspace.organization.slug,
            membership_level: 15,
          },
        ],
      })
      expect(Date.parse(reply.body.date_joined)).toBe(owner.date_joined.getTime())
    }
  })

  it('200 tells any other key whose it is, and no more, whatever it is limited to', async () => {
    const keys = [
      await createKey(app, owner, { scopes: ['organization:read'] }),
      await createKey(app, owner, { scopes: ['query:read'], scoped_teams: [workspace.project.id] }),
      await createKey(app, owner, {
        scopes: ['query:read'],
        scoped_organizations: [workspace.organization.id],
      }),
    ]
    for (const key of keys) {
      const reply = await get({ key })
      expect(reply).toMatchObject({ status: 200, body: { uuid: owner.uuid } })
      expect(Object.keys(reply.body).toSorted()).toEqual(BRIEF.toSorted())
    }
  })

  it('200 with user:read: a limited key is told of what it is limited to alone', async () => {
    const [one, other] = [await createOrganization(app), await createOrganization(app)]
    const user = await createMember(app, one.organization, { level: 'admin' })
    await join(other.organization, user)
    const session = { session: user.session }
    const second = await app.post(`/api/organizations/${one.organization.id}/projects/`, {}, session)
    await patch({ set_current_organization: other.organization.id }, session)
    const limits: [object, { organization: string; teams: number[] }][] = [
      [
        { scoped_organizations: [one.organization.id] },
        { organization: one.organization.id, teams: [one.project.id, second.body.id] },
      ],
      [{ scoped_teams: [second.body.id] }, { organization: one.organization.id, teams: [second.body.id] }],
    ]
    for (const [limit, { organization, teams }] of limits) {
      const key = await createKey(app, user, { scopes: ['user:read'], ...limit })
      const listed = await app.get('/api/users/', { key })
      for (const me of [(await get({ key })).body, listed.body.results[0]]) {
        expect(me.organization.id).toBe(organization)
        expect(me.organization.teams.map(({ id }: { id: number }) => id)).toEqual(teams)
        expect(me.organizations.map(({ id }: { id: string }) => id)).toEqual([organization])
        // What `@current` means to the same key.
        expect(me.team.id).toBe(teams[0])
      }
    }
    expect((await get(session)).body.organizations).toHaveLength(2)
  })

  it('200 by the own uuid too', async () => {
    expect((await get({ session: owner.session }, owner.uuid.toUpperCase())).body.uuid).toBe(owner.uuid)
  })

  it('200 with no password, no organization and no project where there is none', async () => {
    const user = await createUser(app, { password_hash: null })
    expect((await get({ session: user.session })).body).toMatchObject({
      has_password: false,
      organization: null,
      team: null,
      organizations: [],
    })
  })

  it('200 takes the organization joined first for the current one until another is chosen, as `@current` does', async () => {
    const [older, newer] = [await createOrganization(app), await createOrganization(app)]
    const user = await createMember(app, newer.organization)
    await app.db.run(
      sql`UPDATE membership SET joined_at = joined_at - interval '1 hour' WHERE user_id = ${user.id}`,
    )
    await join(older.organization, user)
    await app.db.run(
      sql`UPDATE app_user SET current_organization_id = NULL, current_project_id = NULL WHERE id = ${user.id}`,
    )
    const { body } = await get({ session: user.session })
    expect(body).toMatchObject({
      organization: { id: newer.organization.id },
      team: { id: newer.project.id },
    })
    const current = await app.get('/api/organizations/@current/', { session: user.session })
    expect(current.body.id).toBe(newer.organization.id)
  })

  it('401 without credentials; 403 for a service key, which is nobody', async () => {
    const key = await createServiceKey(app, workspace.organization, { scopes: ['*'] })
    expect((await get({})).status).toBe(401)
    expect((await get({ key })).status).toBe(403)
  })
})

describe('another account', () => {
  it('403 for everybody, whether it exists or not; staff see it, or 404', async () => {
    const staff = await createUser(app, { is_staff: true })
    const member = await createMember(app, workspace.organization)
    for (const uuid of [member.uuid, NOBODY, 'nonsense']) {
      expect((await get({ session: owner.session }, uuid)).status).toBe(403)
      expect((await patch({ first_name: 'X' }, { session: owner.session }, uuid)).status).toBe(403)
    }
    expect((await get({ session: staff.session }, member.uuid)).body).toMatchObject({ email: member.email })
    for (const uuid of [NOBODY, 'nonsense'])
      expect((await get({ session: staff.session }, uuid)).status).toBe(404)
  })

  it('is looked after by staff, but not taken over', async () => {
    const staff = await createUser(app, { is_staff: true })
    const user = await createMember(app, workspace.organization)
    const call = { session: staff.session }
    for (const taken of [{ email: 'mine@example.com' }, { password: NEW_PASSWORD }]) {
      const refused = await patch({ first_name: 'Half', ...taken }, call, user.uuid)
      expect([refused.status, refused.body.code]).toEqual([403, 'permission_denied'])
    }
    // What was read may be sent back.
    const fields = { first_name: 'Renamed', email: user.email, hedgehog_config: { a: 1 } }
    expect(await patch(fields, call, user.uuid)).toMatchObject({
      status: 200,
      body: { first_name: 'Renamed', email: user.email, hedgehog_config: {} },
    })
    expect((await login(user.email, user.password)).status).toBe(200)
    expect((await patch({ is_staff: true }, call, user.uuid)).body.is_staff).toBe(true)
    expect((await patch({ is_active: false }, call, user.uuid)).status).toBe(200)
    for (const credential of [{ session: user.session }, { key: user.key }]) {
      expect((await get(credential)).status).toBe(401)
    }
    expect((await login(user.email, user.password)).body.code).toBe('invalid_credentials')
  })
})

describe('PATCH /api/users/@me/', () => {
  it('200 changes what is given and nothing else; what is read-only is ignored', async () => {
    const user = await createMember(app, workspace.organization)
    const before = (await get({ session: user.session })).body
    expect((await patch({}, { session: user.session })).body).toEqual(before)
    const changes = {
      first_name: 'New',
      last_name: 'Name',
      hedgehog_config: { color: 'blue' },
      notification_settings: { plugin_disabled: false },
      anonymize_data: 'true',
      role_at_organization: 'founder',
    }
    const ignored = {
      uuid: NOBODY,
      id: 1,
      distinct_id: 'x',
      is_email_verified: false,
      pending_email: 'a@b.example',
      is_active: false,
    }
    const reply = await patch({ ...changes, ...ignored, unknown: 1 }, { session: user.session })
    expect(reply.status).toBe(200)
    const notification_settings = { ...before.notification_settings, ...changes.notification_settings }
    expect(reply.body).toEqual({ ...before, ...changes, notification_settings, anonymize_data: true })
    expect((await get({ session: user.session })).body).toEqual(reply.body)
    expect(await activitiesOf(user)).toMatchObject([
      {
        detail: { changes: [{ field: 'first_name', before: 'Test', after: 'New' }, { field: 'last_name' }] },
      },
    ])
  })

  it.each([
    [{ first_name: '' }, 'blank', 'first_name'],
    [{ first_name: null }, 'null', 'first_name'],
    [{ first_name: 'x'.repeat(129) }, 'max_length', 'first_name'],
    [{ last_name: 'x'.repeat(151) }, 'max_length', 'last_name'],
    [{ email: 'nonsense' }, 'invalid_input', 'email'],
    [{ email: null }, 'null', 'email'],
    [{ hedgehog_config: 'blue' }, 'invalid_input', 'hedgehog_config'],
    [{ hedgehog_config: { a: 'x'.repeat(4089) } }, 'invalid_input', 'hedgehog_config'],
    [{ hedgehog_config: { a: 'ä'.repeat(2045) } }, 'invalid_input', 'hedgehog_config'],
    // PostgreSQL would keep 301 digits of each.
    [{ hedgehog_config: { a: Array(20).fill(1e300) } }, 'invalid_input', 'hedgehog_config'],
    [{ notification_settings: [] }, 'invalid_input', 'notification_settings'],
    [{ anonymize_data: 'perhaps' }, 'invalid_input', 'anonymize_data'],
    [{ set_current_team: 'first' }, 'invalid_input', 'set_current_team'],
    [{ set_current_organization: 5 }, 'invalid_input', 'set_current_organization'],
  ])('400 for %j', async (body, code, attr) => {
    expect(await patch(body, { session: owner.session })).toMatchObject({ status: 400, body: { code, attr } })
  })

  it('takes a hedgehog_config of 4,096 bytes, and null', async () => {
    const user = await createMember(app, workspace.organization)
    const hedgehog_config = { a: 'x'.repeat(4088) }
    expect((await patch({ hedgehog_config }, { session: user.session })).body).toMatchObject({
      hedgehog_config,
    })
    expect((await patch({ hedgehog_config: null }, { session: user.session })).body).toMatchObject({
      hedgehog_config: {},
    })
  })

  it('403 for a key without user:write, and for anybody but staff who touches is_staff', async () => {
    const reader = await createKey(app, owner, { scopes: ['user:read', 'organization:write'] })
    expect((await patch({ first_name: 'X' }, { key: reader })).status).toBe(403)
    for (const is_staff of [true, false]) {
      const reply = await patch({ is_staff, first_name: 'X' }, { session: owner.session })
      expect(reply).toMatchObject({ status: 403, body: { code: 'permission_denied' } })
    }
    expect((await get({ session: owner.session })).body).toMatchObject({
      is_staff: false,
      first_name: 'Olive',
    })
    const writer = await createKey(app, owner, { scopes: ['user:write'] })
    expect((await patch({ last_name: 'Oil' }, { key: writer })).body.last_name).toBe('Oil')
  })
})

describe('PATCH email', () => {
  it('200 at once where no mail is configured, but no longer verified', async () => {
    const user = await createMember(app, workspace.organization)
    const email = `Moved-${user.email}`
    const reply = await patch({ email }, { session: user.session })
    expect(reply).toMatchObject({
      status: 200,
      body: { email, pending_email: null, is_email_verified: false },
    })
    expect((await login(email, user.password)).status).toBe(200)
    expect(await activitiesOf(user)).toMatchObject([
      { detail: { changes: [{ field: 'email', before: user.email, after: email }] } },
    ])
  })

  it('200 for the own address in another case, which stays verified', async () => {
    const user = await createUser(app)
    const email = user.email.replace('user', 'USER')
    expect((await patch({ email }, { session: user.session })).body).toMatchObject({
      email,
      is_email_verified: true,
    })
  })

  it('400 when it is taken, whatever its case, and by one of two at the same moment', async () => {
    const [one, other] = [await createUser(app), await createUser(app)]
    const taken = await patch({ email: other.email.toUpperCase() }, { session: one.session })
    expect(taken).toMatchObject({ status: 400, body: { code: 'unique', attr: 'email' } })
    const email = `both-${one.email}`
    const replies = await Promise.all([one, other].map((user) => patch({ email }, { session: user.session })))
    expect(replies.map((reply) => reply.status).toSorted((a, b) => a - b)).toEqual([200, 400])
    expect(replies.find((reply) => reply.status === 400)!.body).toMatchObject({
      code: 'unique',
      attr: 'email',
    })
  })
})

describe('PATCH set_current_organization and set_current_team', () => {
  it('200 switches what `@current` means: an organization with its first project, or a project with its organization', async () => {
    const [first, second] = [await createOrganization(app), await createOrganization(app)]
    const user = first.owner
    await join(second.organization, user)
    const call = { session: user.session }
    const current = async () => {
      const organization = await app.get('/api/organizations/@current/', call)
      return [organization.body.id, (await app.get('/api/projects/@current/', call)).body.id]
    }
    const other = await app.post(
      `/api/organizations/${first.organization.id}/projects/`,
      { name: 'Other' },
      call,
    )

    const switched = await patch({ set_current_organization: second.organization.id.toUpperCase() }, call)
    expect(switched.body).toMatchObject({
      organization: { id: second.organization.id },
      team: { id: second.project.id },
    })
    expect(await current()).toEqual([second.organization.id, second.project.id])
    await patch({ set_current_team: String(other.body.id) }, call)
    expect(await current()).toEqual([first.organization.id, other.body.id])
    await patch({ set_current_organization: first.organization.id }, call)
    expect(await current()).toEqual([first.organization.id, first.project.id])
    const both = { set_current_organization: second.organization.id, set_current_team: second.project.id }
    expect((await patch(both, call)).status).toBe(200)
    expect(await current()).toEqual([second.organization.id, second.project.id])
  })

  it('400 for what is not in reach, or does not belong together', async () => {
    const foreign = await createOrganization(app)
    const own = await createOrganization(app)
    const call = { session: own.owner.session }
    for (const id of [foreign.organization.id, NOBODY, 'nonsense', '@current']) {
      expect(await patch({ set_current_organization: id }, call)).toMatchObject({
        status: 400,
        body: { code: 'does_not_exist', attr: 'set_current_organization' },
      })
    }
    for (const id of [foreign.project.id, 0, 2_000_000_000]) {
      expect(await patch({ set_current_team: id }, call)).toMatchObject({
        status: 400,
        body: { code: 'does_not_exist', attr: 'set_current_team' },
      })
    }
    await join(foreign.organization, own.owner)
    const mixed = { set_current_organization: own.organization.id, set_current_team: foreign.project.id }
    expect(await patch(mixed, call)).toMatchObject({
      status: 400,
      body: { code: 'invalid_input', attr: 'set_current_team' },
    })
    expect((await get(call)).body).toMatchObject({ organization: { id: own.organization.id } })
  })

  it('400 for what the key itself does not open: closed to personal keys, or beyond its limits', async () => {
    const [own, closed] = [await createOrganization(app), await createOrganization(app)]
    const { owner: user } = own
    await join(closed.organization, user)
    await app.db.run(sql`
      UPDATE organization SET members_can_use_personal_api_keys = false WHERE id = ${closed.organization.id}`)
    const session = { session: user.session }
    const second = await app.post('/api/projects/', { name: 'Second' }, session)
    await patch({ set_current_team: own.project.id }, session)
    const byOrganization = await createKey(app, user, {
      scopes: ['user:write'],
      scoped_organizations: [own.organization.id],
    })
    const byProject = await createKey(app, user, { scopes: ['user:write'], scoped_teams: [second.body.id] })
    const refused: [string, object][] = [
      [user.key, { set_current_organization: closed.organization.id }],
      [user.key, { set_current_team: closed.project.id }],
      [byOrganization, { set_current_organization: closed.organization.id }],
      [byProject, { set_current_organization: closed.organization.id }],
      [byProject, { set_current_team: own.project.id }],
    ]
    for (const [key, body] of refused) {
      const reply = await patch(body, { key })
      expect(reply).toMatchObject({ status: 400, body: { code: 'does_not_exist' } })
    }
    expect((await get(session)).body).toMatchObject({
      organization: { id: own.organization.id },
      team: { id: own.project.id },
    })
    // The first project is the first of those that the key names.
    expect((await patch({ set_current_organization: own.organization.id }, { key: byProject })).status).toBe(
      200,
    )
    expect((await get(session)).body.team.id).toBe(second.body.id)
    expect((await patch({ set_current_team: closed.project.id }, session)).status).toBe(200)
  })
})

describe('PATCH password', () => {
  it('200 with the current one: the other sessions end, this one stays', async () => {
    const user = await createMember(app, workspace.organization)
    const { session: other } = await login(user.email, user.password)
    const fields = { password: NEW_PASSWORD, current_password: user.password }
    const reply = await patch(fields, { session: user.session })
    expect(reply.status).toBe(200)
    expect(reply.body).not.toHaveProperty('password')
    expect((await get({ session: user.session })).status).toBe(200)
    expect((await get({ session: other! })).status).toBe(401)
    expect((await login(user.email, user.password)).status).toBe(400)
    expect((await login(user.email, NEW_PASSWORD)).status).toBe(200)
    // That it happened is on record, what it was is not.
    const entries = await activitiesOf(user)
    expect(entries).toMatchObject([{ detail: { changes: [] } }])
    expect(JSON.stringify(entries)).not.toMatch(/argon2/)
  })

  it('200 leaves personal keys alone and says how many still work', async () => {
    const user = await createUser(app)
    const expires_at = new Date(app.services.now().getTime() + MINUTE_MS)
    const expiring = await createKey(app, user, { scopes: ['*'], expires_at })
    const fields = { password: NEW_PASSWORD, current_password: user.password }
    const reply = await patch(fields, { session: user.session })
    expect(reply).toMatchObject({ status: 200, body: { active_personal_api_keys: 2 } })
    for (const key of [user.key, expiring]) expect((await get({ key })).status).toBe(200)
    app.advance(MINUTE_MS)
    expect((await get({ session: user.session })).body.active_personal_api_keys).toBe(1)
  })

  it('200 with delete_personal_api_keys ends all of them, and nobody else’s', async () => {
    const [user, other] = [await createMember(app, workspace.organization), await createUser(app)]
    const service = await createServiceKey(app, workspace.organization, { scopes: ['organization:read'] })
    const wrong = { password: NEW_PASSWORD, current_password: 'wrong', delete_personal_api_keys: true }
    expect((await patch(wrong, { session: user.session })).status).toBe(400)
    expect((await get({ key: user.key })).status).toBe(200)
    const fields = { ...wrong, current_password: user.password }
    const reply = await patch(fields, { session: user.session })
    expect(reply).toMatchObject({ status: 200, body: { active_personal_api_keys: 0 } })
    expect((await get({ key: user.key })).status).toBe(401)
    expect((await get({ key: other.key })).status).toBe(200)
    expect((await app.get('/api/organizations/@current/', { key: service })).status).toBe(200)
    const log = await app.db.rows(sql`
      SELECT organization_id FROM activity_log
      WHERE scope = 'PersonalAPIKey' AND activity = 'deleted' AND user_id = ${user.id}`)
    expect(log).toEqual([{ organization_id: workspace.organization.id }])
  })

  it('200 by a key ends every session', async () => {
    const user = await createUser(app)
    const fields = { password: NEW_PASSWORD, current_password: user.password }
    expect((await patch(fields, { key: user.key })).status).toBe(200)
    expect((await get({ session: user.session })).status).toBe(401)
  })

  it('200 without a current one for a user who has none', async () => {
    const user = await createUser(app, { password_hash: null })
    expect((await patch({ password: NEW_PASSWORD }, { session: user.session })).body.has_password).toBe(true)
    expect((await login(user.email, NEW_PASSWORD)).status).toBe(200)
  })

  it.each([
    [{ password: NEW_PASSWORD }, 'required', 'current_password'],
    [{ password: NEW_PASSWORD, current_password: 'another one' }, 'incorrect_password', 'current_password'],
    [{ password: 'x9$Kq2!', current_password: 'right' }, 'password_too_short', 'password'],
    [{ password: 'password1', current_password: 'right' }, 'password_too_weak', 'password'],
    [{ password: '', current_password: 'right' }, 'blank', 'password'],
    [{ password: null, current_password: 'right' }, 'null', 'password'],
  ])('400 for %j, and nothing has changed', async (fields: object, code, attr) => {
    const user = await createUser(app)
    const current =
      'current_password' in fields && fields.current_password === 'right'
        ? { current_password: user.password }
        : {}
    const reply = await patch({ ...fields, ...current, first_name: 'X' }, { session: user.session })
    expect(reply).toMatchObject({ status: 400, body: { code, attr } })
    expect((await get({ session: user.session })).body.first_name).toBe('Test')
    expect((await login(user.email, user.password)).status).toBe(200)
  })
})

describe('where mail is configured', () => {
  let smtp: SmtpStandIn
  let mailing: TestApp
  beforeAll(async () => {
    smtp = await startSmtpServer()
    mailing = await startTestApp({ SMTP_URL: smtp.url, RATE_LIMITS: 'on' })
    mailing.canary.plant('password', NEW_PASSWORD)
  })
  afterAll(async () => {
    await mailing.close()
    await smtp.close()
  })

  const change = (body: object, user: TestUser) => patch(body, { session: user.session }, '@me', mailing)

  it('200 a new address waits for its link, and can be given up again', async () => {
    const user = await createUser(mailing)
    const email = `new-${user.email}`
    const waiting = { email: user.email, pending_email: email, is_email_verified: true }
    expect(await change({ email }, user)).toMatchObject({ status: 200, body: waiting })
    expect((await smtp.waitForMail(email)).subject).toBe('Verify your e-mail address for Longshore')
    expect((await change({ email }, user)).body).toMatchObject(waiting)
    expect((await change({ email: user.email }, user)).body).toMatchObject({
      email: user.email,
      pending_email: null,
    })
    await jobsAreDone(mailing.services)
    expect(smtp.mails.filter((mail) => mail.recipients.includes(email))).toHaveLength(1)
    expect((await login(user.email, user.password, mailing)).status).toBe(200)
  })

  it('200 a changed password ends a change of address that waits, unless it comes with one', async () => {
    const user = await createUser(mailing)
    await change({ email: `thief-${user.email}` }, user)
    const first = { password: NEW_PASSWORD, current_password: user.password }
    expect((await change(first, user)).body).toMatchObject({ email: user.email, pending_email: null })
    await change({ email: `thief-${user.email}` }, user)
    const email = `own-${user.email}`
    const second = { email, password: user.password, current_password: NEW_PASSWORD }
    expect((await change(second, user)).body).toMatchObject({ email: user.email, pending_email: email })
    await jobsAreDone(mailing.services)
  })

  it('200 a changed password is told to the user', async () => {
    const user = await createUser(mailing)
    expect((await change({ password: NEW_PASSWORD, current_password: user.password }, user)).status).toBe(200)
    const mail = await smtp.waitForMail(user.email)
    expect(mail.subject).toBe('Your Longshore password was changed')
    expect(mail.text).toContain('One personal API key still works.')
    expect(mail.raw).not.toContain(NEW_PASSWORD)
  })

  it('200 a switched second factor, new backup codes and what is done to keys are told too', async () => {
    const user = await createUser(mailing)
    const call = { session: user.session }
    await setUpDevice(mailing, user)
    const codes = await mailing.post('/api/users/@me/two_factor_backup_codes/', {}, call)
    for (const code of codes.body.backup_codes) mailing.canary.plant('backup code', code)
    await mailing.post('/api/users/@me/two_factor_disable/', {}, call)
    const keys = '/api/personal_api_keys/'
    const made = await mailing.post(keys, { label: 'for a script', scopes: ['query:read'] }, call)
    const path = `${keys}${made.body.id}/`
    await mailing.patch(path, { scopes: ['*'] }, call)
    const rolled = await mailing.post(`${path}roll/`, {}, call)
    for (const { body } of [made, rolled]) mailing.canary.plant('API key', body.value)
    await jobsAreDone(mailing.services)
    const mails = smtp.mails.filter((mail) => mail.recipients.includes(user.email))
    expect(mails.map((mail) => mail.subject).toSorted()).toEqual(
      [
        'Two-factor authentication was switched on in your Longshore account',
        'New backup codes were made in your Longshore account',
        'Two-factor authentication was switched off in your Longshore account',
        'A personal API key was made in your Longshore account',
        'A personal API key was changed in your Longshore account',
        'A personal API key was given a new value in your Longshore account',
      ].toSorted(),
    )
    expect(mails.filter((mail) => mail.text.includes(`for a script (phx_...`))).toHaveLength(3)
    for (const { raw } of mails) mailing.canary.assertAbsent(raw, 'a mail')
  })

  it('429 after six new addresses a day, so that nobody is pestered; the account stays as it was', async () => {
    const user = await createUser(mailing)
    const ask = (count: number) =>
      change({ email: `new${count}-${user.email}`, first_name: `Name ${count}` }, user)
    for (let count = 1; count <= 6; count++) expect((await ask(count)).status).toBe(200)
    expect((await ask(7)).status).toBe(429)
    const account = await mailing.get('/api/users/@me/', { session: user.session })
    expect(account.body).toMatchObject({ pending_email: `new6-${user.email}`, first_name: 'Name 6' })
    await jobsAreDone(mailing.services)
  })

  it('200 a new address, though a stranger has used up the links that anybody may ask for', async () => {
    const user = await createUser(mailing)
    const path = `/api/users/${user.uuid}/request_email_verification/`
    for (let tries = 0; tries < 6; tries++) expect((await mailing.post(path, {})).status).toBe(200)
    expect((await mailing.post(path, {})).status).toBe(429)
    const email = `new-${user.email}`
    expect(await change({ email }, user)).toMatchObject({ status: 200, body: { pending_email: email } })
    expect((await smtp.waitForMail(email)).subject).toBe('Verify your e-mail address for Longshore')
  })

  it('429 after five tries at the current password a minute for one user, right or wrong', async () => {
    const [user, other] = [await createUser(mailing), await createUser(mailing)]
    const guess = (who: TestUser, current_password: string) =>
      change({ password: NEW_PASSWORD, current_password }, who)
    for (let tries = 0; tries < 5; tries++) {
      expect((await guess(user, 'wrong')).body.code).toBe('incorrect_password')
    }
    const refused = await guess(user, user.password)
    expect(refused).toMatchObject({
      status: 429,
      body: { type: 'throttled_error', code: 'throttled', attr: null },
    })
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(50)
    expect((await change({ first_name: 'Free' }, user)).status).toBe(200)
    expect((await guess(other, other.password)).status).toBe(200)
    mailing.advance(MINUTE_MS)
    expect((await guess(user, user.password)).status).toBe(200)
  })
})
