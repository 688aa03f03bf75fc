// A directory syncs while the database fails: a full disk at any table, connections that are cut. It is told to try again, in
// its own shape of an error, and nothing is half done.
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { startTestApp, type Reply, type TestApp } from '../../../test/harness/app.ts'
import { sql } from '../../platform/db/sql.ts'
import { createDirectory, GROUP_SCHEMA, patchOf, personOf, type TestDirectory } from './fixture/directory.ts'

const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error'

let app: TestApp
let directory: TestDirectory
beforeAll(async () => {
  app = await startTestApp()
  directory = await createDirectory(app)
  await app.db.pool.query(`
    CREATE FUNCTION disk_full() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
    CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(1); RETURN NEW; END $$`)
})
afterAll(() => app.close())

const TABLES = ['app_user', 'scim_user', 'membership', 'activity_log', 'scim_group', 'scim_group_member']
afterEach(async () => {
  for (const table of [...TABLES, 'scim_request'])
    await app.db.pool.query(`DROP TRIGGER IF EXISTS fails ON ${table}`)
})

async function failAt(table: string, how: 'disk_full' | 'cut'): Promise<void> {
  await app.db.pool.query(
    `CREATE TRIGGER fails BEFORE INSERT OR UPDATE OR DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION ${how}()`,
  )
}

/** Everything that a directory's requests write, but for the log of them. */
const state = () =>
  app.db.only(sql`
    SELECT (SELECT jsonb_agg(to_jsonb(app_user) ORDER BY id) FROM app_user) AS users,
      (SELECT jsonb_agg(to_jsonb(membership) ORDER BY id) FROM membership) AS memberships,
      (SELECT jsonb_agg(to_jsonb(scim_user) ORDER BY id) FROM scim_user) AS people,
      (SELECT jsonb_agg(to_jsonb(scim_group) ORDER BY id) FROM scim_group) AS groups,
      (SELECT jsonb_agg(to_jsonb(scim_group_member) ORDER BY group_id, scim_user_id) FROM scim_group_member) AS members,
      (SELECT count(*) FROM session) AS sessions, (SELECT count(*) FROM activity_log) AS deeds`)

function expectTryAgain(reply: Reply): void {
  expect(reply).toMatchObject({ status: 503, body: { schemas: [ERROR], status: '503' } })
  expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0)
  expect(reply.headers['content-type']).toMatch(/^application\/scim\+json/)
}

it('a full disk or a cut connection at any table: 503, nothing half done, and all is well afterwards', async () => {
  const { id } = (await directory.call('POST', '/Users', personOf(directory, 'ada'))).body
  const group = { schemas: [GROUP_SCHEMA], displayName: 'Harbour', members: [{ value: id }] }
  const made = (await directory.call('POST', '/Groups', group)).body
  await app.patch(
    `${directory.admin}groups/${made.id}/`,
    { level: 8 },
    { key: directory.workspace.owner.key },
  )
  const off = patchOf({ op: 'replace', path: 'active', value: false })
  const newcomer = { schemas: [GROUP_SCHEMA], displayName: 'Other', members: [{ value: id }] }
  const leaves = patchOf({ op: 'remove', path: `members[value eq "${id}"]` })
  const requests: [string, string, unknown, string[]][] = [
    ['POST', '/Users', personOf(directory, 'bea'), ['app_user', 'scim_user', 'membership', 'activity_log']],
    ['PATCH', `/Users/${id}`, off, ['membership', 'activity_log', 'scim_user']],
    ['DELETE', `/Users/${id}`, undefined, ['membership', 'scim_user', 'scim_group_member']],
    ['POST', '/Groups', newcomer, ['scim_group', 'scim_group_member']],
    ['PATCH', `/Groups/${made.id}`, leaves, ['scim_group_member', 'membership']],
    ['DELETE', `/Groups/${made.id}`, undefined, ['scim_group', 'scim_group_member']],
  ]
  const before = await state()
  for (const [method, path, body, tables] of requests)
    for (const [at, table] of tables.entries()) {
      await failAt(table, at === 0 ? 'cut' : 'disk_full')
      const reply = await directory.call(method, path, body)
      await app.db.pool.query(`DROP TRIGGER fails ON ${table}`)
      expect([method, path, table, reply.status]).toEqual([method, path, table, 503])
      expectTryAgain(reply)
      expect([method, table, await state()]).toEqual([method, table, before])
    }
  for (const [method, path, body] of requests.filter(([, path]) => path.startsWith('/Users')))
    expect((await directory.call(method, path, body)).status).toBeLessThan(300)
})

it('of a bulk request what fails says so, and the rest is done', async () => {
  await failAt('scim_group', 'disk_full')
  const reply = await directory.call('POST', '/Bulk', {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'],
    Operations: [
      { method: 'POST', path: '/Groups', bulkId: 'g', data: { displayName: 'Bulk' } },
      { method: 'POST', path: '/Users', bulkId: 'u', data: personOf(directory, 'bulk') },
    ],
  })
  expect(reply.status).toBe(200)
  expect(reply.body.Operations).toMatchObject([
    { status: '503', response: { schemas: [ERROR], status: '503' } },
    { status: '201' },
  ])
})

it('a log that cannot be written changes nothing about the answer', async () => {
  await failAt('scim_request', 'disk_full')
  expect((await directory.call('POST', '/Users', personOf(directory, 'unlogged'))).status).toBe(201)
  expect((await directory.call('POST', '/Users', personOf(directory, 'unlogged'))).status).toBe(409)
})
