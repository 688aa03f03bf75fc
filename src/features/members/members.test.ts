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
import { startTestApp, type Reply, type TestApp } from '../../../test/harness/app.ts'
import { sql } from '../../platform/db/sql.ts'
import { LEVELS, type LevelName } from '../../platform/http/caller.ts'

const UNKNOWN_ID = '00000000-0000-7000-8000-000000000000'
const HOUR_MS = 60 * 60 * 1000

let app: TestApp
let stranger: TestUser
beforeAll(async () => {
  app = await startTestApp()
  stranger = (await createOrganization(app)).owner
})
afterAll(() => app.close())

const listPath = ({ organization }: Pick<Workspace, 'organization'>) =>
  `/api/organizations/${organization.id}/members/`
const memberPath = (workspace: Pick<Workspace, 'organization'>, user: TestUser | '@me') =>
  `${listPath(workspace)}${user === '@me' ? user : user.uuid}/`

async function levelOf(
  { organization }: Pick<Workspace, 'organization'>,
  user: TestUser,
): Promise<number | null> {
  const row = await app.db.row<{ level: number }>(sql`
    SELECT level FROM membership WHERE organization_id = ${organization.id} AND user_id = ${user.id}`)
  return row?.level ?? null
}

async function countOwners({ organization }: Pick<Workspace, 'organization'>): Promise<number> {
  return app.db.run(sql`SELECT FROM membership WHERE organization_id = ${organization.id} AND level = 15`)
}

function entries({ organization }: Pick<Workspace, 'organization'>) {
  return app.db.rows<{ activity: string; user_id: number | null; item_id: string; detail: object }>(sql`
    SELECT activity, user_id, item_id, detail FROM activity_log
    WHERE organization_id = ${organization.id} AND scope = 'OrganizationMembership' AND activity <> 'created' ORDER BY position`)
}

describe('GET …/members/', () => {
  let workspace: Workspace
  /** Newest first, as the list has them. */
  let people: TestUser[]
  beforeAll(async () => {
    workspace = await createOrganization(app)
    people = [workspace.owner]
    const newcomers = [
      { first_name: 'Ann', last_name: 'Lee', email: 'ann.lee@example.com', level: 'admin' },
      { first_name: 'Bob', last_name: '100% Real', email: 'Bob@Example.com', level: 'member' },
      { first_name: 'Cem', last_name: 'Öz', email: 'cem_oz@other.example', level: 'member' },
    ] as const
    for (const fields of newcomers) {
      app.advance(1000)
      people.unshift(await createMember(app, workspace.organization, fields))
    }
  })

  const emailsOf = ({ body }: Reply) =>
    body.results.map(({ user }: { user: { email: string } }) => user.email)
  const listed = async (query = '') =>
    emailsOf(await app.get(listPath(workspace) + query, { key: people[0]!.key }))

  it('200 gives exactly the fields of the API, newest first', async () => {
    const { status, body } = await app.get(listPath(workspace), { key: workspace.owner.key })
    expect(status).toBe(200)
    expect(body).toMatchObject({ count: 4, next: null, previous: null })
    expect(body.results.map(({ level }: { level: number }) => level)).toEqual([1, 1, 8, 15])
    const ann = people[2]!
    expect(body.results[2]).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      user: {
        id: ann.id,
        uuid: ann.uuid,
        distinct_id: ann.distinct_id,
        first_name: 'Ann',
        last_name: 'Lee',
        email: 'ann.lee@example.com',
        is_email_verified: true,
        hedgehog_config: {},
      },
      level: 8,
      joined_at: body.results[2].updated_at,
      updated_at: body.results[2].joined_at,
      is_2fa_enabled: false,
      has_social_auth: false,
      last_login: expect.stringMatching(/Z$/),
    })
    expect(body.results[2].id).not.toBe(ann.uuid)
  })

  it('200 for every level, and for a key with the read scope', async () => {
    const everybody = people.map(({ email }) => email)
    for (const person of people)
      expect(emailsOf(await app.get(listPath(workspace), { key: person.key }))).toEqual(everybody)
    const key = await createKey(app, people[0]!, { scopes: ['organization_member:read'] })
    expect(emailsOf(await app.get(listPath(workspace), { key }))).toEqual(everybody)
    expect(emailsOf(await app.get('/api/organizations/@current/members/', { key }))).toEqual(everybody)
  })

  it('200 shows who has a second factor', async () => {
    const { organization, owner } = await createOrganization(app)
    await app.db.run(sql`
      INSERT INTO totp_device (user_id, sealed_secret, last_used_step, created_at) VALUES (${owner.id}, 'sealed', 0, now())`)
    const { body } = await app.get(listPath({ organization }), { key: owner.key })
    expect(body.results[0].is_2fa_enabled).toBe(true)
  })

  it('200 neither lists nor counts deactivated users', async () => {
    const { organization, owner } = await createOrganization(app)
    const gone = await createMember(app, organization)
    expect((await app.get(listPath({ organization }), { key: owner.key })).body.count).toBe(2)
    await app.db.run(sql`UPDATE app_user SET is_active = false WHERE id = ${gone.id}`)
    const { body } = await app.get(listPath({ organization }), { key: owner.key })
    expect(body.count).toBe(1)
    expect(body.results.map(({ user }: { user: { id: number } }) => user.id)).toEqual([owner.id])
    expect((await app.get(memberPath({ organization }, gone), { key: owner.key })).status).toBe(404)
  })

  it('following `next` to null meets each member once, the filter kept', async () => {
    const seen: string[] = []
    let url: string | null = `${listPath(workspace)}?order=joined_at&search=example&limit=1`
    while (url !== null) {
      const reply: Reply = await app.get(url.replace('http://longshore.test', ''), {
        key: workspace.owner.key,
      })
      expect(reply.body.count).toBe(4)
      seen.push(...emailsOf(reply))
      url = reply.body.next
    }
    expect(seen).toEqual(people.map(({ email }) => email).reverse())
  })

  it('keeps the order total when all joined in the same instant', async () => {
    const { organization, owner } = await createOrganization(app)
    for (let count = 0; count < 4; count++) await createMember(app, organization)
    await app.db.run(
      sql`UPDATE membership SET joined_at = '2024-01-01' WHERE organization_id = ${organization.id}`,
    )
    const seen = new Set<string>()
    for (let offset = 0; offset < 5; offset++) {
      const { body } = await app.get(`${listPath({ organization })}?limit=1&offset=${offset}`, {
        key: owner.key,
      })
      seen.add(body.results[0].id)
    }
    expect(seen.size).toBe(5)
  })

  it('200 with absurd paging: the defaults', async () => {
    for (const query of ['?limit=0', '?limit=-5&offset=-5', '?limit=x&offset=y', '?offset=']) {
      expect(await listed(query)).toHaveLength(4)
    }
    const past = await app.get(`${listPath(workspace)}?offset=50`, { key: workspace.owner.key })
    expect(past.body).toMatchObject({ count: 4, next: null, results: [] })
  })

  it('200 ordered by `order`, of which only the two known values count', async () => {
    const newest = people.map(({ email }) => email)
    expect(await listed('?order=joined_at')).toEqual(newest.toReversed())
    for (const order of [
      '-joined_at',
      'level',
      '',
      'joined_at; DROP TABLE membership',
      'joined_at&order=level',
    ]) {
      expect(await listed(`?order=${order}`)).toEqual(newest)
    }
  })

  it.each([
    ['email=ann.lee@example.com', ['ann.lee@example.com']],
    ['email=BOB@example.COM', ['Bob@Example.com']],
    ['email=ann.lee@example', []],
    ['email=not an address', []],
    ['email=%25', []],
    ['search=ANN', ['ann.lee@example.com']],
    ['search=ann lee', ['ann.lee@example.com']],
    ['search=%20lee%20', ['ann.lee@example.com']],
    ['search=öz', ['cem_oz@other.example']],
    ['search=other.example', ['cem_oz@other.example']],
    ['search=100%25', ['Bob@Example.com']],
    ['search=_', ['cem_oz@other.example']],
    ['search=\\', []],
    ['search=com ann', []],
    ['search=nobody', []],
    ['search=example&email=ann.lee@example.com', ['ann.lee@example.com']],
  ])('200 filtered by ?%s', async (query, emails) => {
    const { body } = await app.get(`${listPath(workspace)}?${query.replaceAll(' ', '%20')}`, {
      key: workspace.owner.key,
    })
    expect(body.results.map(({ user }: { user: { email: string } }) => user.email)).toEqual(emails)
    expect(body.count).toBe(emails.length)
  })

  it('200 takes a blank filter for none', async () => {
    expect(await listed('?search=&email=&order=')).toHaveLength(4)
  })

  it('200 filtered by `updated_after`', async () => {
    const { body } = await app.get(listPath(workspace), { key: workspace.owner.key })
    const second = encodeURIComponent(body.results[1].updated_at)
    expect(await listed(`?updated_after=${second}`)).toEqual(['cem_oz@other.example'])
    expect(await listed('?updated_after=2020-01-01')).toHaveLength(4)
  })

  it('400 for an `updated_after` that is no instant, and for NUL in a filter', async () => {
    const wrong = await app.get(`${listPath(workspace)}?updated_after=yesterday`, {
      key: workspace.owner.key,
    })
    expect(wrong).toMatchObject({ status: 400, body: { code: 'invalid_input', attr: 'updated_after' } })
    const nul = await app.get(`${listPath(workspace)}?search=%00`, { key: workspace.owner.key })
    expect(nul).toMatchObject({ status: 400, body: { code: 'invalid_input', attr: 'search' } })
  })

  it('403 for a stranger and without the scope', async () => {
    expect((await app.get(listPath(workspace), { key: stranger.key })).status).toBe(403)
    const key = await createKey(app, workspace.owner, { scopes: ['organization:write'] })
    const { status, body } = await app.get(listPath(workspace), { key })
    expect(status).toBe(403)
    expect(body.detail).toContain('organization_member:read')
  })
})

describe('GET …/members/:user__uuid/', () => {
  it('200 by uuid or as `@me`, the same as in the list', async () => {
    const workspace = await createOrganization(app)
    const member = await createMember(app, workspace.organization)
    const { body: list } = await app.get(listPath(workspace), { key: member.key })
    const one = list.results.find(({ user }: { user: { id: number } }) => user.id === member.id)
    expect(await app.get(memberPath(workspace, member), { key: workspace.owner.key })).toMatchObject({
      status: 200,
      body: one,
    })
    expect((await app.get(memberPath(workspace, '@me'), { key: member.key })).body).toEqual(one)
    expect((await app.get(memberPath(workspace, '@me'), { session: member.session })).body).toEqual(one)
  })

  it('404 for whoever is unknown, elsewhere or malformed; also by the membership’s own id', async () => {
    const workspace = await createOrganization(app)
    const { body } = await app.get(memberPath(workspace, '@me'), { key: workspace.owner.key })
    for (const id of [
      UNKNOWN_ID,
      stranger.uuid,
      body.id,
      String(workspace.owner.id),
      'nonsense',
      '@current',
      '%00',
    ]) {
      expect((await app.get(`${listPath(workspace)}${id}/`, { key: workspace.owner.key })).status).toBe(404)
    }
  })

  it('403 for `@me` of a service key, which is nobody', async () => {
    const workspace = await createOrganization(app)
    const key = await createServiceKey(app, workspace.organization, { scopes: ['*'] })
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      expect((await app.call(method, memberPath(workspace, '@me'), { key, body: {} })).status).toBe(403)
    }
  })
})

describe('PATCH …/members/:user__uuid/', () => {
  it('200 changes the level, moves `updated_at`, and writes it down', async () => {
    const workspace = await createOrganization(app)
    const member = await createMember(app, workspace.organization)
    const before = (await app.get(memberPath(workspace, member), { key: member.key })).body
    app.advance(5000)
    const { status, body } = await app.patch(
      memberPath(workspace, member),
      { level: 8 },
      { key: workspace.owner.key },
    )
    expect(status).toBe(200)
    expect(body).toEqual({ ...before, level: 8, updated_at: body.updated_at })
    expect(Date.parse(body.updated_at)).toBeGreaterThan(Date.parse(before.updated_at))
    expect((await app.get(memberPath(workspace, member), { key: member.key })).body).toEqual(body)
    expect(await entries(workspace)).toEqual([
      {
        activity: 'updated',
        user_id: workspace.owner.id,
        item_id: before.id,
        detail: {
          name: member.email,
          changes: [
            { type: 'OrganizationMembership', action: 'changed', field: 'level', before: 1, after: 8 },
          ],
        },
      },
    ])
    expect(
      (
        await app.patch(
          `/api/organizations/${workspace.organization.id}/`,
          { name: 'Now' },
          { key: member.key },
        )
      ).status,
    ).toBe(200)
  })

  it('200 takes a numeric text', async () => {
    const workspace = await createOrganization(app)
    const member = await createMember(app, workspace.organization)
    const reply = await app.patch(memberPath(workspace, member), { level: '8' }, { key: workspace.owner.key })
    expect(reply).toMatchObject({ status: 200, body: { level: 8 } })
  })

  // Row by row: who, whom, to which level, what comes of it.
  it.each([
    ['stranger', 'member', 1, 403],
    ['member', 'member', 1, 403],
    ['member', 'member', 8, 403],
    ['member', 'admin', 1, 403],
    ['member', 'owner', 1, 403],
    ['admin', 'member', 1, 200],
    ['admin', 'member', 8, 200],
    ['admin', 'member', 15, 403],
    ['admin', 'admin', 1, 200],
    ['admin', 'admin', 15, 403],
    ['admin', 'owner', 1, 403],
    ['admin', 'owner', 15, 403],
    ['owner', 'member', 8, 200],
    ['owner', 'member', 15, 200],
    ['owner', 'admin', 1, 200],
    ['owner', 'admin', 15, 200],
    ['owner', 'owner', 1, 200],
    ['owner', 'owner', 8, 200],
  ] as const)('a %s sets the level of a %s to %i: %i', async (who, whom, level, status) => {
    const workspace = await createOrganization(app)
    const actor =
      who === 'stranger' ? stranger : await createMember(app, workspace.organization, { level: who })
    const target = await createMember(app, workspace.organization, { level: whom })
    const reply = await app.patch(memberPath(workspace, target), { level }, { key: actor.key })
    expect(reply.status).toBe(status)
    expect(await levelOf(workspace, target)).toBe(status === 200 ? level : LEVELS[whom])
    expect(await entries(workspace)).toHaveLength(status === 200 && level !== LEVELS[whom] ? 1 : 0)
  })

  it.each(['member', 'admin', 'owner'] as const)(
    '403 for the own level of a %s, up or down, by uuid or `@me`',
    async (level) => {
      const workspace = await createOrganization(app)
      const actor = await createMember(app, workspace.organization, { level })
      for (const path of [memberPath(workspace, '@me'), memberPath(workspace, actor)]) {
        for (const wanted of [1, 8, 15]) {
          const reply = await app.patch(path, { level: wanted }, { key: actor.key })
          expect(reply).toMatchObject({ status: 403, body: { code: 'permission_denied' } })
        }
      }
      expect(await levelOf(workspace, actor)).toBe(LEVELS[level])
    },
  )

  it('making an owner does not demote the maker; the other can then demote them', async () => {
    const workspace = await createOrganization(app)
    const heir = await createMember(app, workspace.organization, { level: 'admin' })
    await app.patch(memberPath(workspace, heir), { level: 15 }, { key: workspace.owner.key })
    expect([await levelOf(workspace, heir), await levelOf(workspace, workspace.owner)]).toEqual([15, 15])
    expect(
      (await app.patch(memberPath(workspace, workspace.owner), { level: 1 }, { key: heir.key })).status,
    ).toBe(200)
    expect(await levelOf(workspace, workspace.owner)).toBe(1)
    expect(
      (await app.delete(`/api/organizations/${workspace.organization.id}/`, { key: workspace.owner.key }))
        .status,
    ).toBe(403)
  })

  it.each([[{}], [{ joined_at: '2001-01-01', id: UNKNOWN_ID, user: { id: 1 } }], [{ level: 1 }]])(
    '200 for %j changes nothing and logs nothing',
    async (body) => {
      const workspace = await createOrganization(app)
      const member = await createMember(app, workspace.organization)
      const before = (await app.get(memberPath(workspace, member), { key: member.key })).body
      app.advance(5000)
      const reply = await app.patch(memberPath(workspace, member), body, { key: workspace.owner.key })
      expect(reply).toMatchObject({ status: 200, body: before })
      expect(await entries(workspace)).toEqual([])
    },
  )

  it('200 for an empty body about oneself, which changes no level', async () => {
    const { organization, owner } = await createOrganization(app)
    expect((await app.patch(memberPath({ organization }, '@me'), {}, { key: owner.key })).status).toBe(200)
  })

  it.each([
    [0, 'invalid_choice'],
    [2, 'invalid_choice'],
    [16, 'invalid_choice'],
    [-1, 'invalid_choice'],
    [8.5, 'invalid_choice'],
    ['admin', 'invalid_choice'],
    ['', 'invalid_choice'],
    [true, 'invalid_choice'],
    [[8], 'invalid_choice'],
    [{}, 'invalid_choice'],
    [1e300, 'invalid_choice'],
    [null, 'null'],
    ['8\0', 'invalid_input'],
  ])('400 for the level %j', async (level, code) => {
    const workspace = await createOrganization(app)
    const member = await createMember(app, workspace.organization)
    const reply = await app.patch(memberPath(workspace, member), { level }, { key: workspace.owner.key })
    expect(reply).toMatchObject({ status: 400, body: { type: 'validation_error', code, attr: 'level' } })
    expect(await levelOf(workspace, member)).toBe(1)
  })

  it('the levels of both come first (403), then the new level’s validity (400), then who may grant it (403)', async () => {
    const workspace = await createOrganization(app)
    const admin = await createMember(app, workspace.organization, { level: 'admin' })
    const member = await createMember(app, workspace.organization)
    const status = async (target: TestUser, level: unknown, actor: TestUser) =>
      (await app.patch(memberPath(workspace, target), { level }, { key: actor.key })).status
    expect(await status(workspace.owner, 'bad', admin)).toBe(403)
    expect(await status(admin, 'bad', member)).toBe(403)
    expect(await status(member, 'bad', admin)).toBe(400)
    expect(await status(admin, 'bad', admin)).toBe(400)
    expect(await status(member, 15, admin)).toBe(403)
    expect((await app.patch(memberPath(workspace, workspace.owner), {}, { key: admin.key })).status).toBe(403)
  })

  it('404 for whoever is no member, also with a bad body', async () => {
    const workspace = await createOrganization(app)
    for (const id of [UNKNOWN_ID, stranger.uuid, 'nonsense']) {
      const reply = await app.patch(
        `${listPath(workspace)}${id}/`,
        { level: 'bad' },
        { key: workspace.owner.key },
      )
      expect(reply).toMatchObject({ status: 404, body: { code: 'not_found' } })
    }
  })

  it('the level that counts is the one in the path, not that of the current organization', async () => {
    const workspace = await createOrganization(app)
    const target = await createMember(app, workspace.organization)
    const actor = await createMember(app, workspace.organization)
    await app.post('/api/organizations/', { name: 'Own kingdom' }, { key: actor.key })
    expect((await app.patch(memberPath(workspace, target), { level: 8 }, { key: actor.key })).status).toBe(
      403,
    )
  })

  it('a service key counts by its own level: an admin, never an owner', async () => {
    const workspace = await createOrganization(app)
    const member = await createMember(app, workspace.organization)
    const admin = await createServiceKey(app, workspace.organization, {
      scopes: ['organization_member:write'],
    })
    const plain = await createServiceKey(app, workspace.organization, { scopes: ['*'], level: 'member' })
    const patch = async (key: string, user: TestUser, level: number) =>
      (await app.patch(memberPath(workspace, user), { level }, { key })).status
    expect(await patch(plain, member, 8)).toBe(403)
    expect(await patch(admin, member, 8)).toBe(200)
    expect(await patch(admin, member, 15)).toBe(403)
    expect(await patch(admin, workspace.owner, 1)).toBe(403)
  })

  it('403 with the read scope, and for a session older than two hours', async () => {
    const workspace = await createOrganization(app)
    const member = await createMember(app, workspace.organization)
    const key = await createKey(app, workspace.owner, {
      scopes: ['organization_member:read', 'organization:write'],
    })
    expect((await app.patch(memberPath(workspace, member), { level: 8 }, { key })).status).toBe(403)
    app.advance(2 * HOUR_MS + 1000)
    const { session } = workspace.owner
    expect((await app.patch(memberPath(workspace, member), { level: 8 }, { session })).status).toBe(403)
    expect((await app.delete(memberPath(workspace, member), { session })).status).toBe(403)
    expect(await levelOf(workspace, member)).toBe(1)
  })
})

describe('DELETE …/members/:user__uuid/', () => {
  it.each([
    ['stranger', 'member', 403],
    ['member', 'member', 403],
    ['member', 'admin', 403],
    ['member', 'owner', 403],
    ['admin', 'member', 204],
    ['admin', 'admin', 204],
    ['admin', 'owner', 403],
    ['owner', 'member', 204],
    ['owner', 'admin', 204],
    ['owner', 'owner', 204],
  ] as const)('a %s removes a %s: %i', async (who, whom, status) => {
    const workspace = await createOrganization(app)
    const actor =
      who === 'stranger' ? stranger : await createMember(app, workspace.organization, { level: who })
    const target = await createMember(app, workspace.organization, { level: whom })
    const reply = await app.delete(memberPath(workspace, target), { key: actor.key })
    expect(reply.status).toBe(status)
    expect(await levelOf(workspace, target)).toBe(status === 204 ? null : LEVELS[whom])
    expect(await entries(workspace)).toHaveLength(status === 204 ? 1 : 0)
  })

  it.each(['member', 'admin', 'owner'] as const)('204 when a %s leaves, by uuid or `@me`', async (level) => {
    const workspace = await createOrganization(app)
    for (const path of ['@me', 'uuid']) {
      const user = await createMember(app, workspace.organization, { level })
      const reply = await app.delete(memberPath(workspace, path === '@me' ? path : user), {
        session: user.session,
      })
      expect(reply).toMatchObject({ status: 204, body: null })
      expect(await levelOf(workspace, user)).toBeNull()
    }
  })

  it('204 writes down who left or was removed, and by whom', async () => {
    const workspace = await createOrganization(app)
    const member = await createMember(app, workspace.organization)
    const { id } = (await app.get(memberPath(workspace, member), { key: member.key })).body
    await app.delete(memberPath(workspace, member), { key: workspace.owner.key })
    expect(await entries(workspace)).toEqual([
      {
        activity: 'deleted',
        user_id: workspace.owner.id,
        item_id: id,
        detail: { name: member.email, changes: [] },
      },
    ])
  })

  it('400 for the last owner, who stays', async () => {
    const workspace = await createOrganization(app)
    await createMember(app, workspace.organization, { level: 'admin' })
    for (const path of [memberPath(workspace, '@me'), memberPath(workspace, workspace.owner)]) {
      const reply = await app.delete(path, { key: workspace.owner.key })
      expect(reply).toMatchObject({
        status: 400,
        body: { type: 'validation_error', code: 'invalid_input', attr: null },
      })
    }
    expect(await levelOf(workspace, workspace.owner)).toBe(15)
    expect(await entries(workspace)).toEqual([])
  })

  it('400 for the last owner who can sign in: a deactivated one does not count', async () => {
    const workspace = await createOrganization(app)
    const second = await createMember(app, workspace.organization, { level: 'owner' })
    await app.db.run(sql`UPDATE app_user SET is_active = false WHERE id = ${second.id}`)
    expect((await app.delete(memberPath(workspace, '@me'), { key: workspace.owner.key })).status).toBe(400)
  })

  it('404 for whoever is unknown, elsewhere, malformed or gone already', async () => {
    const workspace = await createOrganization(app)
    const member = await createMember(app, workspace.organization)
    await app.delete(memberPath(workspace, member), { key: workspace.owner.key })
    for (const id of [member.uuid, UNKNOWN_ID, stranger.uuid, 'nonsense', '1']) {
      expect((await app.delete(`${listPath(workspace)}${id}/`, { key: workspace.owner.key })).status).toBe(
        404,
      )
    }
  })

  it('403 for a user of no organization at all', async () => {
    const workspace = await createOrganization(app)
    const nobody = await createUser(app)
    expect((await app.delete(memberPath(workspace, workspace.owner), { key: nobody.key })).status).toBe(403)
    expect((await app.delete(memberPath(workspace, '@me'), { key: nobody.key })).status).toBe(403)
  })

  it('ends access at once, for sessions and keys; the keys go on elsewhere', async () => {
    const workspace = await createOrganization(app)
    const member = await createMember(app, workspace.organization, { level: 'admin' })
    const home = (await app.post('/api/organizations/', { name: 'Home' }, { key: member.key })).body
    const organization = `/api/organizations/${workspace.organization.id}/`
    expect((await app.get(organization, { session: member.session })).status).toBe(200)
    await app.delete(memberPath(workspace, member), { key: workspace.owner.key })
    for (const credential of [{ key: member.key }, { session: member.session }]) {
      expect((await app.get(organization, credential)).status).toBe(404)
      expect((await app.get(listPath(workspace), credential)).status).toBe(403)
      expect((await app.get(`/api/projects/${workspace.project.id}/`, credential)).status).toBe(404)
      expect((await app.get(`/api/projects/${workspace.project.id}/activity_log/`, credential)).status).toBe(
        403,
      )
      expect((await app.get(`/api/organizations/${home.id}/`, credential)).status).toBe(200)
    }
  })

  it('moves the current organization and project on: to the first one left, or to none', async () => {
    const workspace = await createOrganization(app)
    const member = await createMember(app, workspace.organization)
    const loner = await createMember(app, workspace.organization)
    const home = (await app.post('/api/organizations/', { name: 'Home' }, { key: member.key })).body
    await app.patch(
      '/api/users/@me/',
      { set_current_organization: workspace.organization.id },
      { key: member.key },
    )
    for (const user of [member, loner]) await app.delete(memberPath(workspace, '@me'), { key: user.key })
    const me = (await app.get('/api/users/@me/', { key: member.key })).body
    expect(me).toMatchObject({ organization: { id: home.id }, team: { id: home.teams[0].id } })
    expect((await app.get('/api/users/@me/', { key: loner.key })).body).toMatchObject({
      organization: null,
      team: null,
    })
    expect((await app.get('/api/projects/@current/', { key: loner.key })).status).toBe(404)
  })

  it('leaves the current organization alone when another one is left', async () => {
    const workspace = await createOrganization(app)
    const member = await createMember(app, workspace.organization)
    const home = (await app.post('/api/organizations/', { name: 'Home' }, { key: member.key })).body
    const second = (await app.post(`/api/organizations/${home.id}/projects/`, {}, { key: member.key })).body
    await app.delete(memberPath(workspace, '@me'), { key: member.key })
    const me = (await app.get('/api/users/@me/', { key: member.key })).body
    expect(me).toMatchObject({ organization: { id: home.id }, team: { id: second.id } })
  })

  it('leaves the invites of whoever goes, still in their name', async () => {
    const workspace = await createOrganization(app)
    const member = await createMember(app, workspace.organization)
    const invites = `/api/organizations/${workspace.organization.id}/invites/`
    await app.post(invites, { target_email: 'friend@example.com' }, { key: member.key })
    await app.delete(memberPath(workspace, '@me'), { key: member.key })
    const { body } = await app.get(invites, { key: workspace.owner.key })
    expect(body.results).toMatchObject([
      { target_email: 'friend@example.com', created_by: { id: member.id } },
    ])
  })
})

describe('at the same time', () => {
  /** Lets both requests run until they wait for the owners, then lets go: neither can have seen what the other did. */
  async function atOnce({ organization }: Workspace, requests: (() => Promise<Reply>)[]): Promise<number[]> {
    const replies: Promise<Reply>[] = []
    await app.db.transaction(async (tx) => {
      await tx.run(sql`SELECT FROM membership WHERE organization_id = ${organization.id} FOR UPDATE`)
      replies.push(...requests.map((request) => request()))
      await expect.poll(countWaiting).toBe(requests.length)
    })
    return (await Promise.all(replies)).map(({ status }) => status).sort((a, b) => a - b)
  }

  async function countWaiting(): Promise<number> {
    return app.db.run(sql`
      SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
  }

  async function withSecond(level: LevelName): Promise<{ workspace: Workspace; second: TestUser }> {
    const workspace = await createOrganization(app)
    return { workspace, second: await createMember(app, workspace.organization, { level }) }
  }

  it('of two owners who leave, one stays', async () => {
    const { workspace, second } = await withSecond('owner')
    const leave = (user: TestUser) => () => app.delete(memberPath(workspace, '@me'), { key: user.key })
    expect(await atOnce(workspace, [leave(workspace.owner), leave(second)])).toEqual([204, 400])
    expect(await countOwners(workspace)).toBe(1)
  })

  it('of two owners who remove each other, one stays', async () => {
    const { workspace, second } = await withSecond('owner')
    const remove = (actor: TestUser, target: TestUser) => () =>
      app.delete(memberPath(workspace, target), { key: actor.key })
    const statuses = await atOnce(workspace, [
      remove(workspace.owner, second),
      remove(second, workspace.owner),
    ])
    expect(statuses).toEqual([204, 403])
    expect(await countOwners(workspace)).toBe(1)
  })

  it('of two owners who demote each other, one stays owner', async () => {
    const { workspace, second } = await withSecond('owner')
    const demote = (actor: TestUser, target: TestUser) => () =>
      app.patch(memberPath(workspace, target), { level: 1 }, { key: actor.key })
    const statuses = await atOnce(workspace, [
      demote(workspace.owner, second),
      demote(second, workspace.owner),
    ])
    expect(statuses).toEqual([200, 403])
    expect(await countOwners(workspace)).toBe(1)
    expect(await entries(workspace)).toHaveLength(1)
  })

  it('an owner leaves while demoting the other: one stays owner', async () => {
    const { workspace, second } = await withSecond('owner')
    const statuses = await atOnce(workspace, [
      () => app.delete(memberPath(workspace, '@me'), { key: second.key }),
      () => app.patch(memberPath(workspace, workspace.owner), { level: 8 }, { key: second.key }),
    ])
    expect([
      [200, 400],
      [204, 403],
    ]).toContainEqual(statuses)
    expect(await countOwners(workspace)).toBe(1)
  })

  it('an admin cannot change a member who has just been made owner', async () => {
    const { workspace, second } = await withSecond('admin')
    const member = await createMember(app, workspace.organization)
    const replies: Promise<Reply>[] = []
    await app.db.transaction(async (tx) => {
      await tx.run(
        sql`SELECT FROM membership WHERE organization_id = ${workspace.organization.id} FOR UPDATE`,
      )
      replies.push(app.patch(memberPath(workspace, member), { level: 8 }, { key: second.key }))
      await expect.poll(countWaiting).toBe(1)
      await tx.run(sql`UPDATE membership SET level = 15 WHERE user_id = ${member.id}`)
    })
    expect((await replies[0]!).status).toBe(403)
    expect(await levelOf(workspace, member)).toBe(15)
  })

  it('one of two removals of the same member is told that there is nobody left', async () => {
    const { workspace, second } = await withSecond('admin')
    const member = await createMember(app, workspace.organization)
    const remove = (actor: TestUser) => () => app.delete(memberPath(workspace, member), { key: actor.key })
    expect(await atOnce(workspace, [remove(workspace.owner), remove(second)])).toEqual([204, 404])
    expect(await entries(workspace)).toHaveLength(1)
  })

  it('all owners leave at once, many times over: one always stays', async () => {
    const workspace = await createOrganization(app)
    const owners = [workspace.owner]
    for (let count = 0; count < 5; count++)
      owners.push(await createMember(app, workspace.organization, { level: 'owner' }))
    const replies = await Promise.all(
      owners.map(({ key }) => app.delete(memberPath(workspace, '@me'), { key })),
    )
    expect(replies.map(({ status }) => status).sort((a, b) => a - b)).toEqual([204, 204, 204, 204, 204, 400])
    expect(await countOwners(workspace)).toBe(1)
  })
})
