// A thousand domains with a directory each: what a sign-in and what a directory's request reads does not grow with them. Tables
// that are read from one end to the other show in PostgreSQL's own figures.
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  createDirectory,
  GROUP_SCHEMA,
  patchOf,
  personOf,
  type TestDirectory,
} from '../../src/features/scim/fixture/directory.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { startTestApp, type TestApp } from '../harness/app.ts'
import { mapHosts } from '../stand-ins/mapped-outbound.ts'
import { startOpenidProvider, type OpenidProvider } from '../stand-ins/openid-provider.ts'
import { HttpBrowser, SITE } from './http-browser.ts'

const TABLES = [
  'app_user',
  'membership',
  'domain',
  'identity',
  'scim_user',
  'scim_group',
  'scim_group_member',
  'scim_request',
  'sign_in_attempt',
  'sign_in_record',
  'session',
]

let openid: OpenidProvider
let app: TestApp
let directory: TestDirectory
beforeAll(async () => {
  openid = await startOpenidProvider({ issuer: 'https://idp.example' })
  app = await startTestApp()
  app.services.outbound = mapHosts({ 'idp.example': `http://127.0.0.1:${openid.port}` })
  directory = await createDirectory(app)
  const settings = {
    jit_provisioning_enabled: true,
    oidc_issuer: openid.issuer,
    oidc_client_id: openid.client_id,
    oidc_client_secret: app.canary.plant('client secret', openid.client_secret),
  }
  const path = directory.admin.replace(/scim\/$/, '')
  expect((await app.patch(path, settings, { key: directory.workspace.owner.key })).status).toBe(200)
  await fill()
}, 600_000)
afterAll(async () => {
  await app.close()
  await openid.close()
})

/** A thousand others, each with ten people, ten groups, and logs. */
async function fill(): Promise<void> {
  const run = (text: string) => app.db.pool.query(text)
  await run(`INSERT INTO organization SELECT (jsonb_populate_record(organization, jsonb_build_object('id', gen_random_uuid(),
    'name', 'Org ' || n, 'slug', 'org-' || n))).* FROM organization, generate_series(1, 1000) n
    WHERE organization.id = '${directory.workspace.organization.id}'`)
  await run(`INSERT INTO domain (id, organization_id, domain, verification_challenge, verified_at, created_at, updated_at)
    SELECT gen_random_uuid(), id, slug || '.example', 'x', now(), now(), now() FROM organization WHERE slug LIKE 'org-%'`)
  await run(`INSERT INTO app_user (uuid, distinct_id, email, date_joined)
    SELECT gen_random_uuid(), 'd' || n, 'p' || n || '@org-' || (n % 1000 + 1) || '.example', now()
    FROM generate_series(1, 10000) n`)
  const people = `(SELECT app_user.id AS user_id, domain.id AS domain_id, organization_id, email
    FROM app_user JOIN domain ON domain = split_part(email, '@', 2)) AS person`
  await run(`INSERT INTO membership (id, organization_id, user_id, level, joined_at, updated_at)
    SELECT gen_random_uuid(), organization_id, user_id, 1, now(), now() FROM ${people}`)
  await run(`INSERT INTO scim_user (id, domain_id, organization_id, user_id, user_name, external_id, resource, created_at,
      updated_at)
    SELECT gen_random_uuid(), domain_id, organization_id, user_id, email, 'x' || user_id, jsonb_build_object('emails',
      jsonb_build_array(jsonb_build_object('value', email, 'type', 'work'))), now(), now() FROM ${people}`)
  await run(`INSERT INTO identity (id, user_id, provider, issuer, subject, domain_id, created_at, last_used_at)
    SELECT gen_random_uuid(), user_id, 'oidc', 'https://idp.example', email, domain_id, now(), now() FROM ${people}`)
  await run(`INSERT INTO scim_group (id, domain_id, organization_id, display_name, created_at, updated_at)
    SELECT gen_random_uuid(), id, organization_id, 'Group ' || n, now(), now() FROM domain, generate_series(1, 10) n`)
  await run(`INSERT INTO scim_request (domain_id, created_at, method, path, status, duration_ms)
    SELECT id, now(), 'GET', '/Users', 200, 1 FROM domain, generate_series(1, 10) n`)
  await run(`INSERT INTO sign_in_record (id, domain_id, provider, purpose, outcome, ip, checks, received, created_at)
    SELECT gen_random_uuid(), id, 'oidc', 'sign-in', 'signed_in', '', '[]', '{}', now() FROM domain, generate_series(1, 10) n`)
  await run('ANALYZE')
}

/** Rows that were read by going through a whole table, so far. */
async function readWhole(): Promise<Record<string, number>> {
  // A connection tells its figures ten seconds after its last statement at the latest.
  await new Promise((resolve) => setTimeout(resolve, 12_000))
  const rows = await app.db.rows<{ relname: string; seq_tup_read: string }>(sql`
    SELECT relname, seq_tup_read FROM pg_stat_user_tables WHERE relname = ANY(${TABLES})`)
  return Object.fromEntries(rows.map(({ relname, seq_tup_read }) => [relname, Number(seq_tup_read)]))
}

it('neither a sign-in nor a request of a directory goes through a table', async () => {
  const { domain } = directory
  const filtered = (type: string, filter: string) =>
    directory.call('GET', `/${type}?filter=${encodeURIComponent(filter)}`)
  const before = await readWhole()

  const browser = new HttpBrowser(app)
  for (const times of [1, 2]) {
    const { headers } = await browser.call(`/login/oidc/?email=new@${domain}`)
    const person = { sub: 'new', email: `new@${domain}`, email_verified: true }
    const back = openid.signIn(String(headers.location), person)
    expect([times, (await browser.go(back.href)).url.href]).toEqual([times, `${SITE}/`])
  }
  const me = await app.get('/api/users/@me/', { session: browser.session! })
  expect(me.body.email).toBe(`new@${domain}`)
  await app.post('/api/login/precheck/', { email: `p7@org-8.example` })

  const made = await directory.call('POST', '/Users', personOf(directory, 'kim', { externalId: 'k' }))
  expect(made.status).toBe(201)
  const { id } = made.body
  for (const filter of [
    `userName eq "kim@${domain}"`,
    'externalId eq "k"',
    `id eq "${id}"`,
    `emails.value eq "kim@${domain}"`,
    `emails[type eq "work"].value eq "kim@${domain}"`,
    'active eq true',
    'name.familyName sw "d"',
  ])
    expect([filter, (await filtered('Users', filter)).body.totalResults]).toEqual([filter, 1])
  const group = await directory.call('POST', '/Groups', {
    schemas: [GROUP_SCHEMA],
    displayName: 'All',
    members: [{ value: id }],
  })
  expect((await filtered('Groups', 'displayName eq "all"')).body.totalResults).toBe(1)
  await directory.call('PATCH', `/Users/${id}`, patchOf({ op: 'replace', path: 'active', value: false }))
  await directory.call('DELETE', `/Groups/${group.body.id}`)
  expect((await directory.call('DELETE', `/Users/${id}`)).status).toBe(204)
  const admin = { key: directory.workspace.owner.key }
  for (const path of ['', 'requests/', 'groups/']) await app.get(`${directory.admin}${path}`, admin)
  await app.get(`${directory.admin.replace(/scim\/$/, '')}sign_ins/`, admin)

  const after = await readWhole()
  const grown = TABLES.map((table) => [table, after[table]! - before[table]!] as const)
  expect(grown.filter(([, rows]) => rows > 1_000)).toEqual([])
}, 600_000)
