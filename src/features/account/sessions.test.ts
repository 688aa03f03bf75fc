// Signed-in browsers: seen by their owner alone, ended at once, and never by a key.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMember, createOrganization, type TestUser, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type Call, type TestApp } from '../../../test/harness/app.ts'
import { sql } from '../../platform/db/sql.ts'

const SESSIONS = '/api/users/@me/sessions/'
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'
const SAFARI =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15'

let app: TestApp
let workspace: Workspace
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
})
afterAll(() => app.close())

const makeUser = () => createMember(app, workspace.organization)

async function signIn(user: TestUser, userAgent: string, ip = '192.0.2.1'): Promise<string> {
  const headers = { 'user-agent': userAgent }
  const { email, password } = user
  const reply = await app.post('/api/login/', { email, password }, { headers, ip })
  expect(reply.status).toBe(200)
  return reply.session!
}

type Listed = { id: string; created_at: string; last_used_at: string; last_used_ip: string; current: boolean }
const list = async (call: Call): Promise<Listed[]> => (await app.get(SESSIONS, call)).body.results
const current = async (call: Call): Promise<Listed> => (await list(call)).find((row) => row.current)!
const isSignedIn = async (session: string) => (await app.get('/api/users/@me/', { session })).status === 200
const logOf = (user: TestUser) =>
  app.db.rows<{ detail: { changes: unknown[] } }>(
    sql`SELECT detail FROM activity_log WHERE scope = 'User' AND item_id = ${user.uuid} ORDER BY position`,
  )

describe('GET', () => {
  it('200: each browser in words, where and when it was used, and which one asks', async () => {
    const user = await makeUser()
    const session = await signIn(user, FIREFOX, '192.0.2.7')
    const reply = await app.get(SESSIONS, { session })
    expect(reply.status).toBe(200)
    expect(reply.body).toMatchObject({ count: 2, next: null, previous: null })
    const own = reply.body.results.filter((row: Listed) => row.current)
    expect(own).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        created_at: expect.any(String),
        expires_at: expect.any(String),
        last_used_at: own[0].created_at,
        last_used_ip: '192.0.2.7',
        browser: 'Firefox 128',
        system: 'Linux',
        current: true,
      },
    ])
    const hashes = await app.db.rows<{ token_hash: string }>(sql`SELECT token_hash FROM session`)
    for (const { token_hash } of hashes) expect(JSON.stringify(reply.body)).not.toContain(token_hash)
  })

  it('pages, and shows neither those of others nor pending or expired ones', async () => {
    const user = await makeUser()
    const session = await signIn(user, SAFARI)
    await app.db.run(sql`
      INSERT INTO session (token_hash, user_id, is_pending, created_at, expires_at, last_used_at)
      VALUES (${`pending ${user.id}`}, ${user.id}, true, now(), now() + interval '1 day', now()),
        (${`expired ${user.id}`}, ${user.id}, false, now(), now() - interval '1 day', now())`)
    expect(await list({ session })).toHaveLength(2)
    const page = await app.get(`${SESSIONS}?limit=1`, { session })
    expect(page.body).toMatchObject({ count: 2, next: expect.stringContaining('offset=1') })
    expect(page.body.results).toHaveLength(1)
  })

  it('last use and its address are written once a minute at most', async () => {
    const user = await makeUser()
    const session = await signIn(user, SAFARI, '192.0.2.1')
    const usedAt = () => current({ session, ip: '192.0.2.9' })
    const first = await usedAt()
    expect(first).toMatchObject({ last_used_at: first.created_at, last_used_ip: '192.0.2.1' })
    app.advance(61_000)
    const later = await usedAt()
    expect(Date.parse(later.last_used_at) - Date.parse(first.last_used_at)).toBeGreaterThanOrEqual(61_000)
    expect(later.last_used_ip).toBe('192.0.2.9')
    app.advance(30_000)
    expect((await usedAt()).last_used_at).toBe(later.last_used_at)
  })

  it('403 for a key, whatever it may do otherwise', async () => {
    const user = await makeUser()
    expect((await app.get(SESSIONS, { key: user.key })).status).toBe(403)
  })
})

describe('DELETE', () => {
  it('204: that browser is out at its next request, the others stay, and the log says it', async () => {
    const user = await makeUser()
    const [mine, other] = [await signIn(user, FIREFOX), await signIn(user, SAFARI)]
    const { id } = await current({ session: other })
    expect(await isSignedIn(other)).toBe(true)
    const reply = await app.delete(`${SESSIONS}${id}/`, { session: mine })
    expect([reply.status, reply.session]).toEqual([204, undefined])
    expect(await isSignedIn(other)).toBe(false)
    expect([await isSignedIn(mine), await isSignedIn(user.session)]).toEqual([true, true])
    expect((await logOf(user)).map(({ detail }) => detail.changes)).toEqual([
      [{ type: 'User', action: 'deleted', field: 'session', before: 'Safari 17 on macOS', after: null }],
    ])
    expect((await app.delete(`${SESSIONS}${id}/`, { session: mine })).status).toBe(404)
  })

  it('204: one’s own is a sign-out, and the cookie goes', async () => {
    const user = await makeUser()
    const session = await signIn(user, FIREFOX)
    const { id } = await current({ session })
    const reply = await app.delete(`${SESSIONS}${id}/`, { session })
    expect([reply.status, reply.session]).toEqual([204, ''])
    expect(await isSignedIn(session)).toBe(false)
  })

  it('204 with a sign-in of long ago: it only takes away', async () => {
    const user = await makeUser()
    const [old, other] = [await signIn(user, FIREFOX), await signIn(user, SAFARI)]
    app.advance(5 * 3_600_000)
    const { id } = await current({ session: other })
    expect((await app.delete(`${SESSIONS}${id}/`, { session: old })).status).toBe(204)
  })

  it('404 for the session of somebody else, which goes on', async () => {
    const [user, stranger] = [await makeUser(), await makeUser()]
    const theirs = await signIn(stranger, SAFARI)
    const { id } = await current({ session: theirs })
    for (const wrong of [id, 'nonsense', user.uuid]) {
      expect((await app.delete(`${SESSIONS}${wrong}/`, { session: user.session })).status).toBe(404)
    }
    expect(await isSignedIn(theirs)).toBe(true)
    const byTheirPath = `/api/users/${stranger.uuid}/sessions/${id}/`
    expect((await app.delete(byTheirPath, { session: user.session })).status).toBe(403)
    expect(await isSignedIn(theirs)).toBe(true)
  })
})

describe('POST end_others', () => {
  it('200: all but this one are out, a sign-in that waits for its code too; keys and other people are not', async () => {
    const [user, stranger] = [await makeUser(), await makeUser()]
    const [mine, other] = [await signIn(user, FIREFOX), await signIn(user, SAFARI)]
    await app.db.run(sql`
      INSERT INTO session (token_hash, user_id, is_pending, created_at, expires_at, last_used_at)
      VALUES (${`waits ${user.id}`}, ${user.id}, true, now(), now() + interval '1 day', now())`)
    const reply = await app.post(`${SESSIONS}end_others/`, {}, { session: mine })
    expect([reply.status, reply.body]).toEqual([200, { ended: 2 }])
    expect([await isSignedIn(mine), await isSignedIn(other), await isSignedIn(user.session)]).toEqual([
      true,
      false,
      false,
    ])
    expect(await app.db.rows(sql`SELECT FROM session WHERE user_id = ${user.id}`)).toHaveLength(1)
    expect(await isSignedIn(stranger.session)).toBe(true)
    expect((await app.get('/api/users/@me/', { key: user.key })).status).toBe(200)
    expect((await logOf(user)).map(({ detail }) => detail.changes)).toEqual([
      [{ type: 'User', action: 'changed', field: 'sessions', before: 3, after: 1 }],
    ])
  })

  it('200 with nothing to end writes nothing into the log', async () => {
    const user = await makeUser()
    const reply = await app.post(`${SESSIONS}end_others/`, {}, { session: user.session })
    expect(reply.body).toEqual({ ended: 0 })
    expect(await logOf(user)).toEqual([])
  })

  it('of two at once that end each other, one stays', async () => {
    const user = await makeUser()
    const [one, two] = [await signIn(user, FIREFOX), await signIn(user, SAFARI)]
    const replies = await Promise.all(
      [one, two].map((session) => app.post(`${SESSIONS}end_others/`, {}, { session })),
    )
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 401]))
    expect(new Set([await isSignedIn(one), await isSignedIn(two)])).toEqual(new Set([false, true]))
  })
})
