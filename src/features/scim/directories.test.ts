// Request sequences of Okta, Entra ID, OneLogin, JumpCloud and Google as they document them, and the examples of RFC 7644; then some
// hundred requests that no directory would send.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { sql } from '../../platform/db/sql.ts'
import {
  createDirectory,
  ENTERPRISE_SCHEMA,
  GROUP_SCHEMA,
  patchOf,
  USER_SCHEMA,
  type TestDirectory,
} from './fixture/directory.ts'
import { fuzzScim } from './fixture/fuzz.ts'

let app: TestApp
let directory: TestDirectory
let address: (name: string) => string
beforeAll(async () => {
  app = await startTestApp()
})
beforeEach(async () => {
  directory = await createDirectory(app)
  address = (name) => `${name}@${directory.domain}`
})
afterAll(() => app.close())

const call = (method: string, path: string, body?: unknown) => directory.call(method, path, body)
const find = (type: string, filter: string) =>
  call('GET', `/${type}?filter=${encodeURIComponent(filter)}&startIndex=1&count=100`)
const isMember = async (name: string) =>
  (await app.db.row(sql`
    SELECT FROM membership JOIN app_user ON app_user.id = user_id
    WHERE organization_id = ${directory.workspace.organization.id} AND email = ${address(name)}`)) !==
  undefined

it('Okta: looks the user up, creates, reads pages, updates by PUT, deactivates by PATCH, pushes a group', async () => {
  const login = address('okta')
  expect((await find('Users', `userName eq "${login}"`)).body).toMatchObject({
    totalResults: 0,
    Resources: [],
  })
  const user = {
    schemas: [USER_SCHEMA],
    userName: login,
    name: { givenName: 'Test', familyName: 'User' },
    emails: [{ primary: true, value: login, type: 'work' }],
    displayName: 'Test User',
    locale: 'en-US',
    externalId: '00ujl29u0le5T6Aj10h7',
    groups: [],
    password: '1mz050nq',
    active: true,
  }
  const made = await call('POST', '/Users', user)
  expect(made).toMatchObject({ status: 201, body: { active: true, externalId: user.externalId } })
  const { id } = made.body
  expect((await call('GET', '/Users?startIndex=1&count=100')).body.totalResults).toBe(1)
  const put = await call('PUT', `/Users/${id}`, {
    ...user,
    id,
    name: { givenName: 'Another', middleName: 'Excited', familyName: 'User' },
  })
  expect(put).toMatchObject({ status: 200, body: { name: { givenName: 'Another' } } })
  const off = await call('PATCH', `/Users/${id}`, patchOf({ op: 'replace', value: { active: false } }))
  expect(off).toMatchObject({ status: 200, body: { active: false } })
  expect(await isMember('okta')).toBe(false)
  await call('PATCH', `/Users/${id}`, patchOf({ op: 'replace', value: { active: true } }))
  expect(await isMember('okta')).toBe(true)

  expect((await find('Groups', 'displayName eq "Test SCIMv2"')).body.totalResults).toBe(0)
  const group = await call('POST', '/Groups', {
    schemas: [GROUP_SCHEMA],
    displayName: 'Test SCIMv2',
    members: [],
  })
  expect(group.status).toBe(201)
  const at = `/Groups/${group.body.id}`
  const members = [{ value: id, display: login }]
  expect((await call('PATCH', at, patchOf({ op: 'add', path: 'members', value: members }))).status).toBe(204)
  const renamed = patchOf({ op: 'replace', value: { id: group.body.id, displayName: 'Renamed' } })
  expect((await call('PATCH', at, renamed)).status).toBe(204)
  expect((await call('GET', at)).body).toMatchObject({ displayName: 'Renamed', members })
  const replaced = patchOf(
    { op: 'remove', path: `members[value eq "${id}"]` },
    { op: 'add', path: 'members', value: members },
  )
  expect((await call('PATCH', at, replaced)).status).toBe(204)
  expect(
    (await call('PUT', at, { schemas: [GROUP_SCHEMA], displayName: 'Renamed', members: [] })).body,
  ).not.toHaveProperty('members')
  expect((await call('DELETE', at)).status).toBe(204)
})

it('Entra ID: probes, creates with "True", PATCHes with capitals, paths and texts for booleans, moves members one by one', async () => {
  const probe = await find('Users', 'userName eq "non-existent-user"')
  expect(probe).toMatchObject({ status: 200, body: { totalResults: 0 } })
  const made = await call('POST', '/Users', {
    schemas: [USER_SCHEMA, ENTERPRISE_SCHEMA],
    externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
    userName: address('entra'),
    active: 'True',
    emails: [{ primary: 'True', type: 'work', value: address('entra') }],
    meta: { resourceType: 'User' },
    name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
    roles: [],
    [ENTERPRISE_SCHEMA]: { department: 'bob', manager: null },
  })
  expect(made).toMatchObject({
    status: 201,
    body: { active: true, [ENTERPRISE_SCHEMA]: { department: 'bob' } },
  })
  const { id } = made.body
  expect((await find('Users', `externalId eq "${made.body.externalId}"`)).body.totalResults).toBe(1)
  const changed = await call(
    'PATCH',
    `/Users/${id}`,
    patchOf(
      { op: 'Replace', path: 'emails[type eq "work"].value', value: address('entra2') },
      { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+1 555' },
      { op: 'Replace', path: 'name.familyName', value: 'updatedFamilyName' },
      { op: 'Add', path: `${ENTERPRISE_SCHEMA}:manager`, value: 'c8ba9b2d' },
      { op: 'Replace', path: `${ENTERPRISE_SCHEMA}:department`, value: 'IT' },
    ),
  )
  expect(changed).toMatchObject({
    status: 200,
    body: {
      emails: [{ value: address('entra2'), type: 'work', primary: true }],
      phoneNumbers: [{ type: 'mobile', value: '+1 555' }],
      name: { familyName: 'updatedFamilyName' },
      [ENTERPRISE_SCHEMA]: { manager: { value: 'c8ba9b2d' }, department: 'IT' },
    },
  })
  expect(await isMember('entra2')).toBe(true)
  const group = await call('POST', '/Groups', {
    schemas: [GROUP_SCHEMA, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
    externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159',
    displayName: 'displayName',
    meta: { resourceType: 'Group' },
  })
  const at = `/Groups/${group.body.id}`
  expect((await call('GET', `${at}?excludedAttributes=members`)).status).toBe(200)
  expect(
    (await call('PATCH', at, patchOf({ op: 'Add', path: 'members', value: [{ $ref: null, value: id }] })))
      .status,
  ).toBe(204)
  const listed = await call(
    'GET',
    `/Groups?filter=${encodeURIComponent(`id eq "${group.body.id}" and members eq "${id}"`)}&excludedAttributes=members`,
  )
  expect(listed.body.totalResults).toBe(1)
  expect(
    (await call('PATCH', at, patchOf({ op: 'Remove', path: 'members', value: [{ $ref: null, value: id }] })))
      .status,
  ).toBe(204)
  expect((await call('GET', at)).body).not.toHaveProperty('members')
  expect(
    (await call('PATCH', at, patchOf({ op: 'Replace', path: 'displayName', value: 'new' }))).status,
  ).toBe(204)
  const off = await call('PATCH', `/Users/${id}`, patchOf({ op: 'Replace', path: 'active', value: 'False' }))
  expect(off.body.active).toBe(false)
  expect(await isMember('entra2')).toBe(false)
  expect((await call('DELETE', `/Users/${id}`)).status).toBe(204)
  expect((await call('DELETE', at)).status).toBe(204)
})

it('OneLogin: looks up, creates, updates by PATCH without path, deletes', async () => {
  expect((await find('Users', `userName eq "${address('onelogin')}"`)).body.totalResults).toBe(0)
  const made = await call('POST', '/Users', {
    schemas: [USER_SCHEMA, ENTERPRISE_SCHEMA],
    userName: address('onelogin'),
    name: { givenName: 'One', familyName: 'Login', formatted: 'One Login' },
    emails: [{ value: address('onelogin'), type: 'work', primary: true }],
    title: '',
    active: true,
    [ENTERPRISE_SCHEMA]: { department: '' },
  })
  expect(made.status).toBe(201)
  const path = `/Users/${made.body.id}`
  const value = {
    title: 'Lead',
    active: true,
    name: { givenName: 'Uno' },
    emails: [{ value: address('onelogin'), type: 'work', primary: true }],
  }
  const patched = await call('PATCH', path, {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: [{ op: 'replace', value }],
  })
  expect(patched.body).toMatchObject({ title: 'Lead', name: { givenName: 'Uno', familyName: 'Login' } })
  const group = (await call('POST', '/Groups', { displayName: 'OneLogin' })).body.id
  expect(
    (
      await call(
        'PATCH',
        `/Groups/${group}`,
        patchOf({ op: 'add', path: 'members', value: [{ value: made.body.id }] }),
      )
    ).status,
  ).toBe(204)
  expect((await call('DELETE', path)).status).toBe(204)
  expect(await isMember('onelogin')).toBe(false)
})

it('JumpCloud: probes by a made-up user, creates, updates by PUT, suspends, puts into groups', async () => {
  const probe = {
    schemas: [USER_SCHEMA],
    userName: address('jumpcloud-test'),
    name: { givenName: 'T', familyName: 'U' },
    emails: [{ type: 'work', primary: true, value: address('jumpcloud-test') }],
    active: true,
  }
  const { id } = (await call('POST', '/Users', probe)).body
  expect((await call('PUT', `/Users/${id}`, { ...probe, active: false })).body.active).toBe(false)
  expect((await call('DELETE', `/Users/${id}`)).status).toBe(204)
  const made = await call('POST', '/Users', {
    ...probe,
    userName: address('jc'),
    emails: [{ type: 'work', primary: true, value: address('jc') }],
    phoneNumbers: [{ type: 'mobile', value: '' }],
    addresses: [{ type: 'work', streetAddress: '1 Way' }],
  })
  expect(made.status).toBe(201)
  const group = (
    await call('POST', '/Groups', {
      schemas: [GROUP_SCHEMA],
      displayName: 'JC',
      members: [{ value: made.body.id, type: 'User', $ref: `Users/${made.body.id}` }],
    })
  ).body
  expect(group.members).toHaveLength(1)
  expect(
    (
      await call('PUT', `/Groups/${group.id}`, {
        schemas: [GROUP_SCHEMA],
        displayName: 'JC renamed',
        members: [{ value: made.body.id }],
      })
    ).body.displayName,
  ).toBe('JC renamed')
  expect(
    (
      await call('PUT', `/Users/${made.body.id}`, {
        ...probe,
        userName: address('jc'),
        emails: probe.emails.map((email) => ({ ...email, value: address('jc') })),
        active: false,
      })
    ).status,
  ).toBe(200)
  expect(await isMember('jc')).toBe(false)
})

it('Google: looks up by userName, creates, updates by PUT and by PATCH of single attributes, suspends, deletes', async () => {
  expect((await find('Users', `userName eq "${address('google')}"`)).body.Resources).toEqual([])
  const user = {
    schemas: [USER_SCHEMA],
    userName: address('google'),
    externalId: '1179',
    name: { givenName: 'G', familyName: 'Suite' },
    emails: [{ value: address('google'), primary: true, type: 'work' }],
    active: true,
  }
  const { id } = (await call('POST', '/Users', user)).body
  const { active: _, ...withoutActive } = user
  expect((await call('PUT', `/Users/${id}`, { ...withoutActive, title: 'SRE' })).body).toMatchObject({
    title: 'SRE',
    active: true,
  })
  const { body } = await call(
    'PATCH',
    `/Users/${id}`,
    patchOf({ op: 'replace', path: 'name.familyName', value: 'Workspace' }, { op: 'remove', path: 'title' }),
  )
  expect(body).toMatchObject({ name: { familyName: 'Workspace' } })
  expect(body).not.toHaveProperty('title')
  expect((await call('PUT', `/Users/${id}`, { ...user, active: false })).body.active).toBe(false)
  expect(await isMember('google')).toBe(false)
  expect((await call('DELETE', `/Users/${id}`)).status).toBe(204)
})

describe('RFC 7644', () => {
  it('§3.3 to §3.6: creating, reading, replacing, deleting bjensen', async () => {
    const bjensen = {
      schemas: [USER_SCHEMA],
      userName: 'bjensen',
      externalId: 'bjensen',
      name: { formatted: 'Ms. Barbara J Jensen III', familyName: 'Jensen', givenName: 'Barbara' },
      emails: [{ value: address('bjensen') }],
    }
    const made = await call('POST', '/Users', bjensen)
    expect(made).toMatchObject({ status: 201, body: { ...bjensen, meta: { resourceType: 'User' } } })
    expect(made.headers.location).toBe(made.body.meta.location)
    const path = `/Users/${made.body.id}`
    expect((await call('GET', `${path}?attributes=userName`)).body).toEqual({
      schemas: [USER_SCHEMA],
      id: made.body.id,
      userName: 'bjensen',
    })
    const next = {
      ...bjensen,
      roles: [],
      emails: [{ value: address('bjensen') }, { value: 'babs@jensen.org' }],
      name: { ...bjensen.name, middleName: 'Jane' },
    }
    expect((await call('PUT', path, next)).body).toMatchObject({ emails: next.emails, name: next.name })
    const filters = [
      ['userName Eq "bjensen"', 1],
      ['name.familyName co "ENSEN"', 1],
      ['userName sw "J"', 0],
      [`${USER_SCHEMA}:userName sw "b"`, 1],
      ['title pr', 0],
      ['meta.lastModified gt "2011-05-13T04:42:34Z"', 1],
      ['title pr and userType eq "Employee"', 0],
      ['title pr or userName eq "bjensen"', 1],
      [`schemas eq "${ENTERPRISE_SCHEMA}"`, 0],
      [`schemas eq "${USER_SCHEMA}"`, 1],
      ['userType eq "Employee" and (emails co "example.com" or emails.value co "example.org")', 0],
      ['userType ne "Employee" and not (emails co "example.com" or emails.value co "example.net")', 1],
      [
        'emails[type eq "work" and value co "@example.com"] or ims[type eq "xmpp" and value co "@foo.com"]',
        0,
      ],
    ] as const
    for (const [filter, count] of filters)
      expect([filter, (await find('Users', filter)).body.totalResults]).toEqual([filter, count])
    expect((await call('DELETE', path)).status).toBe(204)
  })
})

it('requests that no directory would send are refused, and none is our fault', async () => {
  const { statuses, failures } = await fuzzScim(directory, { count: 300, seed: 7 })
  expect(failures).toEqual([])
  expect(Object.keys(statuses).length).toBeGreaterThan(4)
  expect(app.logs.filter((line) => line.includes('request failed'))).toEqual([])
})
