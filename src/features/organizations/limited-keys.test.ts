// Keys limited to organizations or projects, path by path (conventions.md §3.3).
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createKey,
  createMember,
  createOrganization,
  createServiceKey,
  type TestUser,
  type Workspace,
} from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { sql } from '../../platform/db/sql.ts'
import { LEVELS } from '../../platform/http/caller.ts'
import { insertMembership } from '../members/queries.ts'

let app: TestApp
/** The key's owner is owner of both; the other one is current. */
let listed: Workspace
let other: Workspace
let owner: TestUser
let secondProject: { id: number }
beforeAll(async () => {
  app = await startTestApp()
  listed = await createOrganization(app, { name: 'Listed' })
  other = await createOrganization(app, { name: 'Other' })
  owner = listed.owner
  secondProject = (
    await app.post(
      `/api/organizations/${listed.organization.id}/projects/`,
      { name: 'Second' },
      { key: owner.key },
    )
  ).body
  await insertMembership(app.db, other.organization.id, owner.id, LEVELS.owner, app.services.now())
  await app.patch('/api/users/@me/', { set_current_organization: other.organization.id }, { key: owner.key })
})
afterAll(() => app.close())

const organization = ({ organization: { id } }: Workspace) => `/api/organizations/${id}/`
const project = ({ project: { id } }: Workspace) => `/api/projects/${id}/`
const NESTED = [
  'members/',
  'members/@me/',
  'invites/',
  'domains/',
  'projects/',
  'service_keys/',
  'activity_log/',
]

const statusOf = async (method: string, url: string, key: string) =>
  (await app.call(method, url, { key, ...(method === 'GET' ? {} : { body: {} }) })).status

/** What every limited key may ask: about itself and the person behind it. */
const exempt = async (key: string) => [
  await statusOf('GET', '/api/users/@me/', key),
  await statusOf('PATCH', '/api/users/@me/', key),
  await statusOf('GET', '/api/personal_api_keys/@current/', key),
]

describe('a key limited to organizations', () => {
  let key: string
  beforeAll(async () => {
    key = await createKey(app, owner, { scopes: ['*'], scoped_organizations: [listed.organization.id] })
  })

  it('lists only those', async () => {
    const { body } = await app.get('/api/organizations/', { key })
    expect(body.count).toBe(1)
    expect(body.results.map((row: { id: string }) => row.id)).toEqual([listed.organization.id])
  })

  it('opens a listed organization and everything below it', async () => {
    for (const path of ['', ...NESTED])
      expect(await statusOf('GET', organization(listed) + path, key)).toBe(200)
    expect(await statusOf('PATCH', organization(listed), key)).toBe(200)
    expect(await statusOf('GET', `/api/organizations/${listed.organization.id.toUpperCase()}/`, key)).toBe(
      200,
    )
  })

  it.each(['GET', 'PATCH', 'DELETE'])('404 for %s of another organization', async (method) => {
    expect(await statusOf(method, organization(other), key)).toBe(404)
  })

  it.each(NESTED)('403 at %s of another organization', async (path) => {
    expect(await statusOf('GET', organization(other) + path, key)).toBe(403)
  })

  it('opens projects of a listed organization, by either path', async () => {
    for (const url of [
      project(listed),
      `${project(listed)}activity_log/`,
      `${organization(listed)}projects/${listed.project.id}/`,
    ]) {
      expect(await statusOf('GET', url, key)).toBe(200)
    }
    expect(await statusOf('PATCH', project(listed), key)).toBe(200)
  })

  it('403 for projects of another organization, by either path and whatever the method', async () => {
    for (const url of [project(other), `${organization(other)}projects/${other.project.id}/`]) {
      for (const method of ['GET', 'PATCH', 'DELETE']) expect(await statusOf(method, url, key)).toBe(403)
      expect(await statusOf('PATCH', `${url}reset_token/`, key)).toBe(403)
    }
    expect(await statusOf('GET', `${project(other)}activity_log/`, key)).toBe(403)
  })

  it('404 for a project of another organization under the listed one', async () => {
    expect(await statusOf('GET', `${organization(listed)}projects/${other.project.id}/`, key)).toBe(404)
  })

  it('403 for a new organization, which the key could not see', async () => {
    const reply = await app.post('/api/organizations/', { name: 'Beyond' }, { key })
    expect(reply).toMatchObject({ status: 403, body: { code: 'permission_denied' } })
    expect(await app.db.rows(sql`SELECT FROM organization WHERE name = 'Beyond'`)).toEqual([])
  })

  it('means a listed one by `@current`, although another is current', async () => {
    expect((await app.get('/api/organizations/@current/', { key: owner.key })).body.id).toBe(
      other.organization.id,
    )
    expect((await app.get('/api/organizations/@current/', { key })).body.id).toBe(listed.organization.id)
    expect((await app.get('/api/projects/@current/', { key })).body.organization).toBe(listed.organization.id)
    const { body } = await app.get('/api/projects/', { key })
    expect(body.results.map((row: { id: number }) => row.id)).toEqual([listed.project.id, secondProject.id])
  })

  it('may ask about itself and its owner', async () => {
    expect(await exempt(key)).toEqual([200, 200, 200])
  })

  it('opens nothing of an organization its owner has left', async () => {
    const member = await createMember(app, listed.organization)
    const left = await createKey(app, member, {
      scopes: ['*'],
      scoped_organizations: [listed.organization.id],
    })
    expect(await statusOf('GET', organization(listed), left)).toBe(200)
    await app.delete(`${organization(listed)}members/@me/`, { key: member.key })
    expect(await statusOf('GET', organization(listed), left)).toBe(404)
    expect(await statusOf('GET', `${organization(listed)}members/`, left)).toBe(403)
    expect(await statusOf('GET', project(listed), left)).toBe(404)
    expect((await app.get('/api/organizations/', { key: left })).body.count).toBe(0)
  })

  it('never becomes unlimited when all that it lists is deleted', async () => {
    const gone = (await app.post('/api/organizations/', { name: 'Gone' }, { key: owner.key })).body
    const empty = await createKey(app, owner, { scopes: ['*'], scoped_organizations: [gone.id] })
    expect((await app.delete(`/api/organizations/${gone.id}/`, { key: owner.key })).status).toBe(204)
    expect(
      (await app.get('/api/personal_api_keys/@current/', { key: empty })).body.scoped_organizations,
    ).toEqual([gone.id])
    expect((await app.get('/api/organizations/', { key: empty })).body).toMatchObject({
      count: 0,
      results: [],
    })
    expect((await app.get('/api/projects/', { key: empty })).body).toMatchObject({ count: 0, results: [] })
    for (const [method, url, status] of [
      ['GET', organization(listed), 404],
      ['DELETE', organization(listed), 404],
      ['GET', `${organization(listed)}members/`, 403],
      ['POST', `${organization(listed)}projects/`, 403],
      ['GET', project(listed), 403],
      ['DELETE', project(listed), 403],
      ['GET', '/api/organizations/@current/', 404],
      ['GET', '/api/projects/@current/', 404],
      ['POST', '/api/organizations/', 403],
      ['POST', '/api/projects/', 404],
    ] as const) {
      expect([method, url, await statusOf(method, url, empty)]).toEqual([method, url, status])
    }
    expect(await exempt(empty)).toEqual([200, 200, 200])
  })
})

describe('a key limited to projects', () => {
  let key: string
  beforeAll(async () => {
    key = await createKey(app, owner, { scopes: ['*'], scoped_teams: [listed.project.id] })
  })

  it('opens a listed project and what is below it, by either path', async () => {
    const nested = `${organization(listed)}projects/${listed.project.id}/`
    for (const url of [project(listed), nested]) {
      expect((await app.get(url, { key })).body.id).toBe(listed.project.id)
      expect(await statusOf('PATCH', url, key)).toBe(200)
      expect(await statusOf('PATCH', `${url}reset_token/`, key)).toBe(200)
    }
    expect(await statusOf('GET', `${project(listed)}activity_log/`, key)).toBe(200)
  })

  it('403 for every other project, of the same organization too', async () => {
    const urls = [
      project(other),
      `/api/projects/${secondProject.id}/`,
      `${organization(listed)}projects/${secondProject.id}/`,
      `${organization(other)}projects/${other.project.id}/`,
    ]
    for (const url of urls) {
      for (const method of ['GET', 'PATCH', 'DELETE']) expect(await statusOf(method, url, key)).toBe(403)
    }
    expect(await statusOf('GET', `/api/projects/${secondProject.id}/activity_log/`, key)).toBe(403)
  })

  it('403 for everything at the level of an organization, and for lists of projects', async () => {
    const calls = [
      ['GET', '/api/organizations/'],
      ['POST', '/api/organizations/'],
      ['GET', '/api/projects/'],
      ['POST', '/api/projects/'],
      ['GET', organization(listed)],
      ['PATCH', organization(listed)],
      ['DELETE', organization(listed)],
      ['POST', `${organization(listed)}projects/`],
      ...NESTED.map((path) => ['GET', organization(listed) + path] as const),
      ['GET', '/api/organizations/@current/'],
    ] as const
    for (const [method, url] of calls) {
      expect([method, url, await statusOf(method, url, key)]).toEqual([method, url, 403])
    }
  })

  it('means its own project by `@current`, although another organization is current', async () => {
    const currently = { set_current_organization: other.organization.id }
    expect((await app.patch('/api/users/@me/', currently, { key: owner.key })).status).toBe(200)
    expect((await app.get('/api/projects/@current/', { key })).body.id).toBe(listed.project.id)
    expect((await app.get('/api/organizations/@current/projects/@current/', { key })).body.id).toBe(
      listed.project.id,
    )
  })

  it('may ask about itself and its owner', async () => {
    expect(await exempt(key)).toEqual([200, 200, 200])
  })

  it('limited to both, opens only what both allow', async () => {
    const scoped_teams = [listed.project.id, other.project.id]
    const both = await createKey(app, owner, {
      scopes: ['*'],
      scoped_teams,
      scoped_organizations: [other.organization.id],
    })
    expect(await statusOf('GET', project(other), both)).toBe(200)
    expect(await statusOf('GET', project(listed), both)).toBe(403)
    expect(await statusOf('GET', organization(other), both)).toBe(403)
  })

  it('never becomes unlimited when all that it lists is deleted', async () => {
    const url = `${organization(listed)}projects/`
    const gone = (await app.post(url, { name: 'Gone' }, { key: owner.key })).body
    await app.patch(
      '/api/users/@me/',
      { set_current_organization: other.organization.id },
      { key: owner.key },
    )
    const empty = await createKey(app, owner, { scopes: ['*'], scoped_teams: [gone.id] })
    expect((await app.delete(`/api/projects/${gone.id}/`, { key: owner.key })).status).toBe(204)
    expect((await app.get('/api/personal_api_keys/@current/', { key: empty })).body.scoped_teams).toEqual([
      gone.id,
    ])
    for (const [method, path, status] of [
      ['GET', `/api/projects/${gone.id}/`, 404],
      ['GET', project(listed), 403],
      ['GET', project(other), 403],
      ['GET', '/api/projects/@current/', 404],
      ['GET', '/api/projects/', 403],
      ['GET', '/api/organizations/', 403],
      ['GET', organization(listed), 403],
      ['POST', url, 403],
    ] as const) {
      expect([method, path, await statusOf(method, path, empty)]).toEqual([method, path, status])
    }
    expect(await exempt(empty)).toEqual([200, 200, 200])
  })
})

describe('a service key', () => {
  it('reaches its own organization only', async () => {
    const key = await createServiceKey(app, listed.organization, { scopes: ['*'] })
    expect(await statusOf('GET', organization(listed), key)).toBe(200)
    expect(await statusOf('GET', project(listed), key)).toBe(200)
    expect(await statusOf('GET', organization(other), key)).toBe(404)
    expect(await statusOf('GET', `${organization(other)}members/`, key)).toBe(403)
    expect(await statusOf('GET', project(other), key)).toBe(404)
    expect((await app.get('/api/organizations/@current/', { key })).body.id).toBe(listed.organization.id)
    expect((await app.get('/api/projects/@current/', { key })).body.id).toBe(listed.project.id)
  })

  it('limited to a project, reaches nothing above it', async () => {
    const key = await createServiceKey(app, listed.organization, {
      scopes: ['*'],
      scoped_teams: [secondProject.id],
    })
    expect(await statusOf('GET', `/api/projects/${secondProject.id}/`, key)).toBe(200)
    expect((await app.get('/api/projects/@current/', { key })).body.id).toBe(secondProject.id)
    for (const url of [
      project(listed),
      organization(listed),
      `${organization(listed)}members/`,
      '/api/projects/',
    ]) {
      expect(await statusOf('GET', url, key)).toBe(403)
    }
  })
})
