// /Users through HTTP: what a directory is answered, and what becomes of members, accounts and the activity log.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createMember, createOrganization, createUser } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { startSmtpServer, type SmtpStandIn } from '../../../test/stand-ins/smtp.ts'
import { sql } from '../../platform/db/sql.ts'
import { insertMembership } from '../members/queries.ts'
import {
  createDirectory,
  ENTERPRISE_SCHEMA,
  patchOf,
  personOf,
  type TestDirectory,
} from './fixture/directory.ts'

let app: TestApp
let smtp: SmtpStandIn
let directory: TestDirectory
beforeAll(async () => {
  smtp = await startSmtpServer()
  app = await startTestApp({ SMTP_URL: smtp.url })
})
beforeEach(async () => {
  directory = await createDirectory(app)
})
afterAll(async () => {
  await app.close()
  await smtp.close()
})

const members = async ({ workspace }: TestDirectory): Promise<Record<string, number>> => {
  const url = `/api/organizations/${workspace.organization.id}/members/`
  const { body } = await app.get(url, { key: workspace.owner.key })
  return Object.fromEntries(
    body.results.map((member: { user: { email: string }; level: number }) => [
      member.user.email,
      member.level,
    ]),
  )
}
const accountOf = (email: string) =>
  app.db.row<{ id: number; first_name: string; last_name: string; password_hash: string | null }>(
    sql`SELECT * FROM app_user WHERE lower(email) = lower(${email})`,
  )
const log = async ({ workspace }: TestDirectory) => {
  const url = `/api/organizations/${workspace.organization.id}/activity_log/`
  return (await app.get(url, { key: workspace.owner.key })).body.results
}
const create = async (name: string, more?: object) =>
  (await directory.call('POST', '/Users', personOf(directory, name, more))).body

describe('POST /Users', () => {
  it('makes an account without a password and a member, and logs the directory as who did it', async () => {
    const reply = await directory.call('POST', '/Users', personOf(directory, 'ann', { externalId: '00u1' }))
    const email = `ann@${directory.domain}`
    expect(reply.status).toBe(201)
    expect(reply.headers).toMatchObject({
      'content-type': 'application/scim+json; charset=utf-8',
      etag: 'W/"1"',
      location: `http://longshore.test${directory.base}/Users/${reply.body.id}`,
    })
    expect(reply.body).toMatchObject({
      userName: email,
      externalId: '00u1',
      active: true,
      name: { givenName: 'ann', familyName: 'Doe' },
      meta: { resourceType: 'User', version: 'W/"1"', location: reply.headers.location },
    })
    expect(await accountOf(email)).toMatchObject({ first_name: 'ann', last_name: 'Doe', password_hash: null })
    expect((await members(directory))[email]).toBe(1)
    expect((await log(directory))[0]).toMatchObject({
      activity: 'created',
      scope: 'OrganizationMembership',
      is_system: false,
      user: null,
      actor: { name: `directory ${directory.domain}` },
      detail: { name: email },
    })
  })

  it('ends a pending invite of who joins, or is away from the beginning, and the log says so', async () => {
    const { organization, owner } = directory.workspace
    for (const [name, active] of [
      ['ida', true],
      ['ivo', false],
    ] as const) {
      const target_email = `${name}@${directory.domain}`
      const url = `/api/organizations/${organization.id}/invites/`
      const { body: invite } = await app.post(url, { target_email }, { key: owner.key })
      await create(name, { active })
      expect((await app.get(url, { key: owner.key })).body.results).toEqual([])
      expect(await log(directory)).toContainEqual(
        expect.objectContaining({
          activity: 'deleted',
          scope: 'OrganizationInvite',
          item_id: invite.id,
          actor: expect.objectContaining({ name: `directory ${directory.domain}` }),
        }),
      )
    }
  })

  it('joins who has an account elsewhere, and changes nothing about it', async () => {
    const elsewhere = await createOrganization(app)
    const email = `bea@${directory.domain}`
    await createMember(app, elsewhere.organization, { email, first_name: 'Beatrice' })
    const { id } = await create('bea')
    expect((await members(directory))[email]).toBe(1)
    const moved = patchOf(
      { op: 'replace', path: 'name.givenName', value: 'Changed' },
      { op: 'replace', path: 'userName', value: `new@${directory.domain}` },
      { op: 'replace', path: 'emails', value: [{ value: `new@${directory.domain}`, primary: true }] },
    )
    expect((await directory.call('PATCH', `/Users/${id}`, moved)).status).toBe(200)
    expect(await accountOf(email)).toMatchObject({ first_name: 'Beatrice' })
    expect(await accountOf(`new@${directory.domain}`)).toBeUndefined()
    await directory.call('DELETE', `/Users/${id}`)
    const there = `/api/organizations/${elsewhere.organization.id}/members/`
    const { body } = await app.get(there, { key: elsewhere.owner.key })
    expect(body.results.map(({ user }: { user: { email: string } }) => user.email)).toContain(email)
  })

  it('ends what somebody set up who had signed up with the address and never proved it', async () => {
    const squatter = await createUser(app, { email: `new@${directory.domain}`, is_email_verified: false })
    const proved = await createUser(app, { email: `old@${directory.domain}` })
    for (const name of ['new', 'old']) await create(name)
    const { organization } = directory.workspace
    const url = `/api/organizations/${organization.id}/`
    for (const by of [{ key: squatter.key }, { session: squatter.session }])
      expect((await app.get(url, by)).status).toBe(401)
    const { email, password } = squatter
    expect((await app.post('/api/login/', { email, password })).status).toBe(400)
    expect(Object.keys(await members(directory))).toContain(email)
    for (const by of [{ key: proved.key }, { session: proved.session }])
      expect((await app.get(url, by)).status).toBe(200)
  })

  it('takes over who is a member already, at the level they have', async () => {
    const email = `cat@${directory.domain}`
    await createMember(app, directory.workspace.organization, { email, level: 'admin' })
    expect((await directory.call('POST', '/Users', personOf(directory, 'cat'))).status).toBe(201)
    expect((await members(directory))[email]).toBe(8)
  })

  it('refuses a taken name and a taken address', async () => {
    await create('dan')
    for (const body of [
      personOf(directory, 'DAN'),
      personOf(directory, 'dan', { userName: 'other' }),
      personOf(directory, 'dan'),
    ])
      expect(await directory.call('POST', '/Users', body)).toMatchObject({
        status: 409,
        body: { scimType: 'uniqueness', status: '409' },
      })
    expect(Object.keys(await members(directory))).toHaveLength(2)
  })

  it('refuses people whose address the organization has not proved to be its own', async () => {
    const stranger = await createUser(app)
    for (const email of [stranger.email, 'eve@elsewhere.example', `eve@sub.${directory.domain}`]) {
      const body = { userName: email, emails: [{ value: email }] }
      const reply = await directory.call('POST', '/Users', body)
      expect(reply).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } })
      expect(reply.body.detail).toContain(directory.domain)
    }
    expect(Object.keys(await members(directory))).toEqual([directory.workspace.owner.email])
    expect(await accountOf('eve@elsewhere.example')).toBeUndefined()
    const named = {
      userName: 'jdoe',
      emails: [{ value: 'private@elsewhere.example', primary: true }, { value: `j@${directory.domain}` }],
    }
    expect((await directory.call('POST', '/Users', named)).status).toBe(201)
    expect((await members(directory))[`j@${directory.domain}`]).toBe(1)
  })

  it('refuses what is no user, in the shape of SCIM', async () => {
    const bodies: [string, unknown][] = [
      ['no userName', { emails: [] }],
      ['a userName that is no text', { userName: { a: 1 } }],
      ['active that is no boolean', { userName: 'x@y.example', active: 'maybe' }],
      ['an endless userName', { userName: 'x'.repeat(300) }],
      ['a list', []],
      ['a text', '"x"'],
      ['no JSON', '{'],
      ['nothing', ''],
    ]
    for (const [name, body] of bodies) {
      const reply = await directory.call('POST', '/Users', body)
      expect([name, reply.status, reply.body.status]).toEqual([name, 400, '400'])
      expect(reply.body.schemas).toEqual(['urn:ietf:params:scim:api:messages:2.0:Error'])
    }
  })

  it('never keeps a password', async () => {
    const secret = app.canary.plant('password of the directory', 'sent-by-the-directory-1')
    const { id, ...made } = await create('fay', { password: secret })
    expect(made).not.toHaveProperty('password')
    const patched = await directory.call(
      'PATCH',
      `/Users/${id}`,
      patchOf(
        { op: 'replace', path: 'password', value: secret },
        { op: 'replace', value: { password: secret } },
      ),
    )
    expect(patched.status).toBe(200)
  })

  it('makes one of two that come at once', async () => {
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => directory.call('POST', '/Users', personOf(directory, 'gus'))),
    )
    const statuses = replies.map(({ status }) => status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(1)
    expect(statuses.filter((status) => status === 409)).toHaveLength(7)
    expect(Object.keys(await members(directory))).toHaveLength(2)
  })
})

describe('deactivation', () => {
  it('ends the membership at once, with sessions and keys; reactivation brings the level back', async () => {
    const email = `hal@${directory.domain}`
    const hal = await createMember(app, directory.workspace.organization, { email, level: 'admin' })
    const { id } = await create('hal')
    const project = `/api/projects/${directory.workspace.project.id}/`
    expect((await app.get(project, { key: hal.key })).status).toBe(200)
    const off = await directory.call(
      'PATCH',
      `/Users/${id}`,
      patchOf({ op: 'Replace', path: 'active', value: 'False' }),
    )
    expect(off).toMatchObject({ status: 200, body: { active: false } })
    expect((await members(directory))[email]).toBeUndefined()
    for (const by of [{ key: hal.key }, { session: hal.session }])
      expect([403, 404]).toContain((await app.get(project, by)).status)
    expect((await directory.call('GET', `/Users/${id}`)).body.active).toBe(false)
    const on = await directory.call('PUT', `/Users/${id}`, personOf(directory, 'hal'))
    expect(on).toMatchObject({ status: 200, body: { active: true } })
    expect((await members(directory))[email]).toBe(8)
    expect((await log(directory)).slice(0, 2)).toMatchObject([
      { activity: 'created', actor: { name: `directory ${directory.domain}` } },
      { activity: 'deleted', actor: { name: `directory ${directory.domain}` } },
    ])
  })

  it('while they act: every call is either before or after it', async () => {
    const email = `ida@${directory.domain}`
    const ida = await createMember(app, directory.workspace.organization, { email })
    const { id } = await create('ida')
    const url = `/api/projects/${directory.workspace.project.id}/annotations/`
    const acts = Array.from({ length: 20 }, () => app.post(url, { content: 'x' }, { key: ida.key }))
    const off = directory.call('PATCH', `/Users/${id}`, patchOf({ op: 'replace', value: { active: false } }))
    const statuses = (await Promise.all(acts)).map(({ status }) => status)
    expect((await off).status).toBe(200)
    expect(statuses.every((status) => [201, 403, 404].includes(status))).toBe(true)
    expect([403, 404]).toContain((await app.post(url, { content: 'x' }, { key: ida.key })).status)
  })

  it('a deleted user leaves, and may come again as a member', async () => {
    const { id } = await create('jon')
    expect((await directory.call('DELETE', `/Users/${id}`)).status).toBe(204)
    expect((await directory.call('GET', `/Users/${id}`)).status).toBe(404)
    expect(await members(directory)).not.toHaveProperty(`jon@${directory.domain}`)
    expect((await directory.call('POST', '/Users', personOf(directory, 'jon'))).status).toBe(201)
  })

  it('one who was removed by hand is shown as inactive', async () => {
    const { id } = await create('kim')
    const account = await accountOf(`kim@${directory.domain}`)
    const { organization } = directory.workspace
    await app.db.run(
      sql`DELETE FROM membership WHERE user_id = ${account!.id} AND organization_id = ${organization.id}`,
    )
    const reply = await directory.call('GET', `/Users/${id}`, undefined, {
      headers: { 'if-none-match': 'W/"1"' },
    })
    expect(reply).toMatchObject({ status: 200, body: { active: false } })
  })

  it('keeps the last owner, and tells the owners once', async () => {
    const { organization, owner } = directory.workspace
    await app.db.run(sql`UPDATE app_user SET email = ${`boss@${directory.domain}`} WHERE id = ${owner.id}`)
    const { id } = await create('boss')
    const off = patchOf({ op: 'replace', path: 'active', value: false })
    for (const send of [
      () => directory.call('PATCH', `/Users/${id}`, off),
      () => directory.call('DELETE', `/Users/${id}`),
    ])
      expect(await send()).toMatchObject({
        status: 409,
        body: { detail: expect.stringContaining('last owner') },
      })
    expect((await members(directory))[`boss@${directory.domain}`]).toBe(15)
    const mail = await smtp.waitForMail(`boss@${directory.domain}`)
    expect(mail.subject).toContain('last owner')
    expect(
      smtp.mails.filter(({ recipients }) => recipients.includes(`boss@${directory.domain}`)),
    ).toHaveLength(1)
    const other = await createMember(app, organization, { level: 'owner' })
    expect((await directory.call('PATCH', `/Users/${id}`, off)).status).toBe(200)
    const { body } = await app.get(`/api/organizations/${organization.id}/members/`, { key: other.key })
    expect(body.count).toBe(1)
  })

  it('an owner comes back as admin, even under another address, and an owner raises them again', async () => {
    const { organization, owner } = directory.workspace
    const was = { email: `own@${directory.domain}`, level: 'owner' } as const
    const { id: accountId, uuid } = await createMember(app, organization, was)
    const { id } = await create('own')
    const off = patchOf({ op: 'replace', path: 'active', value: false })
    expect((await directory.call('PATCH', `/Users/${id}`, off)).status).toBe(200)
    const back = personOf(directory, 'evil', { active: true })
    expect((await directory.call('PUT', `/Users/${id}`, back)).status).toBe(200)
    const evil = `evil@${directory.domain}`
    expect(await accountOf(evil)).toMatchObject({ id: accountId })
    expect((await members(directory))[evil]).toBe(8)
    const path = `/api/organizations/${organization.id}/members/${uuid}/`
    expect((await app.patch(path, { level: 15 }, { key: owner.key })).status).toBe(200)
    expect((await members(directory))[evil]).toBe(15)
  })

  it('an owner whose groups give a level comes back at that level', async () => {
    const { organization } = directory.workspace
    await createMember(app, organization, { email: `own@${directory.domain}`, level: 'owner' })
    const { id } = await create('own')
    const group = { displayName: 'Everybody', members: [{ value: id }] }
    const made = await directory.call('POST', '/Groups', group)
    const mapping = `${directory.admin}groups/${made.body.id}/`
    const { key } = directory.workspace.owner
    expect((await app.patch(mapping, { level: 1 }, { key })).status).toBe(200)
    expect((await members(directory))[`own@${directory.domain}`]).toBe(15)
    for (const active of [false, true]) {
      const change = patchOf({ op: 'replace', path: 'active', value: active })
      expect((await directory.call('PATCH', `/Users/${id}`, change)).status).toBe(200)
    }
    expect((await members(directory))[`own@${directory.domain}`]).toBe(1)
  })
})

describe('names and addresses', () => {
  it('are carried over to the account, and the old address is told', async () => {
    const { id } = await create('lea')
    const next = personOf(directory, 'leah', { name: { givenName: 'Leah', familyName: 'Roe' } })
    expect((await directory.call('PUT', `/Users/${id}`, next)).status).toBe(200)
    expect(await accountOf(`lea@${directory.domain}`)).toBeUndefined()
    expect(await accountOf(`leah@${directory.domain}`)).toMatchObject({
      first_name: 'Leah',
      last_name: 'Roe',
    })
    const mail = await smtp.waitForMail(`lea@${directory.domain}`)
    expect(mail.subject).toContain('was changed')
    expect((await log(directory))[0]).toMatchObject({ scope: 'User', activity: 'updated' })
  })

  it('of an owner and of staff stay: whoever has the token must not get at their accounts', async () => {
    const { organization } = directory.workspace
    const owner = await createMember(app, organization, { email: `own@${directory.domain}`, level: 'owner' })
    const staff = await createMember(app, organization, {
      email: `staff@${directory.domain}`,
      is_staff: true,
    })
    for (const [name, user] of [
      ['own', owner],
      ['staff', staff],
    ] as const) {
      const { id } = await create(name)
      expect((await directory.call('PUT', `/Users/${id}`, personOf(directory, `x-${name}`))).status).toBe(200)
      expect((await accountOf(user.email))!.id).toBe(user.id)
      expect(await accountOf(`x-${name}@${directory.domain}`)).toBeUndefined()
    }
  })

  it('stay once the account belongs to another organization too', async () => {
    const { id } = await create('mia')
    const account = await accountOf(`mia@${directory.domain}`)
    const elsewhere = await createOrganization(app)
    await insertMembership(app.db, elsewhere.organization.id, account!.id, 1, app.services.now())
    await directory.call('PUT', `/Users/${id}`, personOf(directory, 'mia2'))
    expect((await accountOf(`mia@${directory.domain}`))!.first_name).toBe('mia')
  })

  it('stay once the account has an address that the organization cannot speak for', async () => {
    const { id } = await create('oda')
    const { id: account } = (await accountOf(`oda@${directory.domain}`))!
    const email = `oda-${account}@private.example`
    await app.db.run(sql`UPDATE app_user SET email = ${email} WHERE id = ${account}`)
    expect((await directory.call('PUT', `/Users/${id}`, personOf(directory, 'oda2'))).status).toBe(200)
    expect(await accountOf(email)).toMatchObject({ id: account, first_name: 'oda' })
    expect(await accountOf(`oda2@${directory.domain}`)).toBeUndefined()
  })

  it('of a member who has not proved theirs leave their session and key: an admin let them in', async () => {
    const fields = { email: `pat@${directory.domain}`, is_email_verified: false }
    const pat = await createMember(app, directory.workspace.organization, fields)
    expect((await create('pat')).active).toBe(true)
    for (const call of [{ key: pat.key }, { session: pat.session }])
      expect((await app.get('/api/users/@me/', call)).status).toBe(200)
  })

  it('that another account has are refused, and nothing changes', async () => {
    const { id } = await create('ned')
    await createUser(app, { email: `taken@${directory.domain}` })
    const reply = await directory.call('PUT', `/Users/${id}`, personOf(directory, 'taken'))
    expect(reply).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } })
    expect((await directory.call('GET', `/Users/${id}`)).body.userName).toBe(`ned@${directory.domain}`)
  })
})

describe('lists', () => {
  const list = async (query: string) => (await directory.call('GET', `/Users?${query}`)).body
  const namesOf = (body: { Resources: { userName: string }[] }) =>
    body.Resources.map(({ userName }) => userName.split('@')[0])
  const filtered = async (filter: string) => namesOf(await list(`filter=${encodeURIComponent(filter)}`))

  it('page, sort, filter and select', async () => {
    for (const [at, name] of ['zoe', 'amy', 'Ben', 'cid'].entries())
      await create(name, {
        externalId: `x-${at}`,
        title: at % 2 ? 'Dev' : 'Ops',
        [ENTERPRISE_SCHEMA]: { department: 'IT' },
      })
    await directory.call(
      'PATCH',
      `/Users/${(await list('filter=externalId eq "x-1"')).Resources[0].id}`,
      patchOf({ op: 'replace', path: 'active', value: false }),
    )
    expect(await list('startIndex=2&count=2')).toMatchObject({
      totalResults: 4,
      startIndex: 2,
      itemsPerPage: 2,
    })
    expect(namesOf(await list('startIndex=2&count=2'))).toEqual(['amy', 'Ben'])
    expect(await list('count=0')).toMatchObject({ totalResults: 4, Resources: [] })
    expect(namesOf(await list('sortBy=userName'))).toEqual(['amy', 'Ben', 'cid', 'zoe'])
    expect(namesOf(await list('sortBy=USERNAME&sortOrder=descending&count=2'))).toEqual(['zoe', 'cid'])
    const cases: [string, string[]][] = [
      [`userName eq "ZOE@${directory.domain}"`, ['zoe']],
      ['username sw "b" or externalid eq "x-3"', ['Ben', 'cid']],
      ['externalId eq "X-3"', []],
      ['title eq "dev" and active eq true', ['cid']],
      ['title eq "dev" and not (active eq true)', ['amy']],
      ['active eq "False"', ['amy']],
      ['emails[type eq "work" and value co "amy"]', ['amy']],
      ['emails.value sw "zoe"', ['zoe']],
      ['emails co "zoe@"', ['zoe']],
      ['name.familyName ew "OE" and userName le "b"', ['amy']],
      ['nickName pr', []],
      ['not (nickName pr) and title ne "Dev"', ['zoe', 'Ben']],
      [`${ENTERPRISE_SCHEMA}:department eq "it" and userName gt "c"`, ['zoe', 'cid']],
      ['meta.created gt "2020-01-01T00:00:00Z" and title eq "Ops"', ['zoe', 'Ben']],
      ['meta.lastModified lt "2020-01-01T00:00:00Z"', []],
      ['unheardOf eq "x"', []],
    ]
    for (const [filter, expected] of cases)
      expect([filter, await filtered(filter)]).toEqual([filter, expected])
    const [some] = (await list('attributes=userName,emails.value&count=1')).Resources
    expect(Object.keys(some).sort()).toEqual(['emails', 'id', 'schemas', 'userName'])
    expect(some.emails).toEqual([{ value: `zoe@${directory.domain}` }])
    const [rest] = (await list('excludedAttributes=emails,name.givenName,meta&count=1')).Resources
    expect(rest).not.toHaveProperty('emails')
    expect(rest).not.toHaveProperty('meta')
    expect(rest.name).toEqual({ familyName: 'Doe' })
    const searched = await directory.call('POST', '/Users/.search', {
      filter: 'title eq "Ops"',
      count: 1,
      attributes: ['userName'],
    })
    expect(searched).toMatchObject({ status: 200, body: { totalResults: 2, itemsPerPage: 1 } })
  })

  it('400 for filters that cannot be read, or are larger than any directory sends', async () => {
    const filters = [
      'userName',
      'userName eq',
      'userName eq x',
      'eq "x"',
      '(userName pr',
      'userName pr)',
      'userName xx "y"',
      'userName eq "x',
      'emails[type eq "x"',
      'userName[value eq "x"]',
      'active gt true',
      'meta.created gt "x"',
      `userName eq "${'x'.repeat(5000)}"`,
      `${'('.repeat(40)}userName pr${')'.repeat(40)}`,
      Array.from({ length: 100 }, () => 'userName pr').join(' or '),
      'a.b.c eq "x"',
      'name eq "x"',
    ]
    for (const filter of filters) {
      const { status, body } = await directory.call('GET', `/Users?filter=${encodeURIComponent(filter)}`)
      expect([filter, status, body.scimType]).toEqual([filter, 400, 'invalidFilter'])
    }
  })
})

describe('versions', () => {
  it('are checked before a change, and save an answer', async () => {
    const { id, meta } = await create('pat')
    const seen = { headers: { 'if-none-match': meta.version } }
    expect((await directory.call('GET', `/Users/${id}`, undefined, seen)).status).toBe(304)
    const body = patchOf({ op: 'add', path: 'nickName', value: 'P' })
    const changed = await directory.call('PATCH', `/Users/${id}`, body, {
      headers: { 'if-match': meta.version },
    })
    expect(changed.headers.etag).toBe('W/"2"')
    for (const method of ['PATCH', 'PUT', 'DELETE'])
      expect(
        (
          await directory.call(
            method,
            `/Users/${id}`,
            method === 'DELETE' ? undefined : method === 'PUT' ? personOf(directory, 'pat') : body,
            { headers: { 'if-match': meta.version } },
          )
        ).status,
      ).toBe(412)
    expect((await directory.call('GET', `/Users/${id}`)).body.nickName).toBe('P')
    expect(
      (await directory.call('DELETE', `/Users/${id}`, undefined, { headers: { 'if-match': '*' } })).status,
    ).toBe(204)
  })
})
