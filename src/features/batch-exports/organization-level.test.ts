// The same calls below an organization: all of its projects, and which of them a new export is for.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createKey,
  createMember,
  createOrganization,
  createServiceKey,
  type Workspace,
} from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { sql } from '../../platform/db/sql.ts'
import { insertProject } from '../projects/queries.ts'
import { setCurrent } from '../users/queries.ts'
import { hourly, postgres } from './fixture/bodies.ts'

let app: TestApp
let home: Workspace
let foreign: Workspace
let key: string
let base: string
let second: number
beforeAll(async () => {
  app = await startTestApp()
  home = await createOrganization(app)
  foreign = await createOrganization(app)
  key = home.owner.key
  base = `/api/organizations/${home.organization.id}/batch_exports/`
  second = (await insertProject(app.db, home.organization.id, {}, app.services.now())).id
})
afterAll(() => app.close())

const create = (fields: object = {}, call: object = {}) => app.post(base, hourly(fields), { key, ...call })
const createIn = async (project_id: number, by = key): Promise<string> =>
  (await app.post(`/api/projects/${project_id}/batch_exports/`, hourly(), { key: by })).body.id

describe('GET batch_exports/', () => {
  it('200 over all projects of the organization and no other, pages and count included', async () => {
    const own = [await createIn(home.project.id), await createIn(second)]
    const theirs = await createIn(foreign.project.id, foreign.owner.key)
    const { status, body } = await app.get(base, { key })
    const ids = body.results.map((each: { id: string }) => each.id)
    expect([status, body.count]).toEqual([200, ids.length])
    expect(ids).toEqual(expect.arrayContaining(own))
    expect(ids).not.toContain(theirs)
    const page = await app.get(`${base}?limit=1&offset=1`, { key })
    expect(page.body.results).toEqual([body.results[1]])
  })
})

describe('POST batch_exports/', () => {
  it('201 in the project that is asked for', async () => {
    expect((await create({ team_id: second })).body.team_id).toBe(second)
    expect((await create({ project_id: String(second) })).body.team_id).toBe(second)
  })

  it('201 in the current project, or in the oldest when that lies elsewhere', async () => {
    const member = await createMember(app, home.organization)
    await setCurrent(app.db, member.id, home.organization.id, second)
    expect((await create({}, { key: member.key })).body.team_id).toBe(second)
    expect((await create({ team_id: null }, { key: member.key })).body.team_id).toBe(second)
    const visitor = await createMember(app, home.organization)
    await app.db.run(sql`
      INSERT INTO membership (id, organization_id, user_id, level, joined_at, updated_at)
      VALUES (gen_random_uuid(), ${foreign.organization.id}, ${visitor.id}, 1, now(), now())`)
    await setCurrent(app.db, visitor.id, foreign.organization.id, foreign.project.id)
    expect((await create({}, { key: visitor.key })).body.team_id).toBe(home.project.id)
    const service = await createServiceKey(app, home.organization, { scopes: ['batch_export:write'] })
    expect((await create({}, { key: service })).body.team_id).toBe(home.project.id)
  })

  it('400 for a project of another organization, an unknown one, or none at all', async () => {
    for (const team_id of [foreign.project.id, 2_000_000_000, 'x', 1.5, {}, '9'.repeat(30)]) {
      const reply = await create({ team_id })
      expect(reply).toMatchObject({ status: 400, body: { code: 'does_not_exist', attr: 'team_id' } })
    }
    const empty = await createOrganization(app)
    await app.db.run(sql`DELETE FROM project WHERE organization_id = ${empty.organization.id}`)
    const below = `/api/organizations/${empty.organization.id}/batch_exports/`
    expect(await app.post(below, hourly(), { key: empty.owner.key })).toMatchObject({ status: 400 })
    expect(await app.get(below, { key: empty.owner.key })).toMatchObject({ status: 200, body: { count: 0 } })
  })

  it('403 in an organization that is not theirs', async () => {
    const reply = await create({}, { key: foreign.owner.key })
    expect(reply).toMatchObject({ status: 403, body: { code: 'permission_denied' } })
    const limited = await createKey(app, home.owner, { scopes: ['*'], scoped_teams: [home.project.id] })
    expect((await create({}, { key: limited })).status).toBe(403)
  })
})

describe('one export', () => {
  it('is the same as below its project, whichever call', async () => {
    const id = (await create({ team_id: second, destination: postgres(app) })).body.id
    const below = `/api/projects/${second}/batch_exports/${id}/`
    expect((await app.get(`${base}${id}/`, { key })).body).toEqual((await app.get(below, { key })).body)
    const changed = await app.patch(`${base}${id}/`, { name: 'Changed', team_id: home.project.id }, { key })
    expect(changed.body).toMatchObject({ name: 'Changed', team_id: second })
    const body = hourly({ name: 'Put', destination: postgres(app) })
    expect((await app.call('PUT', `${base}${id}/`, { key, body })).body.name).toBe('Put')
    expect((await app.post(`${base}${id}/pause/`, {}, { key })).body.paused).toBe(true)
    expect((await app.post(`${base}${id}/unpause/`, {}, { key })).body.paused).toBe(false)
    const range = { start_at: '2024-01-01T00:00:00Z', end_at: '2024-01-02T00:00:00Z' }
    const { backfill_id } = (await app.post(`${base}${id}/backfill/`, range, { key })).body
    const [backfill] = await app.db.rows(sql`
      SELECT project_id FROM batch_export_backfill WHERE id = ${backfill_id}`)
    expect(backfill).toEqual({ project_id: second })
    const log = await app.get(`/api/projects/${second}/activity_log/?item_id=${id}`, { key })
    expect(log.body.results.map((entry: { activity: string }) => entry.activity)).toEqual([
      'updated',
      'updated',
      'updated',
      'updated',
      'updated',
      'created',
    ])
    expect((await app.delete(`${base}${id}/`, { key })).status).toBe(204)
    expect((await app.get(below, { key })).status).toBe(404)
  })

  it('404 for one of another organization, deleted or unknown', async () => {
    const theirs = await createIn(foreign.project.id, foreign.owner.key)
    const both = await createMember(app, home.organization)
    await app.db.run(sql`
      INSERT INTO membership (id, organization_id, user_id, level, joined_at, updated_at)
      VALUES (gen_random_uuid(), ${foreign.organization.id}, ${both.id}, 15, now(), now())`)
    for (const id of [theirs, 'x', '00000000-0000-7000-8000-000000000000']) {
      expect((await app.get(`${base}${id}/`, { key: both.key })).status).toBe(404)
      expect((await app.delete(`${base}${id}/`, { key: both.key })).status).toBe(404)
      expect((await app.post(`${base}${id}/pause/`, {}, { key: both.key })).status).toBe(404)
    }
    const own = `/api/organizations/${foreign.organization.id}/batch_exports/${theirs}/`
    expect((await app.get(own, { key: both.key })).body.paused).toBe(false)
  })
})
