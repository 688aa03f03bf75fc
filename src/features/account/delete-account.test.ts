// DELETE /api/users/@me/: who may, what goes with it, what stays, and that the log keeps the deed without the name.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createKey,
  createMember,
  createOrganization,
  createUser,
  type TestUser,
} from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { startSmtpServer, type SmtpStandIn } from '../../../test/stand-ins/smtp.ts'
import { uuid7 } from '../../lib/uuid.ts'
import { sql } from '../../platform/db/sql.ts'
import { findBrokenEntry } from '../activity-log/chain.ts'
import { createDirectory, GROUP_SCHEMA, patchOf, personOf } from '../scim/fixture/directory.ts'
import { openSession } from '../sign-in/sessions.ts'
import { setUpDevice } from '../two-factor/fixture/authenticator.ts'

const ME = '/api/users/@me/'

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

const remove = (user: TestUser) => app.delete(ME, { session: user.session })

/** Tables and columns of text or JSON that hold any of the texts. */
async function whereFound(texts: readonly string[]): Promise<string[]> {
  const columns = await app.db.rows<{ place: string; table_name: string; column_name: string }>(sql`
    SELECT table_name || '.' || column_name AS place, table_name, column_name FROM information_schema.columns
    WHERE table_schema = 'public' AND data_type IN ('text', 'jsonb', 'json', 'ARRAY', 'character varying')`)
  const found: string[] = []
  for (const { place, table_name, column_name } of columns) {
    const text = `SELECT count(*)::int AS count FROM "${table_name}" WHERE lower("${column_name}"::text) LIKE ANY($1)`
    const { rows } = await app.db.pool.query<{ count: number }>(text, [
      texts.map((each) => `%${each.toLowerCase()}%`),
    ])
    if (rows[0]!.count > 0) found.push(place)
  }
  return found
}

describe('DELETE /api/users/@me/', () => {
  it('204: nothing of the person is left, and whatever was theirs stops at once', async () => {
    const { organization, owner } = await createOrganization(app)
    const user = await createMember(app, organization, { first_name: 'Perpetua', last_name: 'Quillfeather' })
    const call = { session: user.session }
    const labelled = await app.post(
      '/api/personal_api_keys/',
      { label: 'laptop of Perpetua', scopes: ['*'] },
      call,
    )
    app.canary.plant('API key', labelled.body.value)
    const former = user.email
    const moved = `moved-${user.email}`
    await app.patch(ME, { first_name: 'Petra', email: moved }, call)
    await app.db.run(sql`UPDATE app_user SET email = ${moved}, pending_email = NULL WHERE id = ${user.id}`)
    const invites = `/api/organizations/${organization.id}/invites/`
    await app.post(invites, { target_email: 'guest@example.com' }, { key: user.key })
    await app.patch(
      `/api/organizations/${organization.id}/members/${user.uuid}/`,
      { level: 8 },
      { session: owner.session },
    )
    await setUpDevice(app, user)

    const reply = await remove(user)
    expect(reply).toMatchObject({ status: 204 })
    expect(String(reply.headers['set-cookie'])).toMatch(/sessionid=;/)
    for (const credential of [call, { key: user.key }, { key: labelled.body.value }]) {
      expect((await app.get(ME, credential)).status).toBe(401)
    }
    const login = await app.post('/api/login/', { email: moved, password: user.password })
    expect(login.body.code).toBe('invalid_credentials')
    const tables = [
      'app_user',
      'session',
      'api_key',
      'membership',
      'totp_device',
      'backup_code',
      'address_undo',
    ]
    for (const table of tables) {
      const column = table === 'app_user' ? 'id' : 'user_id'
      const { rows } = await app.db.pool.query(`SELECT 1 FROM ${table} WHERE ${column} = $1`, [user.id])
      expect([table, rows.length]).toEqual([table, 0])
    }
    const isLast = ({ subject, recipients }: { subject?: string; recipients: string[] }) =>
      subject === 'Your Longshore account was deleted' && recipients.includes(moved)
    await smtp.waitForMail(isLast)
    expect(await whereFound(['Perpetua', 'Petra', 'Quillfeather', former])).toEqual([])
  })

  it('a directory and a provider told us of the person: their logs forget it, and nobody else', async () => {
    const directory = await createDirectory(app)
    const { domain, domain_id, workspace } = directory
    const logs = `/api/organizations/${workspace.organization.id}/domains/${domain_id}/`
    for (const name of ['perpetua', 'quentin']) {
      await directory.call('GET', `/Users?filter=${encodeURIComponent(`userName eq "${name}@${domain}"`)}`)
      const made = await directory.call('POST', '/Users', personOf(directory, name))
      const members = [{ display: `${name} Quillfeather`, value: made.body.id }]
      const group = { schemas: [GROUP_SCHEMA], displayName: `Group ${made.body.id}`, members }
      expect((await directory.call('POST', '/Groups', group)).status).toBe(201)
      await app.db.run(sql`
        INSERT INTO sign_in_record (id, domain_id, provider, purpose, outcome, ip, checks, received, created_at)
        VALUES (${uuid7(new Date())}, ${domain_id}, 'saml', 'sign-in', 'answer_not_accepted', '192.0.2.1', '[]',
          ${{ attributes: { mail: [`${name}@${domain}`] } }}, now())`)
    }
    const removeByAddress = async (email: string) => {
      const { id } = await app.db.only<{ id: number }>(sql`SELECT id FROM app_user WHERE email = ${email}`)
      const session = (await openSession(app.db, id, false, new Date()))!.token
      return app.delete(ME, { session: app.canary.plant('session token', session) })
    }
    expect((await removeByAddress(`perpetua@${domain}`)).status).toBe(204)

    expect(await whereFound(['perpetua'])).toEqual([])
    const requests: { path: string; status: number; request_body: string | null }[] = (
      await app.get(`${logs}scim/requests/`, { key: workspace.owner.key })
    ).body.results
    expect(requests.map(({ path, status }) => [path.slice(0, 14), status])).toEqual([
      ['/Groups', 201],
      ['/Users', 201],
      ['/Users?filter=', 200],
      ['/Groups', 201],
      ['/Users', 201],
      ['/Users', 200],
    ])
    expect(requests.map(({ request_body }) => request_body?.includes('quentin'))).toEqual([
      true,
      true,
      undefined,
      undefined,
      undefined,
      undefined,
    ])
    // One whom the directory takes away before the account is deleted.
    const gone = (await directory.call('POST', '/Users', personOf(directory, 'zenobia'))).body.id
    const path = `/Groups/${(await directory.call('GET', '/Groups')).body.Resources[0].id}`
    const added = { op: 'add', path: 'members', value: [{ display: 'Zenobia', value: gone }] }
    expect((await directory.call('PATCH', path, patchOf(added))).status).toBe(204)
    expect((await directory.call('DELETE', `/Users/${gone}`)).status).toBe(204)
    expect((await removeByAddress(`zenobia@${domain}`)).status).toBe(204)
    expect(await whereFound(['zenobia'])).toEqual([])
    expect(await whereFound(['quentin'])).toContain('scim_request.request_body')
    const signIns = (await app.get(`${logs}sign_ins/`, { key: workspace.owner.key })).body.results
    expect(signIns).toMatchObject([{ received: { attributes: { mail: [`quentin@${domain}`] } } }])
  })

  it('the log keeps what was done, by whom it does not say, and its chain holds', async () => {
    const { organization, owner, project } = await createOrganization(app)
    const [one, other] = [await createMember(app, organization), await createMember(app, organization)]
    await app.patch(`/api/projects/${project.id}/`, { name: 'Renamed' }, { key: one.key })
    const member = `/api/organizations/${organization.id}/members/${other.uuid}/`
    await app.patch(member, { level: 8 }, { session: owner.session })
    await app.patch(`/api/projects/${project.id}/`, { name: 'Again' }, { session: other.session })
    for (const user of [one, other]) expect((await remove(user)).status).toBe(204)

    const log = await app.get(`/api/organizations/${organization.id}/activity_log/?limit=1000`, {
      session: owner.session,
    })
    const entries: {
      scope: string
      activity: string
      actor: object
      user: unknown
      detail: { name: string }
    }[] = log.body.results
    expect(entries).toContainEqual(
      expect.objectContaining({
        scope: 'Project',
        activity: 'updated',
        user: null,
        is_system: false,
        actor: { name: 'deleted user', key_id: expect.any(String) },
        detail: expect.objectContaining({ name: 'Renamed' }),
      }),
    )
    const level = entries.find(
      ({ scope, activity }) => scope === 'OrganizationMembership' && activity === 'updated',
    )
    expect(level).toMatchObject({ actor: { name: owner.email }, detail: { name: 'deleted user' } })
    expect(entries.filter(({ scope, activity }) => scope === 'User' && activity === 'deleted')).toHaveLength(
      2,
    )
    expect(JSON.stringify(entries)).not.toContain(one.email)
    expect(await findBrokenEntry(app.db)).toBeNull()

    // Whoever uses an erasure as a cover is found out.
    await app.db.run(sql`CREATE TABLE untouched AS SELECT * FROM activity_log`)
    const erased = `erased_by IS NOT NULL AND organization_id = '${organization.id}'`
    const last = `(SELECT erased_by FROM activity_log WHERE ${erased} ORDER BY position DESC LIMIT 1)`
    for (const tampering of [
      `SET activity = 'created' WHERE ${erased}`,
      `SET erased_by = ${last}, actor_name = 'x' WHERE organization_id = '${organization.id}' AND scope = 'Organization'`,
      `SET erased_by = NULL WHERE ${erased}`,
      `SET erased_by = ${last} WHERE ${erased} AND erased_by <> ${last}`,
      `SET hash = 'x' WHERE ${erased}`,
    ]) {
      const { rowCount } = await app.db.pool.query(`UPDATE activity_log ${tampering}`)
      expect([tampering, rowCount]).not.toEqual([tampering, 0])
      expect([tampering, await findBrokenEntry(app.db)]).toMatchObject([
        tampering,
        { organization_id: organization.id },
      ])
      await app.db.run(sql`DELETE FROM activity_log`)
      await app.db.run(sql`INSERT INTO activity_log OVERRIDING SYSTEM VALUE SELECT * FROM untouched`)
    }
    await app.db.run(sql`DROP TABLE untouched`)
    expect(await findBrokenEntry(app.db)).toBeNull()
  })

  it('409 while others would be left without an owner; 204 once there is another', async () => {
    const { organization, owner } = await createOrganization(app)
    const heir = await createMember(app, organization)
    const refused = await remove(owner)
    expect(refused).toMatchObject({ status: 409, body: { type: 'invalid_request', code: 'conflict' } })
    expect((await app.get(ME, { key: owner.key })).status).toBe(200)
    const path = `/api/organizations/${organization.id}/members/${heir.uuid}/`
    await app.patch(path, { level: 15 }, { session: owner.session })
    expect((await remove(owner)).status).toBe(204)
    const kept = await app.get(`/api/organizations/${organization.id}/`, { key: heir.key })
    expect(kept.body).toMatchObject({ member_count: '1' })
  })

  it('of two owners who go at once, one stays', async () => {
    const { organization, owner } = await createOrganization(app)
    const second = await createMember(app, organization, { level: 'owner' })
    await createMember(app, organization)
    const replies = await Promise.all([owner, second].map(remove))
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([204, 409]))
  })

  it('an organization that nobody else belongs to goes too', async () => {
    const { organization, project, owner } = await createOrganization(app)
    expect((await remove(owner)).status).toBe(204)
    for (const [table, column, id] of [
      ['organization', 'id', organization.id],
      ['project', 'id', project.id],
    ] as const) {
      expect((await app.db.pool.query(`SELECT 1 FROM ${table} WHERE ${column} = $1`, [id])).rows).toEqual([])
    }
  })

  it('403 for keys, and for the account of somebody else, by staff too', async () => {
    const staff = await createUser(app, { is_staff: true })
    const user = await createUser(app)
    const key = await createKey(app, user, { scopes: ['*'] })
    expect((await app.delete(ME, { key })).status).toBe(403)
    expect((await app.delete(`/api/users/${user.uuid}/`, { session: staff.session })).status).toBe(403)
    expect((await app.get(ME, { key })).status).toBe(200)
    expect((await app.delete(`/api/users/${user.uuid}/`, { session: user.session })).status).toBe(204)
  })

  it('409 for the only account of an installation: whoever came next would be its staff', async () => {
    const alone = await startTestApp()
    try {
      const user = await createUser(alone)
      expect(await alone.delete(ME, { session: user.session })).toMatchObject({ status: 409 })
    } finally {
      await alone.close()
    }
  })
})
