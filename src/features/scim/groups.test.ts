// /Groups and /Bulk through HTTP, and what admins make of groups: levels and projects, which apply at once.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createKey, createMember, createOrganization } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { sql } from '../../platform/db/sql.ts'
import { createDirectory, GROUP_SCHEMA, patchOf, personOf, type TestDirectory } from './fixture/directory.ts'

let app: TestApp
let directory: TestDirectory
let ann: string
let ben: string
beforeAll(async () => {
  app = await startTestApp()
})
beforeEach(async () => {
  directory = await createDirectory(app)
  ann = (await directory.call('POST', '/Users', personOf(directory, 'ann'))).body.id
  ben = (await directory.call('POST', '/Users', personOf(directory, 'ben'))).body.id
})
afterAll(() => app.close())

const group = async (displayName: string, ids: string[] = [], more: object = {}) =>
  directory.call('POST', '/Groups', {
    schemas: [GROUP_SCHEMA],
    displayName,
    members: ids.map((value) => ({ value })),
    ...more,
  })
const get = async (path: string) => (await directory.call('GET', path)).body
const asOwner = () => ({ key: directory.workspace.owner.key })
const map = (id: string, body: object) => app.patch(`${directory.admin}groups/${id}/`, body, asOwner())
const levelOf = async (name: string) => {
  const row = await app.db.row<{ level: number }>(sql`
    SELECT level FROM membership JOIN app_user ON app_user.id = user_id
    WHERE organization_id = ${directory.workspace.organization.id} AND email = ${`${name}@${directory.domain}`}`)
  return row?.level
}
const log = async () => {
  const url = `/api/organizations/${directory.workspace.organization.id}/activity_log/`
  return (await app.get(url, asOwner())).body.results
}
const add = (id: string) => patchOf({ op: 'add', path: 'members', value: [{ value: id }] })
const drop = (id: string) => patchOf({ op: 'remove', path: `members[value eq "${id}"]` })

describe('/Groups', () => {
  it('are made, read, changed and deleted, and people show them', async () => {
    const made = await group('Devs', [ann], { externalId: 'g-1' })
    expect(made).toMatchObject({ status: 201, body: { displayName: 'Devs', externalId: 'g-1' } })
    const { id } = made.body
    expect(made.body.members).toMatchObject([{ value: ann, display: `ann@${directory.domain}` }])
    expect((await get(`/Users/${ann}`)).groups).toMatchObject([{ value: id, display: 'Devs' }])
    expect((await directory.call('PATCH', `/Groups/${id}`, add(ben))).status).toBe(204)
    expect((await directory.call('PATCH', `/Groups/${id}`, drop(ann))).status).toBe(204)
    expect((await get(`/Groups/${id}`)).members).toMatchObject([{ value: ben }])
    expect((await log())[0]).toMatchObject({
      scope: 'DirectoryGroup',
      activity: 'updated',
      actor: { name: `directory ${directory.domain}` },
      detail: { changes: [{ field: 'members', before: [`ann@${directory.domain}`], after: null }] },
    })
    const renamed = { displayName: 'Engineers', members: [{ value: ann }, { value: ben }, { value: ann }] }
    const put = await directory.call('PUT', `/Groups/${id}`, renamed)
    expect(put.body.members).toHaveLength(2)
    expect((await directory.call('PATCH', `/Groups/${id}?attributes=displayName`, drop(ann))).body).toEqual({
      schemas: [GROUP_SCHEMA],
      id,
      displayName: 'Engineers',
    })
    expect((await directory.call('DELETE', `/Groups/${id}`)).status).toBe(204)
    expect((await directory.call('GET', `/Groups/${id}`)).status).toBe(404)
    expect(await get(`/Users/${ben}`)).not.toHaveProperty('groups')
  })

  it('are found by name, by id of the directory and by member, with or without members', async () => {
    const { id } = (await group('Devs', [ann, ben], { externalId: 'g-1' })).body
    await group('Ops', [ben])
    const found = async (query: string) =>
      (await get(`/Groups?${query}`)).Resources.map((each: { displayName: string }) => each.displayName)
    expect(await found('filter=displayName eq "devs"')).toEqual(['Devs'])
    expect(await found('filter=externalId eq "g-1"')).toEqual(['Devs'])
    expect(await found(`filter=members.value eq "${ann}"`)).toEqual(['Devs'])
    expect(await found(`filter=members[value eq "${ben}"]%26sortBy=displayName`.replace('%26', '&'))).toEqual(
      ['Devs', 'Ops'],
    )
    expect(await found(`filter=id eq "${id}" and members[value eq "${ann}"]`)).toEqual(['Devs'])
    const [lean] = (await get('/Groups?excludedAttributes=members&filter=displayName eq "Devs"')).Resources
    expect(lean).not.toHaveProperty('members')
    const people = await get(`/Users?filter=groups.display eq "ops"`)
    expect(people.Resources).toMatchObject([{ id: ben }])
  })

  it('refuse strangers, groups, and names that are taken', async () => {
    const other = await createDirectory(app)
    const theirs = (await other.call('POST', '/Users', personOf(other, 'zoe'))).body.id
    const their = (
      await other.call('POST', '/Groups', { displayName: 'Theirs', members: [{ value: theirs }] })
    ).body.id
    expect(await group('Devs', [theirs])).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } })
    expect(await group('Devs', ['nonsense'])).toMatchObject({ status: 400 })
    const nested = { displayName: 'Devs', members: [{ value: ann, type: 'Group' }] }
    expect((await directory.call('POST', '/Groups', nested)).status).toBe(400)
    expect((await get('/Groups')).totalResults).toBe(0)
    expect((await group('Devs')).status).toBe(201)
    expect(await group('DEVS')).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } })
    for (const path of [`/Users/${theirs}`, `/Groups/${their}`])
      for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
        const body =
          method === 'PATCH' ? add(ann) : method === 'PUT' ? { displayName: 'x', userName: 'x' } : undefined
        expect((await directory.call(method, path, body)).status, `${method} ${path}`).toBe(404)
      }
    expect((await other.call('GET', `/Groups/${their}`)).body.members).toHaveLength(1)
  })
})

describe('levels', () => {
  it('the highest mapping counts, at once, and ends with it; levels given by hand and owners stay', async () => {
    const admins = (await group('Admins')).body.id
    const everybody = (await group('Everybody', [ann, ben])).body.id
    expect(await map(admins, { level: 8 })).toMatchObject({
      status: 200,
      body: { level: 8, member_count: 0 },
    })
    await map(everybody, { level: 1 })
    await directory.call('PATCH', `/Groups/${admins}`, add(ann))
    expect([await levelOf('ann'), await levelOf('ben')]).toEqual([8, 1])
    expect((await log())[1]).toMatchObject({
      scope: 'OrganizationMembership',
      actor: { name: `directory ${directory.domain}` },
      detail: { changes: [{ field: 'level', before: 1, after: 8 }] },
    })
    const off = patchOf({ op: 'replace', path: 'active', value: false })
    const on = patchOf({ op: 'replace', path: 'active', value: true })
    await directory.call('PATCH', `/Users/${ann}`, off)
    await directory.call('PATCH', `/Users/${ann}`, on)
    expect(await levelOf('ann')).toBe(8)
    await directory.call('PATCH', `/Users/${ann}`, off)
    await directory.call('PATCH', `/Groups/${admins}`, drop(ann))
    await directory.call('PATCH', `/Users/${ann}`, on)
    expect(await levelOf('ann')).toBe(1)
    await map(everybody, { level: 8 })
    expect([await levelOf('ann'), await levelOf('ben')]).toEqual([8, 8])
    await map(everybody, { level: null })
    expect([await levelOf('ann'), await levelOf('ben')]).toEqual([1, 1])
    const { organization } = directory.workspace
    await createMember(app, organization, { email: `own@${directory.domain}`, level: 'owner' })
    await createMember(app, organization, { email: `adm@${directory.domain}`, level: 'admin' })
    const own = (await directory.call('POST', '/Users', personOf(directory, 'own'))).body.id
    const adm = (await directory.call('POST', '/Users', personOf(directory, 'adm'))).body.id
    await map(admins, { level: 1 })
    await directory.call('PATCH', `/Groups/${admins}`, add(own))
    expect([await levelOf('own'), await levelOf('adm')]).toEqual([15, 8])
    await directory.call('PATCH', `/Groups/${admins}`, add(adm))
    expect(await levelOf('adm')).toBe(1)
    await map(admins, { level: 8 })
    await directory.call('DELETE', `/Groups/${admins}`)
    expect([await levelOf('own'), await levelOf('adm')]).toEqual([15, 1])
  })

  it('are those of members and admins, and given by admins', async () => {
    const { id } = (await group('Devs', [ann])).body
    expect((await map(id, { level: 15 })).body).toMatchObject({ attr: 'level', code: 'invalid_choice' })
    expect(await levelOf('ann')).toBe(1)
    await map(id, { level: 8 })
    expect(await levelOf('ann')).toBe(8)
    // A level that a group had given does not outlast it, for whoever was away meanwhile either.
    const active = (value: boolean) =>
      directory.call('PATCH', `/Users/${ann}`, patchOf({ op: 'replace', path: 'active', value }))
    await active(false)
    await directory.call('DELETE', `/Groups/${id}`)
    await active(true)
    expect(await levelOf('ann')).toBe(1)
  })
})

describe('projects', () => {
  it('are opened to the members of a group, and closed with it', async () => {
    const { workspace } = directory
    const { project, organization } = workspace
    const closed = { access_level: 'none' }
    await app.call('PUT', `/api/projects/${project.id}/access_controls/`, { ...asOwner(), body: closed })
    const { id } = (await group('Devs', [ann])).body
    const account = async (name: string) =>
      (
        await app.db.only<{ id: number }>(
          sql`SELECT id FROM app_user WHERE email = ${`${name}@${directory.domain}`}`,
        )
      ).id
    const keys = {
      ann: await createKey(app, { id: await account('ann') }, { scopes: ['*'] }),
      ben: await createKey(app, { id: await account('ben') }, { scopes: ['*'] }),
    }
    const reach = async () => [
      (await app.get(`/api/projects/${project.id}/`, { key: keys.ann })).status,
      (await app.get(`/api/projects/${project.id}/`, { key: keys.ben })).status,
    ]
    expect(await reach()).toEqual([404, 404])
    const mapped = await map(id, { projects: [{ id: project.id, level: 'member' }] })
    expect(mapped.body.projects).toEqual([{ id: project.id, level: 'member' }])
    expect(await reach()).toEqual([200, 404])
    await directory.call('PUT', `/Groups/${id}`, { displayName: 'Makers', members: [{ value: ben }] })
    expect(await reach()).toEqual([404, 200])
    const named = await app.get(`/api/organizations/${organization.id}/roles/`, asOwner())
    expect(named.body.results).toMatchObject([{ name: `Makers (${directory.domain})` }])
    await directory.call('PATCH', `/Users/${ben}`, patchOf({ op: 'replace', path: 'active', value: false }))
    await directory.call('PATCH', `/Users/${ben}`, patchOf({ op: 'replace', path: 'active', value: true }))
    expect(await reach()).toEqual([404, 200])
    const roles = async () =>
      (await app.get(`/api/organizations/${organization.id}/roles/`, asOwner())).body.count
    expect(await roles()).toBe(1)
    expect((await map(id, { projects: [] })).body).toMatchObject({ projects: [], role: null })
    expect([await reach(), await roles()]).toEqual([[404, 404], 0])
    await map(id, { projects: [{ id: project.id, level: 'admin' }] })
    await directory.call('DELETE', `/Groups/${id}`)
    expect([await reach(), await roles()]).toEqual([[404, 404], 0])
  })

  it('of other organizations, and by keys that may not give access, are not opened', async () => {
    const { id } = (await group('Devs', [ann])).body
    const foreign = (await createOrganization(app)).project.id
    const reply = await map(id, { projects: [{ id: foreign, level: 'member' }] })
    expect(reply).toMatchObject({ status: 400, body: { attr: 'projects', code: 'does_not_exist' } })
    const { owner, project } = directory.workspace
    const key = await createKey(app, owner, { scopes: ['organization_member:write'] })
    const body = { projects: [{ id: project.id, level: 'member' }] }
    expect((await app.patch(`${directory.admin}groups/${id}/`, body, { key })).status).toBe(403)
    expect((await app.get(`${directory.admin}groups/`, asOwner())).body.results).toMatchObject([
      { id, display_name: 'Devs', level: null, projects: [], member_count: 1 },
    ])
  })
})

describe('/Bulk', () => {
  it('carries out each operation, with references to what others make (RFC 7644 §3.7.2)', async () => {
    const reply = await directory.call('POST', '/Bulk', {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'],
      Operations: [
        {
          method: 'POST',
          path: '/Groups',
          bulkId: 'ytrewq',
          data: { displayName: 'Tour Guides', members: [{ type: 'User', value: 'bulkId:qwerty' }] },
        },
        { method: 'POST', path: '/Users', bulkId: 'qwerty', data: personOf(directory, 'alice') },
        {
          method: 'PATCH',
          path: `/Users/${ann}`,
          data: patchOf({ op: 'add', path: 'title', value: 'Guide' }),
        },
        {
          method: 'PATCH',
          path: '/Users/bulkId:qwerty',
          data: patchOf({ op: 'add', path: 'title', value: 'Guide' }),
        },
        { method: 'DELETE', path: `/Users/${ben}`, version: 'W/"1"' },
        { method: 'POST', path: '/Users', bulkId: 'again', data: personOf(directory, 'ann') },
        {
          method: 'PATCH',
          path: '/Users/bulkId:nobody',
          data: patchOf({ op: 'add', path: 'title', value: 'x' }),
        },
      ],
    })
    expect(reply.status).toBe(200)
    const { Operations } = reply.body
    expect(Operations.map(({ status }: { status: string }) => status)).toEqual([
      '201',
      '201',
      '200',
      '200',
      '204',
      '409',
      '409',
    ])
    expect(Operations[1]).toMatchObject({ bulkId: 'qwerty', method: 'POST' })
    const alice = Operations[1].location.split('/').at(-1)
    expect((await get(`/Users/${alice}`)).title).toBe('Guide')
    const [guides] = (await get('/Groups?filter=displayName eq "Tour Guides"')).Resources
    expect(guides.members).toMatchObject([{ value: alice }])
    expect((await directory.call('GET', `/Users/${ben}`)).status).toBe(404)
  })

  it('stops after failOnErrors, and refuses too many and what is no bulk', async () => {
    const wrong = { method: 'DELETE', path: '/Users/00000000-0000-7000-8000-000000000000' }
    const right = { method: 'DELETE', path: `/Users/${ben}` }
    const { body } = await directory.call('POST', '/Bulk', { failOnErrors: 1, Operations: [wrong, right] })
    expect(body.Operations).toHaveLength(1)
    expect((await directory.call('GET', `/Users/${ben}`)).status).toBe(200)
    const many = { Operations: Array.from({ length: 101 }, () => wrong) }
    expect((await directory.call('POST', '/Bulk', many)).status).toBe(413)
    const loop = {
      Operations: [
        { method: 'POST', path: '/Bulk', bulkId: 'x', data: { Operations: [] } },
        { method: 'GET', path: '/Users', bulkId: 'y' },
      ],
    }
    expect((await directory.call('POST', '/Bulk', loop)).status).toBe(400)
    const nested = { Operations: [loop.Operations[0]] }
    expect((await directory.call('POST', '/Bulk', nested)).body.Operations[0].status).toBe('404')
  })
})
