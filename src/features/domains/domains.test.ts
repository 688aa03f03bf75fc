// Login domains over HTTP, verified against a real name server on loopback.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createKey,
  createMember,
  createOrganization,
  createUser,
  type Workspace,
} from '../../../test/factories.ts'
import { startTestApp, type Reply, type TestApp } from '../../../test/harness/app.ts'
import { until } from '../../../test/harness/until.ts'
import { startDnsServer, type DnsStandIn } from '../../../test/stand-ins/dns.ts'
import { sql } from '../../platform/db/sql.ts'
import { makeCertificate } from './fixture/certificate.ts'
import type { DomainRow } from './schema.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000'

let dns: DnsStandIn
let app: TestApp
let workspace: Workspace
let key: string
let base: string

beforeAll(async () => {
  dns = await startDnsServer()
  app = await startTestApp({ DNS_SERVERS: dns.address })
  workspace = await createOrganization(app)
  key = workspace.owner.key
  base = `/api/organizations/${workspace.organization.id}/domains/`
})
afterAll(async () => {
  await app.close()
  await dns.close()
})

const newName = (ending = 'example') => `d${randomBytes(6).toString('hex')}.${ending}`
const challengeName = (domain: string) => `_posthog-challenge.${domain}`
const domainRow = (id: string) => app.db.row<DomainRow>(sql`SELECT * FROM domain WHERE id = ${id}`)

async function claim(fields: Record<string, unknown> = {}, where = base, as = key) {
  const reply = await app.post(where, { domain: newName(), ...fields }, { key: as })
  expect(reply.status).toBe(201)
  return reply.body
}

/** A domain whose record is there and found. */
async function claimVerified() {
  const domain = await claim()
  dns.setTxt(challengeName(domain.domain), [domain.verification_challenge])
  const reply = await app.post(`${base}${domain.id}/verify/`, undefined, { key })
  expect(reply.body).toMatchObject({ is_verified: true, found: { finding: 'published' } })
  const { found: _found, ...verified } = reply.body
  return verified
}

async function entries(item_id: string, organizationId = workspace.organization.id, as = key) {
  const reply = await app.get(`/api/organizations/${organizationId}/activity_log/?item_id=${item_id}`, {
    key: as,
  })
  expect(reply.status).toBe(200)
  return reply.body.results
}

/** As the specification writes it: `400 unique domain`, with `-` for no field. */
const problem = (reply: Reply) => `${reply.status} ${reply.body.code} ${reply.body.attr ?? '-'}`

describe('POST domains/', () => {
  it('201 gives the domain with a challenge and nothing proved', async () => {
    const name = newName()
    const reply = await app.post(base, { domain: ` ${name.toUpperCase()}. ` }, { key })
    expect(reply.status).toBe(201)
    expect(reply.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      domain: name,
      is_verified: false,
      verified_at: null,
      verification_challenge: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      verification_record: challengeName(name),
      last_verification_retry: null,
      jit_provisioning_enabled: false,
      sso_enforcement: '',
      has_saml: false,
      saml_entity_id: null,
      saml_acs_url: null,
      saml_x509_cert: null,
      saml_certificates: [],
      saml_allow_idp_initiated: false,
      has_oidc: false,
      oidc_issuer: null,
      oidc_client_id: null,
      oidc_redirect_uris: expect.any(Array),
      scim_enabled: false,
      has_scim: false,
      scim_base_url: null,
      scim_bearer_token: null,
    })
    expect(await entries(reply.body.id)).toMatchObject([
      { scope: 'OrganizationDomain', activity: 'created', detail: { name } },
    ])
    expect(dns.queries.filter((query) => query.includes(name))).toEqual([])
  })

  it('201 ignores what only verification or the server may set, even in a wrong form', async () => {
    const domain = await claim({
      jit_provisioning_enabled: true,
      sso_enforcement: 'nonsense',
      verified_at: '2020-01-01T00:00:00Z',
      is_verified: true,
      verification_challenge: 'mine',
      has_saml: true,
      id: UNKNOWN_ID,
      organization_id: UNKNOWN_ID,
      unheard_of: 1,
    })
    expect(domain).toMatchObject({
      jit_provisioning_enabled: false,
      sso_enforcement: '',
      is_verified: false,
      verified_at: null,
      has_saml: false,
    })
    expect(domain.verification_challenge).not.toBe('mine')
    expect(await domainRow(domain.id)).toMatchObject({
      organization_id: workspace.organization.id,
      verified_at: null,
    })
  })

  it('201 takes SAML settings before verification, the certificate as PEM or as its base64 text alone', async () => {
    const { pem, base64 } = makeCertificate()
    const saml = { saml_entity_id: 'https://idp.example/', saml_acs_url: 'https://idp.example/sso' }
    for (const saml_x509_cert of [pem.trim(), base64]) {
      expect(await claim({ ...saml, saml_x509_cert })).toMatchObject({
        ...saml,
        saml_x509_cert,
        has_saml: true,
        is_verified: false,
      })
    }
  })

  it.each([
    [{}, 'required domain'],
    [{ domain: null }, 'null domain'],
    [{ domain: '' }, 'blank domain'],
    [{ domain: 'no-dot' }, 'invalid_input domain'],
    [{ domain: `${'a'.repeat(125)}.com` }, 'max_length domain'],
    [{ domain: 'good.example', saml_entity_id: 'x'.repeat(513) }, 'max_length saml_entity_id'],
    [{ domain: 'good.example', saml_x509_cert: 'no certificate' }, 'invalid_input saml_x509_cert'],
    [{ domain: 'bad', saml_entity_id: 'x'.repeat(513) }, 'invalid_input domain'],
    ['["good.example"]', 'invalid_input -'],
    ['"good.example"', 'invalid_input -'],
  ])('400 for %j: %s', async (body, expected) => {
    expect(problem(await app.post(base, body, { key }))).toBe(`400 ${expected}`)
    const { rows } = await app.db.pool.query(`SELECT FROM domain WHERE domain IN ('good.example', 'bad')`)
    expect(rows).toEqual([])
  })

  it('400 for what is no domain says what is expected', async () => {
    const { body } = await app.post(base, { domain: 'no-dot' }, { key })
    expect(body.detail).toBe('A domain is expected here, such as example.com.')
  })

  it('400 for a name that is ours already, or that another organization has proved, in whatever case', async () => {
    const other = await createOrganization(app)
    const otherBase = `/api/organizations/${other.organization.id}/domains/`
    const [claimed, proved] = [await claim(), await claimVerified()]
    for (const [where, as, { domain }] of [
      [base, key, claimed],
      [base, key, proved],
      [otherBase, other.owner.key, proved],
    ] as const) {
      const reply = await app.post(where, { domain: domain.toUpperCase() }, { key: as })
      expect(problem(reply)).toBe('400 unique domain')
    }
    expect((await app.get(otherBase, { key: other.owner.key })).body.count).toBe(0)
  })

  it('201 for every organization that claims a name, and once for each', async () => {
    const others = await Promise.all(Array.from({ length: 3 }, () => createOrganization(app)))
    const domain = newName()
    const replies = await Promise.all(
      [...others, ...others].map(({ organization, owner }) =>
        app.post(`/api/organizations/${organization.id}/domains/`, { domain }, { key: owner.key }),
      ),
    )
    expect(statusesOf(replies)).toEqual([201, 201, 201, 400, 400, 400])
    const challenges = replies.flatMap(({ body }) => body.verification_challenge ?? [])
    expect(new Set(challenges).size).toBe(3)
  })
})

describe('who may do what', () => {
  it('a member reads and changes nothing; an admin does both', async () => {
    const member = await createMember(app, workspace.organization)
    const admin = await createMember(app, workspace.organization, { level: 'admin' })
    const { id, domain } = await claim()
    const calls = (as: { key: string }) => ({
      list: () => app.get(base, as),
      retrieve: () => app.get(`${base}${id}/`, as),
      create: () => app.post(base, { domain: newName() }, as),
      badCreate: () => app.post(base, {}, as),
      change: () => app.patch(`${base}${id}/`, { saml_entity_id: 'x' }, as),
      verify: () => app.post(`${base}${id}/verify/`, undefined, as),
      remove: () => app.delete(`${base}${id}/`, as),
    })
    const statuses = async (as: { key: string }) => {
      const result: Record<string, number> = {}
      for (const [name, call] of Object.entries(calls(as))) result[name] = (await call()).status
      return result
    }
    expect(await statuses(member)).toEqual({
      list: 200,
      retrieve: 200,
      create: 403,
      badCreate: 403,
      change: 403,
      verify: 403,
      remove: 403,
    })
    expect(dns.queries.filter((query) => query.includes(domain))).toEqual([])
    expect(await domainRow(id)).toMatchObject({ saml_entity_id: null, last_verification_retry: null })
    expect(await statuses(admin)).toEqual({
      list: 200,
      retrieve: 200,
      create: 201,
      badCreate: 400,
      change: 200,
      verify: 200,
      remove: 204,
    })
  })

  it('403 for strangers, 404 for a domain of another organization, an unknown id and no id at all', async () => {
    const stranger = await createUser(app)
    const other = await createOrganization(app)
    const { id, domain } = await claim()
    expect(problem(await app.get(base, { key: stranger.key }))).toBe('403 permission_denied -')
    expect(problem(await app.get(`${base}${id}/`, { key: other.owner.key }))).toBe('403 permission_denied -')
    const otherBase = `/api/organizations/${other.organization.id}/domains/`
    for (const path of [`${otherBase}${id}/`, `${otherBase}${UNKNOWN_ID}/`, `${otherBase}nonsense/`]) {
      const as = { key: other.owner.key }
      expect(problem(await app.get(path, as))).toBe('404 not_found -')
      expect(problem(await app.patch(path, { domain: 'no dot' }, as))).toBe('404 not_found -')
      expect(problem(await app.delete(path, as))).toBe('404 not_found -')
      expect(problem(await app.post(`${path}verify/`, undefined, as))).toBe('404 not_found -')
    }
    expect((await domainRow(id))?.domain).toBe(domain)
    expect(dns.queries.filter((query) => query.includes(domain))).toEqual([])
  })

  it('reading takes organization:read, writing organization:write', async () => {
    const { id } = await claim()
    const reader = await createKey(app, workspace.owner, { scopes: ['organization:read'] })
    const writer = await createKey(app, workspace.owner, { scopes: ['organization:write'] })
    const neighbour = await createKey(app, workspace.owner, {
      scopes: ['organization_member:write', 'project:write'],
    })
    expect((await app.get(base, { key: reader })).status).toBe(200)
    expect((await app.get(`${base}${id}/`, { key: writer })).status).toBe(200)
    expect((await app.get(base, { key: neighbour })).status).toBe(403)
    for (const as of [reader, neighbour]) {
      expect((await app.post(base, { domain: newName() }, { key: as })).status).toBe(403)
      expect((await app.patch(`${base}${id}/`, {}, { key: as })).status).toBe(403)
      expect((await app.post(`${base}${id}/verify/`, undefined, { key: as })).status).toBe(403)
      expect((await app.delete(`${base}${id}/`, { key: as })).status).toBe(403)
    }
    expect((await app.delete(`${base}${id}/`, { key: writer })).status).toBe(204)
  })
})

describe('GET domains/', () => {
  it('200 lists the organization alone, by name, in pages', async () => {
    const other = await createOrganization(app)
    const where = `/api/organizations/${other.organization.id}/domains/`
    const as = { key: other.owner.key }
    const names = ['b.zone.example', 'a.zone.example', 'c.zone.example']
    for (const domain of names) await claim({ domain }, where, other.owner.key)
    const all = await app.get(where, as)
    expect(all.body).toMatchObject({ count: 3, next: null, previous: null })
    expect(all.body.results.map((item: { domain: string }) => item.domain)).toEqual(names.toSorted())
    const second = await app.get(`${where}?limit=1&offset=1`, as)
    expect(second.body.results).toEqual([all.body.results[1]])
    expect(second.body.next).toContain('offset=2')
    expect((await app.get(`${where}${all.body.results[0].id}/`, as)).body).toEqual(all.body.results[0])
  })
})

describe('PATCH domains/:id/', () => {
  it('200 changes what is given, logs it, and leaves alone what only the server sets', async () => {
    const { id, domain, verification_challenge } = await claim()
    const ours = { verified_at: '2020-01-01T00:00:00Z', is_verified: true, verification_challenge: 'mine' }
    const reply = await app.patch(`${base}${id}/`, { saml_entity_id: ' entity ', ...ours }, { key })
    expect(reply.status).toBe(200)
    expect(reply.body).toMatchObject({
      domain,
      verification_challenge,
      saml_entity_id: 'entity',
      is_verified: false,
      verified_at: null,
    })
    const [entry] = await entries(id)
    expect(entry).toMatchObject({
      activity: 'updated',
      detail: {
        changes: [
          {
            type: 'OrganizationDomain',
            action: 'changed',
            field: 'saml_entity_id',
            before: null,
            after: 'entity',
          },
        ],
      },
    })
  })

  it('200 for an empty change, which is none', async () => {
    const { id } = await claim()
    const before = await domainRow(id)
    expect((await app.patch(`${base}${id}/`, {}, { key })).status).toBe(200)
    expect((await app.patch(`${base}${id}/`, { verified_at: '2020-01-01T00:00:00Z' }, { key })).status).toBe(
      200,
    )
    expect(await domainRow(id)).toEqual(before)
    expect(await entries(id)).toHaveLength(1)
  })

  it.each([
    [{ jit_provisioning_enabled: true }, 'verification_required jit_provisioning_enabled'],
    [{ sso_enforcement: 'google-oauth2' }, 'verification_required sso_enforcement'],
    [{ sso_enforcement: null }, 'null sso_enforcement'],
    [{ sso_enforcement: 'okta' }, 'invalid_choice sso_enforcement'],
    [{ domain: 'no dot' }, 'invalid_input domain'],
    [{ saml_x509_cert: 'x' }, 'invalid_input saml_x509_cert'],
    [{ saml_allow_idp_initiated: 'perhaps' }, 'invalid_input saml_allow_idp_initiated'],
  ])('400 on an unverified domain for %j', async (body, expected) => {
    const { id } = await claim()
    const before = await domainRow(id)
    expect(problem(await app.patch(`${base}${id}/`, body, { key }))).toBe(`400 ${expected}`)
    expect(await domainRow(id)).toEqual(before)
  })

  it('400 to enforce a provider that nobody came in by; the way by password stays open', async () => {
    const { id, domain } = await claimVerified()
    const path = `${base}${id}/`
    const saml = {
      saml_entity_id: 'e',
      saml_acs_url: 'https://idp.example/sso',
      saml_x509_cert: makeCertificate().base64,
    }
    expect((await app.patch(path, saml, { key })).body).toMatchObject({ has_saml: true })
    for (const sso_enforcement of ['saml', 'google-oauth2', 'github', 'gitlab']) {
      const reply = await app.patch(path, { sso_enforcement }, { key })
      expect(problem(reply)).toBe('400 sso_not_tested sso_enforcement')
      expect(reply.body.detail).toContain('lock everybody out')
    }
    expect(await domainRow(id)).toMatchObject({ sso_enforcement: '' })
    const precheck = await app.post('/api/login/precheck/', { email: `a@${domain}` })
    expect(precheck.body).toEqual({ sso_enforcement: null, saml_available: true, oidc_available: false })
  })

  it('settings of SAML stay while it is enforced', async () => {
    const { id } = await claimVerified()
    const path = `${base}${id}/`
    const saml = {
      saml_entity_id: 'e',
      saml_acs_url: 'https://idp.example/sso',
      saml_x509_cert: makeCertificate().base64,
    }
    await app.patch(path, { ...saml, jit_provisioning_enabled: 'true' }, { key })
    await app.db.run(sql`UPDATE domain SET sso_enforcement = 'saml' WHERE id = ${id}`)
    const enforced = await app.get(path, { key })
    expect(enforced.body).toMatchObject({
      sso_enforcement: 'saml',
      has_saml: true,
      jit_provisioning_enabled: true,
    })
    for (const field of Object.keys(saml)) {
      expect(problem(await app.patch(path, { [field]: null }, { key }))).toBe(`400 invalid_input ${field}`)
      expect(problem(await app.patch(path, { [field]: '' }, { key }))).toBe(`400 invalid_input ${field}`)
    }
    expect((await app.get(path, { key })).body).toEqual(enforced.body)
    expect(
      (await app.patch(path, { sso_enforcement: '', saml_entity_id: null }, { key })).body,
    ).toMatchObject({
      sso_enforcement: '',
      has_saml: false,
    })
  })

  it('200 another name loses all that the old one had proved', async () => {
    const before = await claimVerified()
    const path = `${base}${before.id}/`
    await app.patch(path, { jit_provisioning_enabled: true }, { key })
    await app.db.run(sql`UPDATE domain SET sso_enforcement = 'github' WHERE id = ${before.id}`)
    const domain = newName()
    const reply = await app.patch(path, { domain }, { key })
    expect(reply.status).toBe(200)
    expect(reply.body).toMatchObject({
      id: before.id,
      domain,
      is_verified: false,
      verified_at: null,
      jit_provisioning_enabled: false,
      sso_enforcement: '',
    })
    expect(reply.body.verification_challenge).not.toBe(before.verification_challenge)
    expect(await domainRow(before.id)).toMatchObject({
      last_verification_retry: null,
      recheck_failed_at: null,
    })
    // The old record proves nothing for the new name, and the old name is free.
    dns.setTxt(challengeName(domain), [before.verification_challenge])
    expect((await app.post(`${path}verify/`, undefined, { key })).body.is_verified).toBe(false)
    const other = await createOrganization(app)
    await claim(
      { domain: before.domain },
      `/api/organizations/${other.organization.id}/domains/`,
      other.owner.key,
    )
  })

  it('200 the same name in another spelling keeps what was proved', async () => {
    const before = await claimVerified()
    const reply = await app.patch(
      `${base}${before.id}/`,
      { domain: `${before.domain.toUpperCase()}.` },
      { key },
    )
    expect(reply.body).toEqual(before)
  })

  it('400 for a name that is taken, and the domain stays as it was', async () => {
    const before = await claimVerified()
    const { domain } = await claim()
    expect(problem(await app.patch(`${base}${before.id}/`, { domain }, { key }))).toBe('400 unique domain')
    expect((await app.get(`${base}${before.id}/`, { key })).body).toEqual(before)
  })
})

describe('DELETE domains/:id/', () => {
  it('204, then 404, and the name is free', async () => {
    const { id, domain } = await claimVerified()
    const reply = await app.delete(`${base}${id}/`, { key })
    expect(reply.status).toBe(204)
    expect(reply.body).toBeNull()
    expect((await app.get(`${base}${id}/`, { key })).status).toBe(404)
    expect((await entries(id))[0]).toMatchObject({ activity: 'deleted', detail: { name: domain } })
    expect((await claim({ domain })).is_verified).toBe(false)
  })

  it('204 once and 404 for the rest when several delete at the same moment', async () => {
    const { id } = await claim()
    const replies = await Promise.all(Array.from({ length: 5 }, () => app.delete(`${base}${id}/`, { key })))
    expect(statusesOf(replies)).toEqual([204, 404, 404, 404, 404])
    expect((await entries(id)).map((entry: { activity: string }) => entry.activity)).toEqual([
      'deleted',
      'created',
    ])
  })

  it('goes with its organization, and the name is free', async () => {
    const other = await createOrganization(app)
    const { id, domain } = await claim(
      {},
      `/api/organizations/${other.organization.id}/domains/`,
      other.owner.key,
    )
    expect(
      (await app.delete(`/api/organizations/${other.organization.id}/`, { key: other.owner.key })).status,
    ).toBe(204)
    expect(await domainRow(id)).toBeUndefined()
    await claim({ domain })
  })
})

describe('POST domains/:id/verify/', () => {
  const verify = (id: string) =>
    app.post(`${base}${id}/verify/`, { is_verified: true, verified_at: 'ignored' }, { key })

  /** The answer is a plain 200 that says "not yet", the try is remembered, and nothing is logged as verified. */
  async function expectUnverified(id: string, reply: Reply) {
    expect(reply.status).toBe(200)
    expect(reply.body).toMatchObject({ id, is_verified: false, verified_at: null })
    const row = await domainRow(id)
    expect(row!.verified_at).toBeNull()
    expect(app.services.now().getTime() - row!.last_verification_retry!.getTime()).toBeLessThan(30_000)
    expect((await entries(id)).map((entry: { activity: string }) => entry.activity)).toEqual(['created'])
  }

  const found: [string, (name: string, challenge: string) => void][] = [
    ['as the only record', (name, challenge) => dns.setTxt(name, [challenge])],
    [
      'among several records',
      (name, challenge) => dns.setTxt(name, ['v=spf1 -all', 'other', challenge, 'last']),
    ],
    [
      'split into several strings',
      (name, challenge) =>
        dns.setTxt(name, [[challenge.slice(0, 10), challenge.slice(10, 11), challenge.slice(11)]]),
    ],
    ['with blanks round it', (name, challenge) => dns.setTxt(name, [` ${challenge} `])],
    ['under a name in upper case', (name, challenge) => dns.setTxt(name.toUpperCase(), [challenge])],
    [
      'behind a CNAME',
      (name, challenge) => {
        dns.setCname(name, `target-of.${name}`)
        dns.setTxt(`target-of.${name}`, [challenge])
      },
    ],
    [
      'in an answer that only TCP can carry',
      (name, challenge) => {
        dns.setTxt(name, [challenge])
        dns.setTruncated(name)
      },
    ],
  ]
  it.each(found)('200 verified: the challenge %s', async (_case, publish) => {
    const { id, domain, verification_challenge } = await claim({ domain: newName().toUpperCase() })
    publish(challengeName(domain), verification_challenge)
    const reply = await verify(id)
    expect(reply.status).toBe(200)
    expect(reply.body).toMatchObject({ is_verified: true, verification_challenge })
    const row = await domainRow(id)
    expect(reply.body.verified_at).toBe(row!.verified_at!.toISOString())
    expect(row!.last_verification_retry).toEqual(row!.verified_at)
    expect(app.services.now().getTime() - row!.verified_at!.getTime()).toBeLessThan(30_000)
    expect((await entries(id))[0]).toMatchObject({ activity: 'verified', detail: { name: domain } })
  })

  const notFound: [string, (name: string, challenge: string) => void][] = [
    ['a wrong value', (name) => dns.setTxt(name, ['wrong'])],
    ['the challenge in another case', (name, challenge) => dns.setTxt(name, [swapCase(challenge)])],
    [
      'the challenge inside a longer value',
      (name, challenge) => dns.setTxt(name, [`challenge=${challenge}`]),
    ],
    [
      'the challenge spread over two records',
      (name, challenge) => dns.setTxt(name, [challenge.slice(0, 20), challenge.slice(20)]),
    ],
    [
      'the record on the domain itself',
      (name, challenge) => dns.setTxt(name.replace('_posthog-challenge.', ''), [challenge]),
    ],
    ['no such name (NXDOMAIN)', (name) => dns.setFailure(name, 'NXDOMAIN')],
    ['a name without TXT records (NODATA)', (name) => dns.setFailure(name, 'NODATA')],
    ['a failing name server (SERVFAIL)', (name) => dns.setFailure(name, 'SERVFAIL')],
    ['a name server that refuses', (name) => dns.setFailure(name, 'REFUSED')],
  ]
  it.each(notFound)('200 unverified: %s', async (_case, publish) => {
    const { id, domain, verification_challenge } = await claim()
    publish(challengeName(domain), verification_challenge)
    await expectUnverified(id, await verify(id))
    expect(dns.queries.some((query) => query.endsWith(`TXT ${challengeName(domain)}`))).toBe(true)
  })

  it('tells what the record holds, some of it, and when it was looked for', async () => {
    const { id, domain, verification_record, last_verification_retry } = await claim()
    expect([verification_record, last_verification_retry]).toEqual([challengeName(domain), null])
    expect((await verify(id)).body.found).toEqual({ finding: 'absent', values: [] })
    dns.setTxt(challengeName(domain), ['mistyped', 'x'.repeat(400)])
    const reply = await verify(id)
    expect(reply.body.found.finding).toBe('absent')
    expect(reply.body.found.values.toSorted()).toEqual(['mistyped', 'x'.repeat(300)])
    const { body } = await app.get(`${base}${id}/`, { key })
    expect(body.last_verification_retry).toBe(reply.body.last_verification_retry)
    expect(body).not.toHaveProperty('found')
    dns.setTxt(
      challengeName(domain),
      Array.from({ length: 12 }, (_, index) => `value ${index}`),
    )
    expect((await verify(id)).body.found.values).toHaveLength(10)
  })

  it('200 unverified within the five seconds when the name server is silent', { tags: 'slow' }, async () => {
    const { id, domain } = await claim()
    dns.setFailure(challengeName(domain), 'SILENT')
    const started = performance.now()
    await expectUnverified(id, await verify(id))
    expect(performance.now() - started).toBeLessThan(7_000)
  })

  it('200 unverified when nothing listens at the name server', async () => {
    const gone = await startDnsServer()
    await gone.close()
    const cutOff = await startTestApp({ DNS_SERVERS: gone.address })
    try {
      const { organization, owner } = await createOrganization(cutOff)
      const where = `/api/organizations/${organization.id}/domains/`
      const domain = (await cutOff.post(where, { domain: newName() }, { key: owner.key })).body
      const reply = await cutOff.post(`${where}${domain.id}/verify/`, undefined, { key: owner.key })
      expect(reply.status).toBe(200)
      const { found, ...after } = reply.body
      expect(found).toEqual({ finding: 'unknown', values: [] })
      expect(after).toEqual({ ...domain, last_verification_retry: expect.any(String) })
      const row = await cutOff.db.only<DomainRow>(sql`SELECT * FROM domain WHERE id = ${domain.id}`)
      expect(row.last_verification_retry).not.toBeNull()
    } finally {
      await cutOff.close()
    }
  })

  it('asks for the record under the prefix of the settings', async () => {
    const renamed = await startTestApp({ DNS_SERVERS: dns.address, DOMAIN_CHALLENGE_PREFIX: '_longshore' })
    try {
      const { organization, owner } = await createOrganization(renamed)
      const where = `/api/organizations/${organization.id}/domains/`
      const domain = (await renamed.post(where, { domain: newName() }, { key: owner.key })).body
      dns.setTxt(`_longshore.${domain.domain}`, [domain.verification_challenge])
      const reply = await renamed.post(`${where}${domain.id}/verify/`, undefined, { key: owner.key })
      expect(reply.body.is_verified).toBe(true)
    } finally {
      await renamed.close()
    }
  })

  it('200 verified on a later try, with the challenge of the first', async () => {
    const { id, domain, verification_challenge } = await claim()
    expect((await verify(id)).body).toMatchObject({ is_verified: false, verification_challenge })
    dns.setTxt(challengeName(domain), [verification_challenge])
    expect((await verify(id)).body).toMatchObject({ is_verified: true, verification_challenge })
  })

  it('400 when it is verified already: DNS is not asked, and a vanished record takes nothing away', async () => {
    const { id, domain, verified_at } = await claimVerified()
    dns.setFailure(challengeName(domain), 'NXDOMAIN')
    const asked = dns.queries.length
    expect(problem(await verify(id))).toBe('400 already_verified -')
    expect(dns.queries).toHaveLength(asked)
    expect((await app.get(`${base}${id}/`, { key })).body).toMatchObject({ is_verified: true, verified_at })
  })

  it('logs one verification when several calls find the record at the same moment', async () => {
    const { id, domain, verification_challenge } = await claim()
    dns.setTxt(challengeName(domain), [verification_challenge])
    const replies = await Promise.all(Array.from({ length: 4 }, () => verify(id)))
    const outcomes = replies.map((reply) => (reply.status === 200 ? reply.body.is_verified : problem(reply)))
    expect(outcomes).toContain(true)
    expect(outcomes.filter((outcome) => ![true, '400 already_verified -'].includes(outcome))).toEqual([])
    expect((await entries(id)).map((entry: { activity: string }) => entry.activity)).toEqual([
      'verified',
      'created',
    ])
  })

  it('never proves a name that the domain got while DNS was asked about the old one', async () => {
    const { id, domain, verification_challenge } = await claim()
    dns.setFailure(challengeName(domain), 'SILENT')
    const verifying = verify(id)
    await until(() => expect(dns.queries).toContain(`udp TXT ${challengeName(domain)}`))
    const wanted = newName()
    expect((await app.patch(`${base}${id}/`, { domain: wanted }, { key })).status).toBe(200)
    // The name server answers the resolver's second try, rightly, for the old name.
    dns.setTxt(challengeName(domain), [verification_challenge])
    const reply = await verifying
    expect(reply.status).toBe(200)
    expect(reply.body).toMatchObject({ domain: wanted, is_verified: false, verified_at: null })
    expect(await domainRow(id)).toMatchObject({ verified_at: null, last_verification_retry: null })
    expect((await entries(id)).map((entry: { activity: string }) => entry.activity)).toEqual([
      'updated',
      'created',
    ])
  })
})

describe('a name that several organizations claim', () => {
  it('belongs to whoever proves it, however long and often others have tried', async () => {
    const other = await createOrganization(app)
    const otherBase = `/api/organizations/${other.organization.id}/domains/`
    const by = { key: other.owner.key }
    const squatted = await claim()
    for (let day = 0; day < 20; day++) {
      expect((await app.post(`${base}${squatted.id}/verify/`, undefined, { key })).body.is_verified).toBe(
        false,
      )
      app.advance(DAY_MS)
    }
    const own = await claim({ domain: squatted.domain }, otherBase, by.key)
    expect(own.verification_challenge).not.toBe(squatted.verification_challenge)
    dns.setTxt(challengeName(own.domain), [own.verification_challenge])
    expect((await app.post(`${base}${squatted.id}/verify/`, undefined, { key })).body.is_verified).toBe(false)
    expect((await app.post(`${otherBase}${own.id}/verify/`, undefined, by)).body.is_verified).toBe(true)
    expect((await app.get(`${base}${squatted.id}/`, { key })).status).toBe(404)
    expect(problem(await app.post(base, { domain: own.domain }, { key }))).toBe('400 unique domain')
    const mine = await claim()
    const renamed = await app.patch(`${base}${mine.id}/`, { domain: own.domain }, { key })
    expect(problem(renamed)).toBe('400 unique domain')
    // The loser's log says that it is gone, and not who has it.
    expect((await entries(squatted.id))[0]).toMatchObject({
      activity: 'deleted',
      user: null,
      is_system: true,
      actor: { name: 'system', key_id: null },
    })
  })

  it('is proved once when two organizations have their records there at the same moment', async () => {
    const domain = newName()
    const claims = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const { organization, owner } = await createOrganization(app)
        const where = `/api/organizations/${organization.id}/domains/`
        return { where, owner, row: await claim({ domain }, where, owner.key) }
      }),
    )
    dns.setTxt(
      challengeName(domain),
      claims.map(({ row }) => row.verification_challenge),
    )
    const replies = await Promise.all(
      claims.map(({ where, owner, row }) =>
        app.post(`${where}${row.id}/verify/`, undefined, { key: owner.key }),
      ),
    )
    expect(replies.filter(({ body }) => body.is_verified === true)).toHaveLength(1)
    expect(replies.filter(({ status }) => ![200, 400, 404].includes(status))).toEqual([])
    const { rows } = await app.db.pool.query('SELECT verified_at FROM domain WHERE domain = $1', [domain])
    expect(rows).toEqual([{ verified_at: expect.any(Date) }])
  })
})

function statusesOf(replies: Reply[]): number[] {
  return replies.map(({ status }) => status).toSorted((a, b) => a - b)
}

function swapCase(text: string): string {
  return Array.from(text)
    .map((letter) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()))
    .join('')
}

describe('domains/:domain_id/keys/', () => {
  it('200 lists the personal keys of its people who are members, and 204 ends one; they are told', async () => {
    const { id, domain } = await claimVerified()
    const person = await createMember(app, workspace.organization, { email: `Person@${domain}` })
    const elsewhere = await createUser(app, { email: `other@${domain}` })
    await createKey(app, elsewhere, { scopes: ['*'] })
    const keys = `${base}${id}/keys/`
    const { body } = await app.get(keys, { key })
    expect(body.count).toBe(1)
    expect(body.results[0]).toMatchObject({
      email: person.email,
      user_uuid: person.uuid,
      label: expect.any(String),
    })
    expect(JSON.stringify(body)).not.toContain(person.key)
    expect((await app.get('/api/users/@me/', { key: person.key })).status).toBe(200)
    expect((await app.delete(`${keys}${body.results[0].id}/`, { key })).status).toBe(204)
    expect((await app.get('/api/users/@me/', { key: person.key })).status).toBe(401)
    expect((await app.delete(`${keys}${body.results[0].id}/`, { key })).status).toBe(404)
    const log = await app.db.rows<{ detail: { name: string } }>(sql`
      SELECT detail FROM activity_log WHERE organization_id = ${workspace.organization.id} AND scope = 'PersonalAPIKey'
      ORDER BY position DESC LIMIT 1`)
    expect(log[0]!.detail.name).toContain(person.email)
  })

  it('shows nothing of a domain that is not verified, nor to members', async () => {
    const { body: claimed } = await app.post(base, { domain: 'keys-unverified.example' }, { key })
    await createMember(app, workspace.organization, { email: 'person@keys-unverified.example' })
    expect((await app.get(`${base}${claimed.id}/keys/`, { key })).body.results).toEqual([])
    const member = await createMember(app, workspace.organization)
    expect((await app.get(`${base}${claimed.id}/keys/`, { key: member.key })).status).toBe(403)
  })
})
