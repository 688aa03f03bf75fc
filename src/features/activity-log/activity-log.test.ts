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
import { sql } from '../../platform/db/sql.ts'
import { changesBetween } from './record.ts'

let app: TestApp
let workspace: Workspace
let admin: TestUser
let member: TestUser
let stranger: TestUser
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app, { name: 'Watched' })
  admin = await createMember(app, workspace.organization, { level: 'admin', email: 'admin@example.com' })
  member = await createMember(app, workspace.organization)
  stranger = (await createOrganization(app)).owner
})
afterAll(() => app.close())

const organizationLog = ({ organization }: Pick<Workspace, 'organization'>) =>
  `/api/organizations/${organization.id}/activity_log/`
const projectLog = ({ project }: Pick<Workspace, 'project'>) => `/api/projects/${project.id}/activity_log/`

type Entry = { id: string; scope: string; activity: string; item_id: string | null; detail: { name: string } }

const namesOf = ({ body }: Reply) => body.results.map(({ detail }: Entry) => detail.name)
const pathOf = (link: string) => link.replace('http://longshore.test', '')

/** An organization whose project has this many entries and no others, named 1, 2, 3, … */
async function createBusyWorkspace(count: number): Promise<Workspace> {
  const busy = await createOrganization(app)
  const { organization, project } = busy
  await app.db.run(sql`DELETE FROM activity_log WHERE organization_id = ${organization.id}`)
  await app.db.run(sql`
    INSERT INTO activity_log (id, organization_id, project_id, actor_name, scope, activity, item_id, detail, created_at, hash)
    SELECT gen_random_uuid(), ${organization.id}, ${project.id}, 'system', CASE number % 2 WHEN 0 THEN 'Project' ELSE 'User' END,
      'updated', number % 5, jsonb_build_object('name', number::text, 'changes', '[]'::jsonb), ${app.services.now()}, ''
    FROM generate_series(1, ${count}) AS number`)
  return busy
}

const countdown = (from: number, to = 1) =>
  Array.from({ length: from - to + 1 }, (_, index) => String(from - index))

/** Follows `next` (or `previous`) to null. */
async function walk(url: string, key: string, direction: 'next' | 'previous' = 'next'): Promise<Reply[]> {
  const replies: Reply[] = []
  for (let link: string | null = url; link !== null; link = replies.at(-1)!.body[direction]) {
    replies.push(await app.get(pathOf(link), { key }))
  }
  return replies
}

describe('GET /api/organizations/:id/activity_log/', () => {
  it('200 gives exactly the fields of the API', async () => {
    await app.patch(
      `/api/organizations/${workspace.organization.id}/`,
      { name: 'Renamed' },
      { key: admin.key },
    )
    const { status, body } = await app.get(organizationLog(workspace), { key: admin.key })
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['count', 'next', 'previous', 'results'])
    expect(body.results[0]).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      user: {
        id: admin.id,
        uuid: admin.uuid,
        distinct_id: admin.distinct_id,
        first_name: 'Test',
        last_name: '',
        email: 'admin@example.com',
        is_email_verified: true,
        hedgehog_config: {},
      },
      unread: false,
      is_system: false,
      was_impersonated: false,
      activity: 'updated',
      scope: 'Organization',
      item_id: workspace.organization.id,
      organization_id: workspace.organization.id,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      actor: { name: 'admin@example.com', key_id: expect.any(String) },
      detail: {
        name: 'Renamed',
        short_id: null,
        type: null,
        trigger: null,
        changes: [
          { type: 'Organization', action: 'changed', field: 'name', before: 'Watched', after: 'Renamed' },
        ],
      },
    })
  })

  it('200 tells a session from a key, and a service key by its name', async () => {
    const { organization, owner } = await createOrganization(app)
    const service = await createServiceKey(app, organization, { scopes: ['*'], label: 'deploy robot' })
    const path = `/api/organizations/${organization.id}/`
    await app.patch(path, { name: 'By session' }, { session: owner.session })
    await app.patch(path, { name: 'By key' }, { key: owner.key })
    await app.patch(path, { name: 'By service' }, { key: service })
    const { body } = await app.get(`${organizationLog({ organization })}?limit=3`, { key: owner.key })
    expect(body.results).toMatchObject([
      {
        user: null,
        is_system: false,
        actor: { name: 'service key deploy robot', key_id: expect.any(String) },
      },
      { user: { id: owner.id }, is_system: false, actor: { name: owner.email, key_id: expect.any(String) } },
      { user: { id: owner.id }, is_system: false, actor: { name: owner.email, key_id: null } },
    ])
  })

  it('200 marks what nobody in particular did', async () => {
    const busy = await createBusyWorkspace(1)
    const { body } = await app.get(organizationLog(busy), { key: busy.owner.key })
    expect(body.results[0]).toMatchObject({
      user: null,
      is_system: true,
      actor: { name: 'system', key_id: null },
    })
  })

  it('200 still names whoever has left or was deactivated', async () => {
    const { organization, owner } = await createOrganization(app)
    const leaver = await createMember(app, organization, { level: 'admin' })
    await app.patch(`/api/organizations/${organization.id}/`, { name: 'Last deed' }, { key: leaver.key })
    await app.delete(`/api/organizations/${organization.id}/members/@me/`, { key: leaver.key })
    await app.db.run(sql`UPDATE app_user SET is_active = false WHERE id = ${leaver.id}`)
    const { body } = await app.get(organizationLog({ organization }), { key: owner.key })
    expect(body.results.slice(0, 2)).toMatchObject([
      { scope: 'OrganizationMembership', activity: 'deleted', user: { email: leaver.email } },
      { scope: 'Organization', activity: 'updated', user: { email: leaver.email } },
    ])
  })

  it('200 for admins and owners, with either scope; a service key of level admin too', async () => {
    const service = await createServiceKey(app, workspace.organization, { scopes: ['activity_log:read'] })
    const keys = [
      workspace.owner.key,
      admin.key,
      await createKey(app, admin, { scopes: ['organization:read'] }),
      await createKey(app, admin, { scopes: ['activity_log:read'] }),
      await createKey(app, admin, { scopes: ['activity_log:write'] }),
      service,
    ]
    for (const key of keys) expect((await app.get(organizationLog(workspace), { key })).status).toBe(200)
    expect((await app.get(organizationLog(workspace), { session: admin.session })).status).toBe(200)
  })

  it('403 for a member, a stranger and without either scope; 404 for an unknown organization', async () => {
    const wrong = await createKey(app, admin, {
      scopes: ['organization_member:write', 'project:write', 'plugin:read'],
    })
    for (const key of [member.key, stranger.key, wrong]) {
      const reply = await app.get(organizationLog(workspace), { key })
      expect(reply).toMatchObject({ status: 403, body: { code: 'permission_denied' } })
    }
    const unknown = '/api/organizations/00000000-0000-7000-8000-000000000000/activity_log/'
    expect((await app.get(unknown, { key: admin.key })).status).toBe(404)
  })

  it('405 for every other method: nobody can write or erase it', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      expect((await app.call(method, organizationLog(workspace), { key: workspace.owner.key })).status).toBe(
        405,
      )
    }
  })

  it('following `next` to null meets each entry once, newest first, the filter kept', async () => {
    const busy = await createBusyWorkspace(23)
    const all = await walk(`${organizationLog(busy)}?limit=5`, busy.owner.key)
    expect(all.flatMap(namesOf)).toEqual(countdown(23))
    expect(all.map(({ body }) => body.count)).toEqual([23, 23, 23, 23, 23])
    const odd = await walk(`${organizationLog(busy)}?limit=5&scope=User`, busy.owner.key)
    expect(odd.flatMap(namesOf)).toEqual(countdown(23).filter((name) => Number(name) % 2 === 1))
    expect(odd[0]!.body.next).toBe(
      `http://longshore.test${organizationLog(busy)}?limit=5&scope=User&offset=5`,
    )
  })

  it('200 with absurd paging: the defaults', async () => {
    const busy = await createBusyWorkspace(3)
    for (const query of ['limit=0', 'limit=-1', 'limit=all', 'offset=-2', 'offset=x']) {
      expect(namesOf(await app.get(`${organizationLog(busy)}?${query}`, { key: busy.owner.key }))).toEqual([
        '3',
        '2',
        '1',
      ])
    }
    const past = await app.get(`${organizationLog(busy)}?offset=3`, { key: busy.owner.key })
    expect(past.body).toMatchObject({ count: 3, next: null, results: [] })
  })
})

describe('filters of either log', () => {
  let busy: Workspace
  let other: TestUser
  beforeAll(async () => {
    busy = await createBusyWorkspace(6)
    other = await createMember(app, busy.organization)
    await app.patch(`/api/projects/${busy.project.id}/`, { name: 'Shop' }, { key: other.key })
  })

  it.each([
    ['', ['Shop', '6', '5', '4', '3', '2', '1']],
    ['scope=Project', ['Shop', '6', '4', '2']],
    ['scope=project', []],
    ['scope=Nothing', []],
    ['scopes=Project,User', ['Shop', '6', '5', '4', '3', '2', '1']],
    ['scopes=User,%20Organization', ['5', '3', '1']],
    ['scopes=,User,', ['5', '3', '1']],
    ['scope=Project&scopes=User', []],
    ['item_id=1', ['6', '1']],
    ['item_id=1&scope=User', ['1']],
    ["item_id=1' OR '1'='1", []],
    ['scope=&scopes=&item_id=&user=', ['Shop', '6', '5', '4', '3', '2', '1']],
    ['user=0', []],
    ['user=2147483647', []],
  ])('200 for ?%s', async (query, names) => {
    for (const log of [organizationLog(busy), projectLog(busy)]) {
      expect(namesOf(await app.get(`${log}?${query}`, { key: busy.owner.key }))).toEqual(names)
    }
    const counted = await app.get(`${organizationLog(busy)}?${query}`, { key: busy.owner.key })
    expect(counted.body.count).toBe(names.length)
  })

  it('200 by user: what that user did, with a session or a key', async () => {
    for (const log of [organizationLog(busy), projectLog(busy)]) {
      expect(namesOf(await app.get(`${log}?user=${other.id}`, { key: busy.owner.key }))).toEqual(['Shop'])
      expect(namesOf(await app.get(`${log}?user=${busy.owner.id}`, { key: busy.owner.key }))).toEqual([])
    }
  })

  it('200 by time: from a moment on, and up to one', async () => {
    const { organization, owner } = await createOrganization(app)
    await app.db.run(sql`DELETE FROM activity_log WHERE organization_id = ${organization.id}`)
    for (const day of [1, 2, 3]) {
      await app.db.run(sql`
        INSERT INTO activity_log (id, organization_id, actor_name, scope, activity, detail, created_at, hash)
        VALUES (gen_random_uuid(), ${organization.id}, 'system', 'Project', 'updated',
          ${{ name: `day ${day}`, changes: [] }}, ${new Date(Date.UTC(2026, 0, day))}, '')`)
    }
    const asked = async (query: string) =>
      namesOf(await app.get(`${organizationLog({ organization })}?${query}`, { key: owner.key }))
    expect(await asked('start_date=2026-01-02T00:00:00Z')).toEqual(['day 3', 'day 2'])
    expect(await asked('end_date=2026-01-02T00:00:00Z')).toEqual(['day 1'])
    expect(await asked('start_date=2026-01-02&end_date=2026-01-03')).toEqual(['day 2'])
    expect(await asked('start_date=&end_date=')).toHaveLength(3)
    const wrong = await app.get(`${organizationLog({ organization })}?start_date=soon`, { key: owner.key })
    expect([wrong.status, wrong.body.attr]).toEqual([400, 'start_date'])
  })

  it('400 for a user that is no number, and for NUL', async () => {
    for (const log of [organizationLog(busy), projectLog(busy)]) {
      const wrong = await app.get(`${log}?user=somebody`, { key: busy.owner.key })
      expect(wrong).toMatchObject({ status: 400, body: { code: 'invalid_input', attr: 'user' } })
      const nul = await app.get(`${log}?item_id=%00`, { key: busy.owner.key })
      expect(nul).toMatchObject({ status: 400, body: { code: 'invalid_input', attr: 'item_id' } })
    }
  })
})

describe('GET /api/organizations/:id/activity_log/chain/', () => {
  it('200 with the first entry that does not hold; other organizations do not matter', async () => {
    const one = await createOrganization(app)
    const other = await createOrganization(app)
    const check = async ({ organization, owner }: Workspace) =>
      (await app.get(`${organizationLog({ organization })}chain/`, { key: owner.key })).body
    const { count } = (await app.get(organizationLog(one), { key: one.owner.key })).body
    expect(await check(one)).toEqual({ is_intact: true, entries: count, broken_entry: null })
    const [entry] = await app.db.rows<{ id: string }>(sql`
      UPDATE activity_log SET actor_name = 'somebody else' WHERE position =
        (SELECT min(position) FROM activity_log WHERE organization_id = ${one.organization.id}) RETURNING id`)
    expect(await check(one)).toEqual({ is_intact: false, entries: 1, broken_entry: entry!.id })
    expect(await check(other)).toMatchObject({ is_intact: true })
  })

  it('403 for members; 429 when it is asked for again and again', async () => {
    const path = `${organizationLog(workspace)}chain/`
    expect((await app.get(path, { key: member.key })).status).toBe(403)
    const limited = await startTestApp({ RATE_LIMITS: 'on' })
    try {
      const { organization, owner } = await createOrganization(limited)
      const ask = () => limited.get(`${organizationLog({ organization })}chain/`, { session: owner.session })
      const statuses: number[] = []
      for (let time = 0; time < 7; time++) statuses.push((await ask()).status)
      expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429])
    } finally {
      await limited.close()
    }
  })
})

describe('GET /api/projects/:project_id/activity_log/', () => {
  it('200 for members too, with what happened in this project and nothing else', async () => {
    const { organization, owner, project } = await createOrganization(app)
    const worker = await createMember(app, organization)
    const path = `/api/organizations/${organization.id}/projects/`
    const second = (await app.post(path, { name: 'Second' }, { key: owner.key })).body
    await app.patch(`${path}${second.id}/`, { name: 'Changed' }, { key: worker.key })
    await app.patch(`${path}${second.id}/reset_token/`, {}, { key: owner.key })
    const key = await createKey(app, worker, { scopes: ['activity_log:read'] })
    const { status, body } = await app.get(projectLog({ project: second }), { key })
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['next', 'previous', 'results'])
    expect(body.results.map((entry: Entry) => [entry.scope, entry.activity, entry.item_id])).toEqual([
      ['Project', 'rolled', String(second.id)],
      ['Project', 'updated', String(second.id)],
      ['Project', 'created', String(second.id)],
    ])
    const first = await app.get(projectLog({ project }), { key })
    expect(first.body.results.map((entry: Entry) => entry.activity)).toEqual(['created'])
    expect((await app.get('/api/projects/@current/activity_log/', { key })).status).toBe(200)
  })

  it('403 for a stranger and without its scope, 404 for an unknown project', async () => {
    const key = await createKey(app, admin, { scopes: ['organization:write', 'project:write'] })
    for (const wrong of [stranger.key, key])
      expect((await app.get(projectLog(workspace), { key: wrong })).status).toBe(403)
    for (const id of ['2147483647', 'x']) {
      expect((await app.get(`/api/projects/${id}/activity_log/`, { key: admin.key })).status).toBe(404)
    }
  })

  describe('with cursors', () => {
    let busy: Workspace
    beforeAll(async () => {
      busy = await createBusyWorkspace(250)
    })

    it('200 in hundreds to the end and back again, missing and repeating nothing', async () => {
      const forth = await walk(projectLog(busy), busy.owner.key)
      expect(forth.map(({ body }) => body.results.length)).toEqual([100, 100, 50])
      expect(forth.flatMap(namesOf)).toEqual(countdown(250))
      expect(forth[0]!.body.previous).toBeNull()
      const back = await walk(forth[2]!.body.previous, busy.owner.key, 'previous')
      expect(back.map(namesOf)).toEqual([countdown(150, 51), countdown(250, 151)])
      expect(back.map(({ body }) => typeof body.next)).toEqual(['string', 'string'])
      expect(namesOf(await app.get(pathOf(back[1]!.body.next), { key: busy.owner.key }))).toEqual(
        countdown(150, 51),
      )
    })

    it('200 keeps the filter in the links, and never a key', async () => {
      const { body } = await app.get(
        `${projectLog(busy)}?scopes=User,Project&personal_api_key=${busy.owner.key}`,
      )
      expect(body.next).toMatch(/\?scopes=User%2CProject&cursor=[^&]+$/)
      const odd = await walk(`${projectLog(busy)}?scope=User`, busy.owner.key)
      expect(odd.flatMap(namesOf)).toEqual(countdown(250).filter((name) => Number(name) % 2 === 1))
    })

    it('200 is not confused by entries that come in meanwhile', async () => {
      const growing = await createBusyWorkspace(150)
      const first = await app.get(projectLog(growing), { key: growing.owner.key })
      await app.patch(
        `/api/projects/${growing.project.id}/`,
        { name: 'Meanwhile' },
        { key: growing.owner.key },
      )
      const second = await app.get(pathOf(first.body.next), { key: growing.owner.key })
      expect([...namesOf(first), ...namesOf(second)]).toEqual(countdown(150))
      const back = await walk(second.body.previous, growing.owner.key, 'previous')
      expect(back.map(namesOf)).toEqual([countdown(150, 51), ['Meanwhile']])
    })

    it('200 in one page when there is no more than a hundred; a blank cursor is none', async () => {
      const exact = await createBusyWorkspace(100)
      const { body } = await app.get(`${projectLog(exact)}?cursor=`, { key: exact.owner.key })
      expect(body).toMatchObject({ next: null, previous: null })
      expect(body.results).toHaveLength(100)
    })

    it('a cursor of one project shows nothing of another', async () => {
      const { body } = await app.get(projectLog(busy), { key: busy.owner.key })
      const cursor = new URL(body.next).searchParams.get('cursor')!
      const reply = await app.get(`${projectLog(workspace)}?cursor=${cursor}`, { key: admin.key })
      for (const entry of reply.body.results) expect(entry.organization_id).toBe(workspace.organization.id)
    })

    it.each(['x', '-1', '12', 'o', 'o-5', 'n1.5', `o${'9'.repeat(40)}`, "o1'--"])(
      '400 for the cursor %j',
      async (cursor) => {
        const reply = await app.get(`${projectLog(busy)}?cursor=${encodeURIComponent(cursor)}`, {
          key: busy.owner.key,
        })
        expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_input', attr: 'cursor' } })
      },
    )
  })

  describe('with numbered pages', () => {
    let busy: Workspace
    beforeAll(async () => {
      busy = await createBusyWorkspace(25)
    })

    it.each(['page_size=10', 'page=1&page_size=10'])(
      '200 for ?%s, on to the end and back again',
      async (query) => {
        const forth = await walk(`${projectLog(busy)}?scopes=User,Project&${query}`, busy.owner.key)
        expect(forth.map(namesOf)).toEqual([countdown(25, 16), countdown(15, 6), countdown(5)])
        expect(forth[0]!.body.previous).toBeNull()
        const back = await walk(forth[2]!.body.previous, busy.owner.key, 'previous')
        expect(back.map(namesOf)).toEqual([countdown(15, 6), countdown(25, 16)])
        expect(forth[0]!.body.next).toContain('scopes=User%2CProject')
      },
    )

    it.each([
      ['page=0', 25],
      ['page=-1', 25],
      ['page=x', 25],
      ['page=1', 25],
      ['page=2', 0],
      ['page=99999999999999999999', 0],
      ['page=1000000000', 0],
      ['page_size=0', 25],
      ['page_size=-1', 25],
      ['page_size=x', 25],
      ['page_size=1001', 25],
      ['page_size=999999999999', 25],
      ['page=3&page_size=10', 5],
      ['page=4&page_size=10', 0],
      ['page=2&page=3', 25],
    ])('200 for ?%s', async (query, length) => {
      const { status, body } = await app.get(`${projectLog(busy)}?${query}`, { key: busy.owner.key })
      expect(status).toBe(200)
      expect(body.results).toHaveLength(length)
      expect(body.next).toBeNull()
    })

    it('200 with at most 1000 on a page', async () => {
      const large = await createBusyWorkspace(1001)
      const [first, second] = await walk(`${projectLog(large)}?page_size=5000`, large.owner.key)
      expect([first!.body.results.length, second!.body.results.length]).toEqual([1000, 1])
      expect(namesOf(second!)).toEqual(['1'])
    })
  })
})

describe('every change leaves its entry', () => {
  it('of organization, members, invites, domains, projects and keys, in the order it happened', async () => {
    const { organization, owner } = await createOrganization(app, { name: 'Deeds' })
    const path = `/api/organizations/${organization.id}/`
    const as = { session: owner.session, may_show_secrets: true } as const
    const guest = await createUser(app, { email: 'guest@example.com' })
    const wanted: [string, string, string][] = [
      ['Organization', 'created', 'Deeds'],
      ['OrganizationMembership', 'created', owner.email],
      ['Project', 'created', 'Default project'],
    ]
    const expectEntry = (scope: string, activity: string, name: string) =>
      void wanted.push([scope, activity, name])

    await app.patch(path, { name: 'Good deeds' }, as)
    expectEntry('Organization', 'updated', 'Good deeds')

    const invite = await app.post(`${path}invites/`, { target_email: 'guest@example.com' }, as)
    expectEntry('OrganizationInvite', 'created', 'guest@example.com')
    await app.post(`/api/signup/${secretOf(invite.body)}/`, {}, { session: guest.session })
    expectEntry('OrganizationInvite', 'accepted', 'guest@example.com')
    expectEntry('OrganizationMembership', 'created', 'guest@example.com')
    await app.patch(`${path}members/${guest.uuid}/`, { level: 8 }, as)
    expectEntry('OrganizationMembership', 'updated', 'guest@example.com')
    await app.delete(`${path}members/${guest.uuid}/`, as)
    expectEntry('OrganizationMembership', 'deleted', 'guest@example.com')
    const second = await app.post(`${path}invites/`, { target_email: 'nobody@example.com' }, as)
    expectEntry('OrganizationInvite', 'created', 'nobody@example.com')
    await app.delete(`${path}invites/${second.body.id}/`, as)
    expectEntry('OrganizationInvite', 'deleted', 'nobody@example.com')

    const domain = await app.post(`${path}domains/`, { domain: 'deeds.example' }, as)
    expectEntry('OrganizationDomain', 'created', 'deeds.example')
    await app.patch(`${path}domains/${domain.body.id}/`, { saml_entity_id: 'https://idp.example' }, as)
    expectEntry('OrganizationDomain', 'updated', 'deeds.example')
    await app.delete(`${path}domains/${domain.body.id}/`, as)
    expectEntry('OrganizationDomain', 'deleted', 'deeds.example')

    const project = await app.post(`${path}projects/`, { name: 'Shop' }, as)
    expectEntry('Project', 'created', 'Shop')
    await app.patch(`/api/projects/${project.body.id}/`, { name: 'Store' }, as)
    expectEntry('Project', 'updated', 'Store')
    await app.patch(`/api/projects/${project.body.id}/reset_token/`, {}, as)
    expectEntry('Project', 'rolled', 'Store')
    await app.delete(`/api/projects/${project.body.id}/`, as)
    expectEntry('Project', 'deleted', 'Store')

    const secrets: string[] = [secretOf(invite.body), secretOf(second.body), owner.session, owner.password]
    for (const [scope, keys] of [
      ['PersonalAPIKey', '/api/personal_api_keys/'],
      ['ServiceAPIKey', `${path}service_keys/`],
    ] as const) {
      const made = await app.post(keys, { label: 'Mine', scopes: ['project:read'] }, as)
      expectEntry(scope, 'created', `Mine (${made.body.mask_value})`)
      await app.patch(`${keys}${made.body.id}/`, { label: 'Yours' }, as)
      expectEntry(scope, 'updated', `Yours (${made.body.mask_value})`)
      const rolled = await app.post(`${keys}${made.body.id}/roll/`, {}, as)
      expectEntry(scope, 'rolled', `Yours (${rolled.body.mask_value})`)
      await app.delete(`${keys}${made.body.id}/`, as)
      expectEntry(scope, 'deleted', `Yours (${rolled.body.mask_value})`)
      secrets.push(app.canary.plant('key', made.body.value), app.canary.plant('key', rolled.body.value))
    }

    const { body } = await app.get(organizationLog({ organization }), { key: owner.key })
    const written = body.results.map((entry: Entry) => [entry.scope, entry.activity, entry.detail.name])
    expect(written.toReversed()).toEqual(wanted)
    expect(
      body.results.every(
        ({ organization_id }: { organization_id: string }) => organization_id === organization.id,
      ),
    ).toBe(true)

    const stored = JSON.stringify(
      await app.db.rows(sql`SELECT * FROM activity_log WHERE organization_id = ${organization.id}`),
    )
    for (const secret of secrets) expect(stored).not.toContain(secret)
    expect(stored).not.toMatch(/sha256\$|\$argon2|password|verification_challenge|phc_/)
  })

  it('but a request that is refused leaves none', async () => {
    const { organization, owner, project } = await createOrganization(app)
    const worker = await createMember(app, organization)
    const path = `/api/organizations/${organization.id}/`
    const before = await app.db.run(sql`SELECT FROM activity_log`)
    const refused = [
      await app.patch(path, { name: '' }, { key: owner.key }),
      await app.patch(path, { name: 'No' }, { key: worker.key }),
      await app.delete(path, { key: worker.key }),
      await app.delete(`${path}members/@me/`, { key: owner.key }),
      await app.patch(`${path}members/${worker.uuid}/`, { level: 2 }, { key: owner.key }),
      await app.post(`${path}projects/`, { timezone: 'x' }, { key: owner.key }),
      await app.delete(`/api/projects/${project.id}/`, { key: worker.key }),
    ]
    expect(refused.map(({ status }) => status)).toEqual([400, 403, 403, 400, 400, 400, 403])
    expect(await app.db.run(sql`SELECT FROM activity_log`)).toBe(before)
  })

  it('and shows only to its own organization', async () => {
    const { body } = await app.get(organizationLog(workspace), { key: admin.key })
    for (const entry of body.results) expect(entry.organization_id).toBe(workspace.organization.id)
    expect(body.count).toBe(
      await app.db.run(sql`SELECT FROM activity_log WHERE organization_id = ${workspace.organization.id}`),
    )
  })
})

describe('changesBetween', () => {
  const before = { name: 'a', list: ['x'], at: new Date(0), count: 1, secret: 'hidden' }
  const changed = { type: 'Project', action: 'changed' }

  it('names the fields that differ, in the order asked for, and no others', () => {
    const after = { ...before, count: 2, name: 'b', secret: 'other' }
    expect(changesBetween('Project', before, after, ['name', 'list', 'at', 'count'])).toEqual([
      { ...changed, field: 'name', before: 'a', after: 'b' },
      { ...changed, field: 'count', before: 1, after: 2 },
    ])
  })

  it('compares by value, and takes a field that was not sent for unchanged', () => {
    expect(
      changesBetween('Project', before, { list: ['x'], at: new Date(0) }, ['name', 'list', 'at']),
    ).toEqual([])
    expect(changesBetween('Project', before, { name: undefined }, ['name'])).toEqual([])
    expect(changesBetween('Project', { at: null }, { at: '2024' }, ['at'])).toEqual([
      { ...changed, field: 'at', before: null, after: '2024' },
    ])
  })
})
