// Who gets at the service, how it answers at its edges, and what admins see of it. Limits are on.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKey, createMember } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { sql } from '../../platform/db/sql.ts'
import { insertIdentity } from '../identities/queries.ts'
import type { Vouched } from '../identities/schema.ts'
import { findMembership } from '../members/queries.ts'
import { comeIn } from '../sign-in/provider/come-in.ts'
import { createDirectory, patchOf, personOf, type TestDirectory } from './fixture/directory.ts'
import { forgetOldRequests, logRequest } from './request-log.ts'

let app: TestApp
let directory: TestDirectory
let other: TestDirectory
beforeAll(async () => {
  app = await startTestApp({ RATE_LIMITS: 'on' })
  directory = await createDirectory(app)
  other = await createDirectory(app)
})
afterAll(() => app.close())

const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error'
const NO_ID = '00000000-0000-7000-8000-000000000000'
const asOwner = () => ({ key: directory.workspace.owner.key })
const verified = (at: Date | null) =>
  app.db.run(sql`UPDATE domain SET verified_at = ${at} WHERE id = ${directory.domain_id}`)

describe('the token', () => {
  it('is kept as a hash and opens its own domain alone; everything else is one and the same 401', async () => {
    const { key: ownersKey } = asOwner()
    const wrong: [string, string, string | null][] = [
      ['none', directory.base, null],
      ['of another directory', directory.base, other.token],
      ['an API key', directory.base, ownersKey],
      ['nonsense', directory.base, 'lsd_nonsense'],
      ['a domain that is not there', `/scim/v2/${NO_ID}`, directory.token],
      ['no id', '/scim/v2/nonsense', directory.token],
    ]
    const answers = new Set<string>()
    for (const [name, base, key] of wrong) {
      const reply = await app.call('GET', `${base}/Users`, { key, ip: '203.0.113.9' })
      expect([name, reply.status]).toEqual([name, 401])
      expect(reply.headers['www-authenticate']).toBe('Bearer')
      answers.add(JSON.stringify(reply.body))
    }
    expect([...answers]).toHaveLength(1)
    expect(JSON.parse([...answers][0]!)).toMatchObject({ schemas: [ERROR], status: '401' })
    const session = { session: directory.workspace.owner.session }
    expect((await app.get(`${directory.base}/Users`, session)).status).toBe(401)
    expect((await app.get('/api/users/@me/', { key: directory.token })).status).toBe(401)
    expect((await app.get(directory.admin, asOwner())).body.last_refused_at).not.toBeNull()
    expect((await app.get(other.admin, { key: other.workspace.owner.key })).body.last_refused_at).toBeNull()
  })

  it('is void while the domain is not verified, and for good once it is renamed', async () => {
    await verified(null)
    expect((await directory.call('GET', '/Users')).status).toBe(401)
    await verified(app.services.now())
    expect((await directory.call('GET', '/Users')).status).toBe(200)
    const moved = await createDirectory(app, directory.workspace)
    const url = moved.admin.replace('scim/', '')
    const renamed = await app.patch(url, { domain: `renamed-${moved.domain}` }, asOwner())
    expect(renamed.body).toMatchObject({ has_scim: false, scim_enabled: false, scim_base_url: null })
    await app.db.run(sql`UPDATE domain SET verified_at = now() WHERE id = ${moved.domain_id}`)
    expect((await moved.call('GET', '/Users')).status).toBe(401)
    expect((await app.delete(url, asOwner())).status).toBe(204)
    expect((await moved.call('GET', '/Users')).status).toBe(401)
  })

  it('wrong ones are counted as guesses by address; the right one never is', async () => {
    const ip = '198.51.100.77'
    const guess = () => app.get(`${directory.base}/Users`, { key: 'lsd_guess', ip })
    const statuses: number[] = []
    for (let count = 0; count < 62; count += 1) statuses.push((await guess()).status)
    expect(statuses.slice(0, 60).every((status) => status === 401)).toBe(true)
    expect(statuses.slice(60)).toEqual([429, 429])
    expect((await guess()).body).toMatchObject({ schemas: [ERROR], status: '429' })
    expect((await app.get(`${directory.base}/Users`, { key: directory.token, ip })).status).toBe(200)
  })
})

describe('at the edges', () => {
  it('with and without a slash at the end, whatever the media type', async () => {
    for (const path of [
      '/Users',
      '/Users/',
      '/Groups/',
      '/ServiceProviderConfig',
      '/Schemas/',
      '/ResourceTypes',
    ])
      expect([path, (await directory.call('GET', path)).status]).toEqual([path, 200])
    const headers = { 'content-type': 'application/json' }
    const made = await directory.call('POST', '/Users/', personOf(directory, 'slash'), { headers })
    expect(made.status).toBe(201)
    expect((await directory.call('GET', `/Users/${made.body.id}/`)).status).toBe(200)
    expect((await directory.call('DELETE', `/Users/${made.body.id}/`)).status).toBe(204)
  })

  it('404, 405 and 501 in the shape of SCIM', async () => {
    const cases: [string, string, number][] = [
      ['GET', '', 404],
      ['GET', '/', 404],
      ['GET', '/Nothing', 404],
      ['GET', '/Users/nonsense', 404],
      ['GET', `/Users/${NO_ID}`, 404],
      ['GET', `/Users/${NO_ID}/groups`, 404],
      ['GET', '/Schemas/nothing', 404],
      ['GET', '/Me', 501],
      ['DELETE', '/Users', 405],
      ['POST', '/Schemas', 405],
      ['POST', `/Users/${NO_ID}`, 405],
      ['GET', '/Users/.search', 405],
      ['GET', '/Bulk', 405],
      ['OPTIONS', '/Users', 405],
      ['GET', '/Schemas?filter=id pr', 403],
    ]
    for (const [method, path, status] of cases) {
      const reply = await directory.call(method, path)
      expect([method, path, reply.status, reply.body.status]).toEqual([method, path, status, String(status)])
      if (status === 405) expect(reply.headers).toHaveProperty('allow')
    }
    expect((await directory.call('HEAD', '/Users')).status).toBe(200)
  })

  it('says what it can do', async () => {
    const { body } = await directory.call('GET', '/ServiceProviderConfig')
    expect(body).toMatchObject({
      patch: { supported: true },
      bulk: { supported: true, maxOperations: 100 },
      filter: { supported: true, maxResults: 1000 },
      sort: { supported: true },
      etag: { supported: true },
      changePassword: { supported: false },
    })
    const { Resources } = (await directory.call('GET', '/Schemas')).body
    expect(Resources.map(({ name }: { name: string }) => name)).toEqual(['User', 'EnterpriseUser', 'Group'])
    const one = await directory.call('GET', '/Schemas/urn:ietf:params:scim:schemas:core:2.0:User')
    const userName = one.body.attributes.find(({ name }: { name: string }) => name === 'userName')
    expect(userName).toMatchObject({ required: true, uniqueness: 'server', caseExact: false })
    expect((await directory.call('GET', '/ResourceTypes/User')).body.schemaExtensions).toHaveLength(1)
  })

  it('bodies that are too large, too deep or packed are refused', async () => {
    const bodies: [string, string, number, Record<string, string>?][] = [
      ['large', JSON.stringify({ userName: 'x'.repeat(5 * 1024 * 1024) }), 413],
      ['of many values', `{"emails":[${'1,'.repeat(130_000)}1]}`, 413],
      ['deep', `${'['.repeat(30)}${']'.repeat(30)}`, 400],
      ['packed', '{}', 415, { 'content-encoding': 'gzip' }],
      ['with a key that means something to JavaScript', '{"__proto__":{"active":true},"userName":"x"}', 400],
      ['with NUL', '{"userName":"a\\u0000b"}', 400],
    ]
    for (const [name, body, status, headers] of bodies) {
      const reply = await directory.call('POST', '/Users', body, headers ? { headers } : {})
      expect([name, reply.status]).toEqual([name, status])
    }
    expect((await directory.call('GET', '/Users?filter=userName eq "%00"')).status).toBe(400)
  })

  it('has a rate for each domain, which bulk operations count towards', async () => {
    const busy = await createDirectory(app)
    const { db } = app
    const wrong = { method: 'DELETE', path: '/Nothing/x' }
    const bulk = { Operations: Array.from({ length: 100 }, () => wrong) }
    const statuses: number[] = []
    for (let count = 0; count < 25 && statuses.at(-1) !== 429; count += 1)
      statuses.push((await busy.call('POST', '/Bulk', bulk)).status)
    expect(statuses.at(-1)).toBe(429)
    const refused = await busy.call('POST', '/Bulk', bulk)
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect((await directory.call('GET', '/Users')).status).toBe(200)
    expect(
      await db.row(sql`SELECT FROM scim_request WHERE domain_id = ${busy.domain_id} AND status = 429`),
    ).toBeDefined()
  })
})

describe('what admins see', () => {
  it('the set-up: on, rolled, off; the token once', async () => {
    const set = await createDirectory(app)
    const as = { key: set.workspace.owner.key }
    const url = set.admin.replace('scim/', '')
    expect((await app.get(url, as)).body).toMatchObject({
      scim_enabled: true,
      has_scim: true,
      scim_base_url: `http://longshore.test${set.base}`,
      scim_bearer_token: null,
    })
    expect((await app.post(set.admin, { scim_enabled: true }, as)).body.scim_bearer_token).toBeNull()
    expect((await set.call('GET', '/Users')).status).toBe(200)
    const rolled = (await app.post(`${set.admin}token/`, {}, as)).body
    expect((await set.call('GET', '/Users')).status).toBe(401)
    const token = app.canary.plant('SCIM token', rolled.scim_bearer_token)
    expect(rolled.mask_value).toBe(`lsd_...${token.slice(-4)}`)
    expect((await app.get(`${set.base}/Users`, { key: token })).status).toBe(200)
    await app.get(`${set.base}/Users`, { key: token })
    expect((await app.get(set.admin, as)).body).toMatchObject({
      users: 0,
      groups: 0,
      scim_bearer_token: null,
    })
    expect((await app.patch(url, { scim_enabled: false }, as)).body).toMatchObject({ has_scim: false })
    expect((await app.get(`${set.base}/Users`, { key: token })).status).toBe(401)
    const again = await app.patch(url, { scim_enabled: true }, as)
    const fresh = app.canary.plant('SCIM token', again.body.scim_bearer_token)
    expect((await app.get(`${set.base}/Users`, { key: fresh })).status).toBe(200)
    const { body } = await app.get(`/api/organizations/${set.workspace.organization.id}/activity_log/`, as)
    expect(body.results[0].detail.changes).toMatchObject([{ field: 'scim_token_mask' }])
  })

  it('a domain must be verified first, and a key must be able to manage members', async () => {
    const { organization, owner } = directory.workspace
    const domains = `/api/organizations/${organization.id}/domains/`
    const { id } = (await app.post(domains, { domain: 'unproved.example', scim_enabled: true }, asOwner()))
      .body
    for (const reply of [
      await app.patch(`${domains}${id}/`, { scim_enabled: true }, asOwner()),
      await app.post(`${domains}${id}/scim/`, { scim_enabled: true }, asOwner()),
      await app.post(`${domains}${id}/scim/token/`, {}, asOwner()),
    ])
      expect(reply).toMatchObject({
        status: 400,
        body: { code: 'verification_required', attr: 'scim_enabled' },
      })
    expect((await app.patch(`${domains}${id}/`, { scim_enabled: false }, asOwner())).status).toBe(200)
    const key = await createKey(app, owner, { scopes: ['organization:write'] })
    const on = { scim_enabled: true }
    expect((await app.patch(`${domains}${directory.domain_id}/`, on, { key })).status).toBe(403)
    const member = await createMember(app, organization)
    expect((await app.get(directory.admin, { key: member.key })).status).toBe(403)
  })

  it('the last requests, newest first, without secrets, a thousand of them', async () => {
    const seen = await createDirectory(app)
    const as = { key: seen.workspace.owner.key }
    const secret = app.canary.plant('password of the directory', 'sent-by-the-directory-2')
    const { id } = (await seen.call('POST', '/Users', personOf(seen, 'ann', { password: secret }))).body
    const set = patchOf({ op: 'replace', path: 'password', value: secret })
    await seen.call('PATCH', `/Users/${id}?access_token=${secret}`, set)
    await seen.call('GET', '/Users?filter=userName pr&count=1')
    await seen.call('POST', '/Users', '{')
    const { body } = await app.get(`${seen.admin}requests/`, as)
    expect(body.count).toBe(4)
    expect(body.results).toMatchObject([
      {
        method: 'POST',
        path: '/Users',
        status: 400,
        response_body: expect.stringContaining('invalidSyntax'),
      },
      { method: 'GET', path: '/Users?filter=userName+pr&count=1', status: 200, request_body: null },
      {
        method: 'PATCH',
        path: `/Users/${id}`,
        status: 200,
        request_body: expect.stringContaining('(left out)'),
      },
      { method: 'POST', path: '/Users', status: 201, request_body: expect.stringContaining('(left out)') },
    ])
    expect((await app.get(`${seen.admin}requests/?limit=1&offset=1`, as)).body.results).toMatchObject([
      { method: 'GET' },
    ])
    const entry = { method: 'GET', path: '/x', status: 200, duration_ms: 1, request: null, response: null }
    await app.db.run(sql`
      INSERT INTO scim_request (domain_id, created_at, method, path, status, duration_ms)
      SELECT ${seen.domain_id}, now(), 'GET', '/x', 200, 1 FROM generate_series(1, 1100)`)
    for (let count = 0; count < 50; count += 1)
      await logRequest(app.db, seen.domain_id, { ...entry, created_at: app.services.now() })
    const all = await app.get(`${seen.admin}requests/?limit=1000`, as)
    expect([all.body.count, all.body.results.length]).toEqual([1_000, 1_000])
    const { kept } = await app.db.only<{ kept: number }>(
      sql`SELECT count(*)::int AS kept FROM scim_request WHERE domain_id = ${seen.domain_id}`,
    )
    expect(kept).toBeLessThan(1_060)
    await forgetOldRequests(app.db, new Date(Date.now() + 31 * 24 * 3_600_000))
    expect((await app.get(`${seen.admin}requests/`, as)).body.count).toBe(0)
  })
})

describe('just-in-time provisioning', () => {
  it('does not let in again whom the directory has deactivated', async () => {
    const kept = await createDirectory(app)
    const { organization } = kept.workspace
    await app.db.run(sql`UPDATE domain SET jit_provisioning_enabled = true WHERE id = ${kept.domain_id}`)
    const { id } = (await kept.call('POST', '/Users', personOf(kept, 'kim'))).body
    const email = `kim@${kept.domain}`
    const user = await app.db.only<{ id: number }>(sql`SELECT id FROM app_user WHERE email = ${email}`)
    const vouched: Vouched = {
      provider: 'saml',
      issuer: 'https://idp.example',
      subject: 'kim',
      email,
      is_email_vouched: true,
      first_name: 'Kim',
      last_name: '',
      domain_id: kept.domain_id,
    }
    await insertIdentity(app.db, user.id, vouched, app.services.now())
    const signIn = async () => {
      const context = { services: app.services, caller: null, request: { ip: '' }, now: app.services.now() }
      expect(await app.db.transaction((tx) => comeIn(context, tx, vouched))).toMatchObject({
        user: { id: user.id },
      })
      return (await findMembership(app.db, organization.id, user.id)) !== undefined
    }
    expect(await signIn()).toBe(true)
    await kept.call('PATCH', `/Users/${id}`, patchOf({ op: 'replace', path: 'active', value: false }))
    expect(await signIn()).toBe(false)
    // A directory that no longer knows them, or is switched off, keeps nobody out.
    await app.post(kept.admin, { scim_enabled: false }, { key: kept.workspace.owner.key })
    expect(await signIn()).toBe(true)
  })
})
