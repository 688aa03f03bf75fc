// Idempotency-Key over HTTP: one effect and one answer, however often and however closely a request is repeated.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createKey,
  createMember,
  createOrganization,
  createUser,
  type TestUser,
  type Workspace,
} from '../../../test/factories.ts'
import { startTestApp, type Call, type Reply, type TestApp } from '../../../test/harness/app.ts'
import { hashTables } from '../../../test/harness/tables.ts'
import { startDnsServer, type DnsStandIn } from '../../../test/stand-ins/dns.ts'
import { startSmtpServer, type SmtpStandIn } from '../../../test/stand-ins/smtp.ts'
import { sql } from '../db/sql.ts'
import { openSecrets } from '../secrets/secrets.ts'
import { answerOnce, forgetOldAnswers } from './idempotency.ts'

const HOUR_MS = 60 * 60 * 1000
const SECRET_KEY = 'the key that sealed the answers of yesterday'

let dns: DnsStandIn
let smtp: SmtpStandIn
let app: TestApp
let workspace: Workspace
beforeAll(async () => {
  dns = await startDnsServer()
  smtp = await startSmtpServer()
  app = await startTestApp({ SMTP_URL: smtp.url, DNS_SERVERS: dns.address, SECRET_KEY })
  workspace = await createOrganization(app)
})
afterAll(async () => {
  await app.close()
  await smtp.close()
  await dns.close()
})

let made = 0
const newEmail = () => `guest-${++made}@elsewhere.example`
const newKey = () => `retry ${++made}`

const path = (rest = '', { organization } = workspace) => `/api/organizations/${organization.id}/${rest}`
const problem = (reply: Reply) => `${reply.status} ${reply.body.code} ${reply.body.attr ?? '-'}`

/** POST with an Idempotency-Key, by the owner's API key unless told otherwise. Repeats may show a new key's value. */
function post(
  url: string,
  body: unknown,
  idempotencyKey: string,
  as: Call = { key: workspace.owner.key },
): Promise<Reply> {
  return app.post(url, body, {
    ...as,
    headers: { 'idempotency-key': idempotencyKey },
    may_show_secrets: true,
  })
}

/** The same to the last byte; only the request's own id differs. */
async function postRaw(
  url: string,
  body: unknown,
  idempotencyKey: string,
  authorization: Record<string, string>,
) {
  const headers = { 'content-type': 'application/json', 'idempotency-key': idempotencyKey, ...authorization }
  const {
    statusCode,
    headers: answered,
    body: text,
  } = await app.http.inject({ method: 'POST', url, headers, payload: JSON.stringify(body) })
  const { 'x-request-id': _id, date: _date, ...rest } = answered
  return { status: statusCode, headers: rest, text }
}

async function count(statement: ReturnType<typeof sql>): Promise<number> {
  return (await app.db.only<{ count: number }>(statement)).count
}
const countInvites = (email: string) =>
  count(sql`SELECT count(*)::int AS count FROM invite WHERE target_email = ${email}`)
const countClaims = (key: string) =>
  count(sql`SELECT count(*)::int AS count FROM idempotency_key WHERE key = ${key}`)
const countEntries = (name: string) =>
  count(sql`SELECT count(*)::int AS count FROM activity_log WHERE detail->>'name' = ${name}`)
const countKeys = (user: TestUser) =>
  count(sql`SELECT count(*)::int AS count FROM api_key WHERE user_id = ${user.id}`)

/** Invite mails ever queued for the invites that an address has now; queued in the transaction of the invite. */
const countMails = (email: string) =>
  count(sql`
    SELECT count(*)::int AS count FROM pgboss.job JOIN invite ON invite.id::text = data->>'invite_id'
    WHERE name = 'invite-email' AND target_email = ${email}`)

describe('the same key and body', () => {
  it('repeats an invite’s answer byte for byte: one row, one mail, one entry in the log', async () => {
    const body = { target_email: newEmail(), level: 8 }
    const key = newKey()
    const authorization = { authorization: `Bearer ${workspace.owner.key}` }
    const first = await postRaw(path('invites/'), body, key, authorization)
    expect(first.status).toBe(201)
    for (let repeat = 0; repeat < 3; repeat++) {
      expect(await postRaw(path('invites/'), body, key, authorization)).toEqual(first)
    }
    expect(await countInvites(body.target_email)).toBe(1)
    expect(await countMails(body.target_email)).toBe(1)
    expect(await countEntries(body.target_email)).toBe(1)
    await smtp.waitForMail(body.target_email)
    expect(smtp.mails.filter(({ recipients }) => recipients.includes(body.target_email))).toHaveLength(1)
  })

  it('repeats a new key’s value, which the table holds sealed only', async () => {
    const user = await createUser(app)
    const body = { label: 'robot', scopes: ['*'] }
    const key = newKey()
    const cookie = { cookie: `sessionid=${user.session}` }
    const first = await postRaw('/api/personal_api_keys/', body, key, cookie)
    expect(first.status).toBe(201)
    const value = app.canary.plant('API key', JSON.parse(first.text).value)
    expect(await postRaw('/api/personal_api_keys/', body, key, cookie)).toEqual(first)
    expect(await countKeys(user)).toBe(2)
    expect((await app.get('/api/personal_api_keys/@current/', { key: value })).status).toBe(200)
    const stored = await app.db.only<{ sealed_answer: string }>(
      sql`SELECT sealed_answer FROM idempotency_key WHERE key = ${key}`,
    )
    expect(stored.sealed_answer).toMatch(/^v1\.[0-9a-f]{8}\.[\w-]+$/)
    await app.canary.assertAbsentFromTables(app.db)
  })

  it('repeats a sign-in with the same session instead of opening another', async () => {
    const user = await createUser(app)
    const body = { email: user.email, password: user.password }
    const key = newKey()
    const first = await post('/api/login/', body, key, {})
    expect([first.status, first.session!.length > 20]).toEqual([200, true])
    const second = await post('/api/login/', body, key, {})
    expect([second.status, second.session, second.headers['set-cookie']]).toEqual([
      200,
      first.session,
      first.headers['set-cookie'],
    ])
    expect(await count(sql`SELECT count(*)::int AS count FROM session WHERE user_id = ${user.id}`)).toBe(2)
  })

  it('repeats a verification that succeeded, and does not say that it had been done already', async () => {
    const { body: domain } = await app.post(
      path('domains/'),
      { domain: `d${++made}.example` },
      { key: workspace.owner.key },
    )
    dns.setTxt(`_posthog-challenge.${domain.domain}`, [domain.verification_challenge])
    const key = newKey()
    const first = await post(path(`domains/${domain.id}/verify/`), {}, key)
    expect(first.body.is_verified).toBe(true)
    const second = await post(path(`domains/${domain.id}/verify/`), {}, key)
    expect([second.status, second.body]).toEqual([200, first.body])
    expect(problem(await post(path(`domains/${domain.id}/verify/`), {}, newKey()))).toBe(
      '400 already_verified -',
    )
  })

  it('repeats an answer about a thing that is gone by now', async () => {
    const invite = (
      await app.post(path('invites/'), { target_email: newEmail() }, { key: workspace.owner.key })
    ).body
    const key = newKey()
    const first = await post(path(`invites/${invite.id}/resend/`), {}, key)
    expect(first.status).toBe(200)
    expect((await app.delete(path(`invites/${invite.id}/`), { key: workspace.owner.key })).status).toBe(204)
    const second = await post(path(`invites/${invite.id}/resend/`), {}, key)
    expect([second.status, second.body]).toEqual([200, first.body])
  })

  it('repeats the first sign-up of an instance, which a second one could not make', async () => {
    const fresh = await startTestApp()
    try {
      const body = {
        email: 'first@here.example',
        first_name: 'First',
        password: fresh.canary.plant('password', 'tugboat-lantern-harbour-7'),
      }
      const headers = { 'idempotency-key': 'sign-up' }
      const first = await fresh.post('/api/signup/', body, { headers })
      expect(first.status).toBe(201)
      const second = await fresh.post('/api/signup/', body, { headers })
      expect([second.status, second.body, second.session]).toEqual([201, first.body, first.session])
    } finally {
      await fresh.close()
    }
  })

  it('asks for the right anew: who has lost it gets 403, not the old answer', async () => {
    const member = await createMember(app, workspace.organization, { level: 'admin' })
    const body = { target_email: newEmail() }
    const key = newKey()
    expect((await post(path('invites/'), body, key, { key: member.key })).status).toBe(201)
    expect((await app.delete(path(`members/${member.uuid}/`), { key: workspace.owner.key })).status).toBe(204)
    expect(problem(await post(path('invites/'), body, key, { key: member.key }))).toBe(
      '403 permission_denied -',
    )
  })

  it('still repeats after the key that sealed it was replaced', async () => {
    const request = {
      key: newKey(),
      caller: 'key:x',
      path: '/api/x/',
      session_token: null,
      bytes: Buffer.from('{}'),
      now: app.services.now(),
    }
    const answer = { status: 201, json: '{"value":"once"}' }
    await answerOnce(app.services, request, async () => async () => answer)
    const services = {
      ...app.services,
      secrets: openSecrets('the key that was made this very morning', SECRET_KEY),
    }
    const performAgain = async () => () => Promise.reject(new Error('performed again'))
    expect(await answerOnce(services, request, performAgain)).toEqual(answer)
    const other = { ...request, bytes: Buffer.from('{"x":1}') }
    await expect(answerOnce(services, other, performAgain)).rejects.toMatchObject({
      code: 'idempotency_mismatch',
    })
  })
})

describe('the same key for something else', () => {
  it('422 for another body or path, and nothing is done', async () => {
    const email = newEmail()
    const key = newKey()
    expect((await post(path('invites/'), { target_email: email }, key)).status).toBe(201)
    const before = await hashTables(app.db)
    const refused = [
      await post(path('invites/'), { target_email: newEmail() }, key),
      await post(path('invites/'), { target_email: email, level: 8 }, key),
      await post(path('invites/bulk/'), { target_email: email }, key),
      await post('/api/organizations/', { name: 'Another' }, key),
    ]
    expect(refused.map(problem)).toEqual(refused.map(() => '422 idempotency_mismatch -'))
    expect(refused[0]!.body.type).toBe('invalid_request')
    expect(await hashTables(app.db)).toEqual(before)
  })

  it('is another matter with other credentials, be it the same person', async () => {
    const body = { name: 'Shared' }
    const key = newKey()
    const second = await createKey(app, workspace.owner, { scopes: ['*'] })
    const stranger = await createUser(app)
    const callers: Call[] = [
      { key: workspace.owner.key },
      { key: second },
      { session: workspace.owner.session },
      { key: stranger.key },
      { session: stranger.session },
    ]
    const ids = new Set<string>()
    for (const as of callers) {
      const reply = await post('/api/organizations/', body, key, as)
      expect(reply.status).toBe(201)
      ids.add(reply.body.id)
    }
    expect(ids.size).toBe(callers.length)
    expect(
      (await post('/api/organizations/', { name: 'Mine' }, key, { key: (await createUser(app)).key })).status,
    ).toBe(201)
  })

  it('is another matter for whoever has no credentials elsewhere', async () => {
    const [one, two] = [await createUser(app), await createUser(app)]
    const key = newKey()
    const signIn = ({ email, password }: TestUser, ip: string) =>
      post('/api/login/', { email, password }, key, { ip })
    const first = await signIn(one, '203.0.113.1')
    expect(first.status).toBe(200)
    expect((await signIn(two, '203.0.113.2')).status).toBe(200)
    expect((await signIn(one, '203.0.113.1')).session).toBe(first.session)
    expect(problem(await signIn(two, '203.0.113.1'))).toBe('422 idempotency_mismatch -')
  })

  it('does not matter to other methods', async () => {
    const headers = { 'idempotency-key': newKey() }
    const as = { key: workspace.owner.key, headers }
    expect((await app.patch(path(), { name: 'Once' }, as)).body.name).toBe('Once')
    expect((await app.patch(path(), { name: 'Twice' }, as)).body.name).toBe('Twice')
    expect((await app.get(path(), as)).body.name).toBe('Twice')
    expect(await countClaims(headers['idempotency-key'])).toBe(0)
  })
})

describe('many at the same moment', () => {
  it('ten repeats have one effect and get one answer', async () => {
    const body = { target_email: newEmail() }
    const key = newKey()
    const replies = await Promise.all(Array.from({ length: 10 }, () => post(path('invites/'), body, key)))
    expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 201))
    expect(new Set(replies.map((reply) => JSON.stringify(reply.body))).size).toBe(1)
    expect([
      await countInvites(body.target_email),
      await countMails(body.target_email),
      await countEntries(body.target_email),
    ]).toEqual([1, 1, 1])
  })

  it('ten repeats make one key, whose value all of them learn', async () => {
    const user = await createUser(app)
    const key = newKey()
    const replies = await Promise.all(
      Array.from({ length: 10 }, () =>
        post('/api/personal_api_keys/', { label: 'x', scopes: ['*'] }, key, { session: user.session }),
      ),
    )
    const values = new Set(replies.map((reply) => reply.body.value))
    expect(values.size).toBe(1)
    for (const value of values) app.canary.plant('API key', value)
    expect(await countKeys(user)).toBe(2)
  })

  it('two bodies under one key: one is done, the other is 422', async () => {
    const key = newKey()
    const emails = [newEmail(), newEmail()]
    const replies = await Promise.all(
      emails.map((target_email) => post(path('invites/'), { target_email }, key)),
    )
    expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 422])
    const invited = await Promise.all(emails.map(countInvites))
    expect(invited).toEqual(replies.map(({ status }) => (status === 201 ? 1 : 0)))
  })

  it('many keys do not wait for each other to death', async () => {
    const { email, password } = await createUser(app)
    const replies = await Promise.all(
      Array.from({ length: 30 }, () => post('/api/login/', { email, password }, newKey(), {})),
    )
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
  })
})

describe('a first try that failed', () => {
  it('400 of the body stores nothing: the mended request is done under the same key', async () => {
    const key = newKey()
    const email = newEmail()
    expect(problem(await post(path('invites/'), { target_email: email, level: 5 }, key))).toBe(
      '400 invalid_choice level',
    )
    expect(await countClaims(key)).toBe(0)
    expect((await post(path('invites/'), { target_email: email, level: 8 }, key)).status).toBe(201)
  })

  it('400 raised after the first rows were written leaves neither rows nor claim', async () => {
    const key = newKey()
    const emails = [newEmail(), newEmail()]
    const before = await hashTables(app.db)
    const bad = [
      { target_email: emails[0] },
      { target_email: workspace.owner.email },
      { target_email: emails[1] },
    ]
    const reply = await post(path('invites/bulk/'), bad, key)
    expect([reply.status, reply.body.code]).toEqual([400, 'invalid_input'])
    expect(await hashTables(app.db)).toEqual(before)
    const good = [{ target_email: emails[0] }, { target_email: emails[1] }]
    expect((await post(path('invites/bulk/'), good, key)).status).toBe(200)
    expect(await Promise.all(emails.map(countInvites))).toEqual([1, 1])
  })

  it('500 when the answer cannot be kept undoes the change: there is no effect without its answer', async () => {
    const key = newKey()
    const body = { target_email: newEmail() }
    const before = await hashTables(app.db)
    await app.db.pool.query(
      'ALTER TABLE idempotency_key ADD CONSTRAINT full_disk CHECK (sealed_answer IS NULL) NOT VALID',
    )
    try {
      expect(problem(await post(path('invites/'), body, key))).toBe('500 error -')
    } finally {
      await app.db.pool.query('ALTER TABLE idempotency_key DROP CONSTRAINT full_disk')
    }
    expect(await hashTables(app.db)).toEqual(before)
    expect((await post(path('invites/'), body, key)).status).toBe(201)
    expect([await countInvites(body.target_email), await countMails(body.target_email)]).toEqual([1, 1])
  })

  it('403 and 404 store nothing', async () => {
    const member = await createMember(app, workspace.organization)
    const key = newKey()
    expect(
      problem(
        await post(path('invites/'), { target_email: newEmail(), level: 15 }, key, { key: member.key }),
      ),
    ).toBe('403 permission_denied -')
    expect(problem(await post(path('domains/nonsense/verify/'), {}, key, { key: workspace.owner.key }))).toBe(
      '404 not_found -',
    )
    expect(await countClaims(key)).toBe(0)
  })

  it('a wrong password counts as a failure and stores no answer: the right one signs in under the same key', async () => {
    const user = await createUser(app)
    const key = newKey()
    const failures = () => count(sql`SELECT coalesce(sum(used), 0)::int AS count FROM tries`)
    const before = await failures()
    expect(problem(await post('/api/login/', { email: user.email, password: 'wrong' }, key, {}))).toBe(
      '400 invalid_credentials -',
    )
    expect(await failures()).toBe(before + 1)
    expect(await countClaims(key)).toBe(0)
    expect((await post('/api/login/', { email: user.email, password: user.password }, key, {})).status).toBe(
      200,
    )
  })
})

describe('the key itself', () => {
  it.each([
    ['empty', ''],
    ['blank', '   '],
    ['of 256 characters', 'k'.repeat(256)],
  ])('400 when it is %s', async (_case, key) => {
    const email = newEmail()
    expect(problem(await post(path('invites/'), { target_email: email }, key))).toBe('400 invalid_input -')
    expect(await countInvites(email)).toBe(0)
  })

  it('201 at 255 characters, and with letters of any kind', async () => {
    for (const key of ['k'.repeat(255), `${newKey()}'"\\;--`, 'é'.repeat(20)]) {
      const body = { target_email: newEmail() }
      const first = await post(path('invites/'), body, key)
      expect(first.status).toBe(201)
      expect((await post(path('invites/'), body, key)).body).toEqual(first.body)
    }
  })
})

describe('after 24 hours', () => {
  it('the request is done anew, and not a moment before', async () => {
    const body = { target_email: newEmail() }
    const key = newKey()
    const first = await post(path('invites/'), body, key)
    app.advance(24 * HOUR_MS - 60_000)
    expect((await post(path('invites/'), body, key)).body).toEqual(first.body)
    app.advance(60_000)
    const again = await post(path('invites/'), body, key)
    expect(again.status).toBe(201)
    expect(again.body.id).not.toBe(first.body.id)
    expect(await countClaims(key)).toBe(1)
    const other = await post(path('invites/'), { target_email: newEmail() }, key)
    expect(problem(other)).toBe('422 idempotency_mismatch -')
  })

  it('answers are swept out, younger ones kept', async () => {
    const [old, young] = [newKey(), newKey()]
    await post(path('invites/'), { target_email: newEmail() }, old)
    app.advance(24 * HOUR_MS)
    await post(path('invites/'), { target_email: newEmail() }, young)
    expect(await forgetOldAnswers(app.db, app.services.now())).toBeGreaterThan(0)
    expect([await countClaims(old), await countClaims(young)]).toEqual([0, 1])
  })
})
