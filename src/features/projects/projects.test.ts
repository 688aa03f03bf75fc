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
import { deleteEventsLater } from './delete-events.ts'

const UNKNOWN_ID = '00000000-0000-7000-8000-000000000000'
const TOKEN = /^phc_[0-9A-Za-z]{43}$/

let app: TestApp
let workspace: Workspace
let admin: TestUser
let member: TestUser
let stranger: TestUser
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
  admin = await createMember(app, workspace.organization, { level: 'admin' })
  member = await createMember(app, workspace.organization)
  stranger = (await createOrganization(app)).owner
})
afterAll(() => app.close())

const listPath = ({ organization }: Pick<Workspace, 'organization'>) =>
  `/api/organizations/${organization.id}/projects/`

/** The three addresses of one project; every rule holds at each. */
const pathsOf = ({ organization }: Pick<Workspace, 'organization'>, id: number | string) => [
  `/api/projects/${id}/`,
  `/api/organizations/${organization.id}/projects/${id}/`,
  `/api/environments/${id}/`,
]

async function createProject(fields: object = {}, { organization, owner }: Workspace = workspace) {
  const { status, body } = await app.post(listPath({ organization }), fields, { key: owner.key })
  expect(status).toBe(201)
  return body as { id: number; uuid: string; name: string; api_token: string; updated_at: string }
}

function stored(id: number) {
  return app.db.row<{ name: string; api_token: string; updated_at: Date }>(
    sql`SELECT * FROM project WHERE id = ${id}`,
  )
}

function entries(projectId: number) {
  return app.db.rows<{
    activity: string
    user_id: number | null
    detail: { name: string; changes: unknown[] }
  }>(sql`
    SELECT activity, user_id, detail FROM activity_log WHERE scope = 'Project' AND project_id = ${projectId} ORDER BY position`)
}

const idsOf = ({ body }: Reply) => body.results.map(({ id }: { id: number }) => id)

describe('GET lists of projects', () => {
  let full: Workspace
  let ids: number[]
  beforeAll(async () => {
    full = await createOrganization(app)
    ids = [full.project.id]
    for (const name of ['Zeta', 'Alpha', 'Mid']) ids.push((await createProject({ name }, full)).id)
  })

  it('200 gives the short form, by id', async () => {
    const reply = await app.get(listPath(full), { key: full.owner.key })
    expect(reply).toMatchObject({ status: 200, body: { count: 4, next: null, previous: null } })
    expect(idsOf(reply)).toEqual(ids)
    expect(reply.body.results[0]).toEqual({
      id: full.project.id,
      uuid: full.project.uuid,
      organization: full.organization.id,
      project_id: full.project.id,
      api_token: full.project.api_token,
      name: 'Default project',
      completed_snippet_onboarding: false,
      has_completed_onboarding_for: {},
      ingested_event: false,
      is_demo: false,
      timezone: 'UTC',
      access_control: false,
    })
    const { body } = await app.get(`/api/organizations/${full.organization.id}/`, { key: full.owner.key })
    expect(body.teams).toEqual(reply.body.results)
  })

  it('200 at /api/projects/ for the current organization', async () => {
    const user = await createMember(app, full.organization)
    for (const path of ['/api/projects/', '/api/environments/']) {
      expect(idsOf(await app.get(path, { key: user.key }))).toEqual(ids)
    }
    const home = (await app.post('/api/organizations/', { name: 'Home' }, { key: user.key })).body
    expect(idsOf(await app.get('/api/projects/', { key: user.key }))).toEqual([home.teams[0].id])
    expect(idsOf(await app.get('/api/projects/', { session: user.session }))).toEqual([home.teams[0].id])
  })

  it('200 with nothing for a user in no organization', async () => {
    const { key } = await createUser(app)
    expect((await app.get('/api/projects/', { key })).body).toEqual({
      count: 0,
      next: null,
      previous: null,
      results: [],
    })
  })

  it.each(['/api/projects/', 'organization'])(
    'following `next` at %s to null meets each project once',
    async (start) => {
      const user = await createMember(app, full.organization)
      const seen: number[] = []
      const links: (string | null)[] = []
      let url: string | null = `${start === 'organization' ? listPath(full) : start}?limit=3&keep=me`
      while (url !== null) {
        const reply: Reply = await app.get(url.replace('http://longshore.test', ''), { key: user.key })
        expect(reply.body.count).toBe(4)
        seen.push(...idsOf(reply))
        url = reply.body.next
        links.push(url)
      }
      expect(seen).toEqual(ids)
      expect(links).toEqual([expect.stringMatching(/\?limit=3&keep=me&offset=3$/), null])
    },
  )

  it('200 with absurd paging: the defaults', async () => {
    for (const query of ['limit=0', 'limit=-1&offset=-1', 'limit=x', 'offset=1e3']) {
      expect(idsOf(await app.get(`${listPath(full)}?${query}`, { key: full.owner.key }))).toEqual(ids)
    }
    const past = await app.get(`${listPath(full)}?offset=4`, { key: full.owner.key })
    expect(past.body).toMatchObject({ count: 4, next: null, results: [] })
  })

  it('200 for every level, 403 for a stranger, 404 for an unknown organization', async () => {
    for (const user of [workspace.owner, admin, member]) {
      expect((await app.get(listPath(workspace), { key: user.key })).status).toBe(200)
    }
    expect((await app.get(listPath(workspace), { key: stranger.key })).status).toBe(403)
    expect((await app.get(`/api/organizations/${UNKNOWN_ID}/projects/`, { key: stranger.key })).status).toBe(
      404,
    )
  })

  it('403 without the scope; the scopes of the organization do not open projects', async () => {
    const key = await createKey(app, full.owner, {
      scopes: ['organization:write', 'organization_member:write'],
    })
    for (const url of ['/api/projects/', listPath(full), `/api/projects/${full.project.id}/`]) {
      const { status, body } = await app.get(url, { key })
      expect(status).toBe(403)
      expect(body.detail).toContain('project:read')
    }
  })
})

describe('POST lists of projects', () => {
  it('201 with the full body and the defaults; it becomes the current project', async () => {
    const { organization, owner } = await createOrganization(app)
    for (const url of ['/api/projects/', listPath({ organization })]) {
      const { status, body } = await app.post(url, {}, { key: owner.key })
      expect(status).toBe(201)
      expect(body).toEqual({
        id: expect.any(Number),
        uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        organization: organization.id,
        project_id: body.id,
        api_token: expect.stringMatching(TOKEN),
        name: 'Default project',
        completed_snippet_onboarding: false,
        has_completed_onboarding_for: {},
        ingested_event: false,
        is_demo: false,
        timezone: 'UTC',
        access_control: false,
        created_at: body.updated_at,
        updated_at: body.created_at,
        app_urls: [],
        autocapture_exceptions_opt_in: null,
        autocapture_web_vitals_opt_in: null,
        heatmaps_opt_in: null,
        session_recording_opt_in: false,
        surveys_opt_in: null,
        cookieless_server_hash_mode: null,
        recording_domains: null,
        anonymize_ips: false,
        effective_membership_level: 15,
      })
      expect((await app.get('/api/projects/@current/', { key: owner.key })).body).toEqual(body)
      expect((await app.get('/api/users/@me/', { key: owner.key })).body.team.id).toBe(body.id)
    }
  })

  it('201 also makes the organization of the path current', async () => {
    const user = await createMember(app, workspace.organization, { level: 'admin' })
    await app.post('/api/organizations/', { name: 'Elsewhere' }, { key: user.key })
    const { body } = await app.post(listPath(workspace), { name: 'Back again' }, { key: user.key })
    expect((await app.get('/api/organizations/@current/', { key: user.key })).body.id).toBe(
      workspace.organization.id,
    )
    expect((await app.get('/api/projects/@current/', { key: user.key })).body.id).toBe(body.id)
  })

  it('201 takes all writable fields, trimmed, and booleans as text', async () => {
    const body = await createProject({
      name: '  Shop  ',
      timezone: 'Europe/Berlin',
      app_urls: [' https://shop.example '],
      anonymize_ips: 'true',
      is_demo: 1,
      completed_snippet_onboarding: 'false',
    })
    expect(body).toMatchObject({
      name: 'Shop',
      timezone: 'Europe/Berlin',
      app_urls: ['https://shop.example'],
      anonymize_ips: true,
      is_demo: true,
      completed_snippet_onboarding: false,
    })
  })

  it('201 ignores what is read-only or unknown', async () => {
    const { body } = await app.post(
      listPath(workspace),
      {
        id: 1,
        uuid: UNKNOWN_ID,
        api_token: 'phc_mine',
        organization: UNKNOWN_ID,
        ingested_event: true,
        color: 'red',
      },
      { key: admin.key },
    )
    expect(body).toMatchObject({ organization: workspace.organization.id, ingested_event: false })
    expect(body.api_token).toMatch(TOKEN)
    expect(body.uuid).not.toBe(UNKNOWN_ID)
  })

  it('201 for a name taken already; tokens differ', async () => {
    const [first, second] = [await createProject({ name: 'Twin' }), await createProject({ name: 'Twin' })]
    expect(second.api_token).not.toBe(first.api_token)
  })

  it('201 is written into the log of the project', async () => {
    const { body } = await app.post(listPath(workspace), { name: 'Logged' }, { key: admin.key })
    expect(await entries(body.id)).toEqual([
      { activity: 'created', user_id: admin.id, detail: { name: 'Logged', changes: [] } },
    ])
  })

  it('201 for a service key of level admin, in its own organization', async () => {
    const key = await createServiceKey(app, workspace.organization, { scopes: ['project:write'] })
    const reply = await app.post('/api/projects/', { name: 'By a machine' }, { key })
    expect(reply).toMatchObject({
      status: 201,
      body: { organization: workspace.organization.id, effective_membership_level: 8 },
    })
  })

  it('201 once for the same Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'one project' }
    const first = await app.post(listPath(workspace), { name: 'Once' }, { key: admin.key, headers })
    const second = await app.post(listPath(workspace), { name: 'Once' }, { key: admin.key, headers })
    expect(second).toMatchObject({ status: 201, body: first.body })
    expect(await app.db.run(sql`SELECT FROM project WHERE name = 'Once'`)).toBe(1)
  })

  it.each([
    [{ name: '' }, 'blank', 'name'],
    [{ name: '  ' }, 'blank', 'name'],
    [{ name: null }, 'null', 'name'],
    [{ name: 'n'.repeat(201) }, 'max_length', 'name'],
    [{ name: 1 }, 'invalid_input', 'name'],
    [{ name: 'a\0b' }, 'invalid_input', 'name'],
    [{ timezone: 'Mars/Base' }, 'invalid_choice', 'timezone'],
    [{ timezone: '+01:00' }, 'invalid_choice', 'timezone'],
    [{ timezone: '' }, 'blank', 'timezone'],
    [{ timezone: null }, 'null', 'timezone'],
    [{ timezone: 3 }, 'invalid_input', 'timezone'],
    [{ app_urls: 'https://a.example' }, 'not_a_list', 'app_urls'],
    [{ app_urls: ['https://a.example', 5] }, 'invalid_input', 'app_urls__1'],
    [{ app_urls: [null] }, 'null', 'app_urls__0'],
    [{ heatmaps_opt_in: 'perhaps' }, 'invalid_input', 'heatmaps_opt_in'],
    [{ session_recording_opt_in: null }, 'null', 'session_recording_opt_in'],
    [{ cookieless_server_hash_mode: 3 }, 'invalid_choice', 'cookieless_server_hash_mode'],
    [{ recording_domains: [5] }, 'invalid_input', 'recording_domains__0'],
    [{ anonymize_ips: 'maybe' }, 'invalid_input', 'anonymize_ips'],
    [{ is_demo: 2 }, 'invalid_input', 'is_demo'],
    [{ completed_snippet_onboarding: [] }, 'invalid_input', 'completed_snippet_onboarding'],
  ])('400 for %j on create and PATCH, and nothing happens', async (body, code, attr) => {
    const before = await app.db.rows(
      sql`SELECT * FROM project WHERE organization_id = ${workspace.organization.id} ORDER BY id`,
    )
    const [short, long] = pathsOf(workspace, workspace.project.id)
    for (const reply of [
      await app.post('/api/projects/', body, { key: admin.key }),
      await app.post(listPath(workspace), body, { key: admin.key }),
      await app.patch(short!, body, { key: admin.key }),
      await app.patch(long!, body, { key: admin.key }),
    ]) {
      expect(reply).toMatchObject({ status: 400, body: { type: 'validation_error', code, attr } })
    }
    const after = await app.db.rows(
      sql`SELECT * FROM project WHERE organization_id = ${workspace.organization.id} ORDER BY id`,
    )
    expect(after).toEqual(before)
  })

  it('a name may have 200 characters', async () => {
    const name = '🙂'.repeat(200)
    expect((await createProject({ name })).name).toBe(name)
  })

  it('403 for a member, before the body is looked at; 403 for a stranger', async () => {
    const before = await app.db.run(sql`SELECT FROM project`)
    for (const url of ['/api/projects/', listPath(workspace)]) {
      const reply = await app.post(url, { name: '' }, { key: member.key })
      expect(reply).toMatchObject({ status: 403, body: { code: 'permission_denied' } })
    }
    expect((await app.post(listPath(workspace), {}, { key: stranger.key })).status).toBe(403)
    expect(await app.db.run(sql`SELECT FROM project`)).toBe(before)
  })

  it('403 with the read scope', async () => {
    const key = await createKey(app, admin, { scopes: ['project:read'] })
    for (const url of ['/api/projects/', listPath(workspace)])
      expect((await app.post(url, {}, { key })).status).toBe(403)
  })

  it('404 at /api/projects/ for a user in no organization', async () => {
    const { key } = await createUser(app)
    expect((await app.post('/api/projects/', {}, { key })).status).toBe(404)
  })

  it('the level that counts at /api/projects/ is the one in the current organization', async () => {
    const user = await createMember(app, workspace.organization)
    const home = (await app.post('/api/organizations/', { name: 'Home' }, { key: user.key })).body
    expect((await app.post('/api/projects/', {}, { key: user.key })).body.organization).toBe(home.id)
    await app.patch(
      '/api/users/@me/',
      { set_current_organization: workspace.organization.id },
      { key: user.key },
    )
    expect((await app.post('/api/projects/', {}, { key: user.key })).status).toBe(403)
  })
})

describe('GET one project', () => {
  it('200 at each address, with the caller’s level', async () => {
    for (const path of pathsOf(workspace, workspace.project.id)) {
      for (const [user, level] of [
        [workspace.owner, 15],
        [admin, 8],
        [member, 1],
      ] as const) {
        const { status, body } = await app.get(path, { key: user.key })
        expect(status).toBe(200)
        expect(body).toMatchObject({ id: workspace.project.id, effective_membership_level: level })
      }
    }
  })

  it('200 for `@current`: the last created or chosen one, else the first', async () => {
    const home = await createOrganization(app)
    const current = async () => {
      const { body } = await app.get('/api/projects/@current/', { key: home.owner.key })
      expect((await app.get('/api/environments/@current/', { key: home.owner.key })).body).toEqual(body)
      return body.id
    }
    const second = await createProject({}, home)
    expect(await current()).toBe(second.id)
    await app.patch('/api/users/@me/', { set_current_team: home.project.id }, { key: home.owner.key })
    expect(await current()).toBe(home.project.id)
    await app.delete(`/api/projects/${home.project.id}/`, { key: home.owner.key })
    expect(await current()).toBe(second.id)
    expect((await app.get('/api/projects/@current/activity_log/', { key: home.owner.key })).status).toBe(200)
    await app.delete(`/api/projects/${second.id}/`, { key: home.owner.key })
    for (const path of ['projects', 'environments'].flatMap((name) => [
      `/api/${name}/@current/`,
      `/api/${name}/@current/activity_log/`,
    ])) {
      expect((await app.get(path, { key: home.owner.key })).status).toBe(404)
    }
  })

  it('404 for a stranger, an unknown id and what is no number', async () => {
    for (const id of [
      workspace.project.id,
      2147483647,
      2147483648,
      99999999999999,
      'x',
      '1.5',
      '-1',
      '0',
      '1e1',
      '%00',
    ]) {
      const reply = await app.get(`/api/projects/${id}/`, { key: stranger.key })
      expect(reply).toMatchObject({ status: 404, body: { type: 'invalid_request', code: 'not_found' } })
    }
  })

  it('404 below its path for what is unknown or no number, 403 for a stranger', async () => {
    for (const id of ['2147483647', 'x', '@me', workspace.project.uuid]) {
      expect((await app.get(`/api/projects/${id}/activity_log/`, { key: stranger.key })).status).toBe(404)
    }
    expect(
      (await app.get(`/api/projects/${workspace.project.id}/activity_log/`, { key: stranger.key })).status,
    ).toBe(403)
  })

  it('403 below an organization for a stranger, 404 for a project of another one', async () => {
    const foreign = (await createOrganization(app)).project.id
    expect(
      (await app.get(`${listPath(workspace)}${workspace.project.id}/`, { key: stranger.key })).status,
    ).toBe(403)
    expect((await app.get(`${listPath(workspace)}${foreign}/`, { key: workspace.owner.key })).status).toBe(
      404,
    )
    expect((await app.get(`${listPath(workspace)}x/`, { key: workspace.owner.key })).status).toBe(404)
    const twice = await createMember(app, workspace.organization)
    const home = (await app.post('/api/organizations/', { name: 'Home' }, { key: twice.key })).body
    expect((await app.get(`${listPath(workspace)}${home.teams[0].id}/`, { key: twice.key })).status).toBe(404)
  })
})

describe('PATCH one project', () => {
  it('200 for every level at each address: members may', async () => {
    for (const user of [workspace.owner, admin, member]) {
      for (const [index, path] of pathsOf(workspace, workspace.project.id).entries()) {
        const name = `By ${user.id} at ${index}`
        expect(await app.patch(path, { name }, { key: user.key })).toMatchObject({
          status: 200,
          body: { name },
        })
      }
    }
  })

  it('200 changes what is sent, moves `updated_at`, and writes down before and after', async () => {
    const project = await createProject({ name: 'Before', app_urls: ['https://a.example'] })
    app.advance(5000)
    const sent = { name: 'After', timezone: 'Asia/Tokyo', app_urls: ['https://b.example'], is_demo: false }
    const { body } = await app.patch(`/api/projects/${project.id}/`, sent, { key: member.key })
    expect(body).toEqual({ ...project, ...sent, effective_membership_level: 1, updated_at: body.updated_at })
    expect(Date.parse(body.updated_at)).toBeGreaterThan(Date.parse(project.updated_at))
    const changed = { type: 'Project', action: 'changed' }
    expect((await entries(project.id)).at(-1)).toEqual({
      activity: 'updated',
      user_id: member.id,
      detail: {
        name: 'After',
        changes: [
          { ...changed, field: 'name', before: 'Before', after: 'After' },
          { ...changed, field: 'timezone', before: 'UTC', after: 'Asia/Tokyo' },
          { ...changed, field: 'app_urls', before: ['https://a.example'], after: ['https://b.example'] },
        ],
      },
    })
  })

  it.each([
    [{}],
    [{ name: 'Same', app_urls: [] }],
    [{ id: 1, api_token: 'phc_mine', uuid: UNKNOWN_ID, organization: UNKNOWN_ID, ingested_event: true }],
  ])('200 for %j changes nothing and logs nothing', async (body) => {
    const project = await createProject({ name: 'Same' })
    app.advance(5000)
    const reply = await app.patch(`/api/projects/${project.id}/`, body, { key: workspace.owner.key })
    expect(reply).toMatchObject({ status: 200, body: project })
    expect(await entries(project.id)).toHaveLength(1)
  })

  it('404 and 403 for a stranger, who changes nothing', async () => {
    const project = await createProject({ name: 'Mine' })
    const statuses = []
    for (const path of pathsOf(workspace, project.id)) {
      statuses.push((await app.patch(path, { name: 'Theirs' }, { key: stranger.key })).status)
    }
    expect(statuses).toEqual([404, 403, 404])
    expect((await stored(project.id))!.name).toBe('Mine')
  })

  it('changes at once all hold, and the log tells each from the one before', async () => {
    const project = await createProject({ name: '0' })
    const path = `/api/projects/${project.id}/`
    const sent = [
      { name: '1' },
      { name: '2' },
      { name: '3' },
      { timezone: 'Asia/Tokyo' },
      { anonymize_ips: true },
    ]
    const replies = await Promise.all(sent.map((body) => app.patch(path, body, { key: member.key })))
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    const { body } = await app.get(path, { key: member.key })
    expect(body).toMatchObject({ timezone: 'Asia/Tokyo', anonymize_ips: true })
    const renames = (await entries(project.id))
      .flatMap(({ detail }) => detail.changes as { field: string; before: string; after: string }[])
      .filter(({ field }) => field === 'name')
    expect(renames.map(({ before }) => before)).toEqual(['0', renames[0]!.after, renames[1]!.after])
    expect(body.name).toBe(renames[2]!.after)
  })
})

describe('DELETE one project', () => {
  it.each([0, 1, 2])('204 for an admin and an owner at address %i; then 404', async (address) => {
    for (const user of [admin, workspace.owner]) {
      const project = await createProject()
      const path = pathsOf(workspace, project.id)[address]!
      expect(await app.delete(path, { key: user.key })).toMatchObject({ status: 204, body: null })
      expect((await app.get(path, { key: user.key })).status).toBe(404)
      expect((await app.delete(path, { key: user.key })).status).toBe(404)
      expect((await app.get(`/api/projects/${project.id}/activity_log/`, { key: user.key })).status).toBe(404)
    }
  })

  it.each([
    [false, [0]],
    [true, [0, 3600]],
  ])(
    'deletes its events; where the store is shared (%s) again an hour later',
    async (is_shared, expected) => {
      const project = await createProject()
      const services = { ...app.services, eventStore: { ...app.services.eventStore, is_shared } }
      await app.db.transaction((tx) => deleteEventsLater(services, tx, [project]))
      const jobs = await app.db.rows<{ after_s: number }>(sql`
      SELECT extract(epoch FROM start_after - created_on)::int AS after_s FROM pgboss.job
      WHERE name = 'delete-project-events' AND data = ${JSON.stringify({ project_id: project.id })}::jsonb ORDER BY 1`)
      expect(jobs.map(({ after_s }) => after_s)).toEqual(expected)
      // What is not due yet does not wait.
      await expect.poll(() => app.services.jobs.countWaiting()).not.toHaveProperty('delete-project-events')
    },
  )

  it('204 leaves the other projects, and is written into the log of the organization', async () => {
    const home = await createOrganization(app)
    const project = await createProject({ name: 'Short-lived' }, home)
    await app.delete(`/api/projects/${project.id}/`, { key: home.owner.key })
    expect(idsOf(await app.get(listPath(home), { key: home.owner.key }))).toEqual([home.project.id])
    expect((await entries(project.id)).at(-1)).toEqual({
      activity: 'deleted',
      user_id: home.owner.id,
      detail: { name: 'Short-lived', changes: [] },
    })
    const log = await app.get(`/api/organizations/${home.organization.id}/activity_log/`, {
      key: home.owner.key,
    })
    expect(log.body.results[0]).toMatchObject({
      scope: 'Project',
      activity: 'deleted',
      item_id: String(project.id),
    })
  })

  it('403 for a member, 404 and 403 for a stranger; it stays', async () => {
    const project = await createProject()
    for (const path of pathsOf(workspace, project.id)) {
      expect((await app.delete(path, { key: member.key })).status).toBe(403)
    }
    const [short, long] = pathsOf(workspace, project.id)
    expect((await app.delete(short!, { key: stranger.key })).status).toBe(404)
    expect((await app.delete(long!, { key: stranger.key })).status).toBe(403)
    expect(await stored(project.id)).toBeDefined()
  })

  it('204 once, 404 for everybody else who deletes at the same time', async () => {
    const project = await createProject()
    const replies = await Promise.all(
      [admin, workspace.owner, admin, workspace.owner].map(({ key }) =>
        app.delete(`/api/projects/${project.id}/`, { key }),
      ),
    )
    expect(replies.map(({ status }) => status).sort((a, b) => a - b)).toEqual([204, 404, 404, 404])
    expect((await entries(project.id)).map(({ activity }) => activity)).toEqual(['created', 'deleted'])
  })

  it('an id is never given again, so a key limited to it opens nothing later', async () => {
    const first = await createProject()
    await app.delete(`/api/projects/${first.id}/`, { key: admin.key })
    expect((await createProject()).id).toBeGreaterThan(first.id)
  })
})

describe('PATCH …/reset_token/', () => {
  it.each([0, 1, 2])(
    '200 at address %i for an admin and an owner: a new token, the old one is gone',
    async (address) => {
      for (const user of [admin, workspace.owner]) {
        const project = await createProject()
        const { status, body } = await app.patch(
          `${pathsOf(workspace, project.id)[address]}reset_token/`,
          {},
          { key: user.key },
        )
        expect(status).toBe(200)
        expect(body.api_token).toMatch(TOKEN)
        expect(body.api_token).not.toBe(project.api_token)
        expect((await stored(project.id))!.api_token).toBe(body.api_token)
        expect((await entries(project.id)).at(-1)).toEqual({
          activity: 'rolled',
          user_id: user.id,
          detail: { name: 'Default project', changes: [] },
        })
      }
    },
  )

  it('403 for a member, 404 for a stranger; the token stays', async () => {
    const project = await createProject()
    const path = `/api/projects/${project.id}/reset_token/`
    expect((await app.patch(path, {}, { key: member.key })).status).toBe(403)
    expect([403, 404]).toContain((await app.patch(path, {}, { key: stranger.key })).status)
    expect((await stored(project.id))!.api_token).toBe(project.api_token)
  })
})
