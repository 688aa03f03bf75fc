// The requests of PostHog's Terraform provider, in its order and read as it reads them: project, role, role membership,
// default access, access of a role and of a member. Written from the provider's source; a field it declares as text must
// be text or null, or it fails to read the whole answer.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createKey, createMember, createOrganization, type TestUser, type Workspace } from './factories.ts'
import { startTestApp, type TestApp } from './harness/app.ts'

let app: TestApp
let workspace: Workspace
let member: TestUser
let key: string
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app, { name: 'Acme' })
  member = await createMember(app, workspace.organization)
  key = await createKey(app, workspace.owner, {
    scopes: ['organization:write', 'organization_member:write', 'project:write', 'access_control:write'],
  })
})
afterAll(() => app.close())

type Body = Record<string, unknown>

/** As its client sends: 2xx or the resource fails. */
async function send(method: string, path: string, body?: Body) {
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'posthog/terraform-provider; version: 1',
  }
  const reply = await app.call(method, path, { key, headers, ...(body ? { body } : {}) })
  expect(reply.status, `${method} ${path}: ${reply.body?.detail}`).toBeLessThan(300)
  return reply.body
}

/** Fields that Go reads into a `*string`. */
function expectTexts(body: Body, fields: readonly string[]): void {
  for (const field of fields)
    expect([field, body[field] ?? null]).toEqual([
      field,
      body[field] === undefined || body[field] === null ? null : expect.any(String),
    ])
}

/** It follows `next` to the end. */
async function listAll(path: string): Promise<Body[]> {
  const all: Body[] = []
  for (let next: string | null = path; next;) {
    const { pathname, search } = new URL(next, 'http://longshore.test')
    const page: { results: Body[]; next: string | null } = await send('GET', pathname + search)
    all.push(...page.results)
    next = page.next
  }
  return all
}

/** What is configured, then something else of everything, then one field alone: those left out stay as they are. */
const SETTINGS = [
  {
    heatmaps_opt_in: true,
    autocapture_exceptions_opt_in: true,
    session_recording_opt_in: true,
    surveys_opt_in: true,
    cookieless_server_hash_mode: 2,
    autocapture_web_vitals_opt_in: true,
    app_urls: ['https://shop.example', 'https://a.example'],
    recording_domains: ['https://shop.example'],
  },
  {
    heatmaps_opt_in: false,
    autocapture_exceptions_opt_in: false,
    session_recording_opt_in: false,
    surveys_opt_in: false,
    cookieless_server_hash_mode: 0,
    autocapture_web_vitals_opt_in: false,
    app_urls: [],
    recording_domains: [],
  },
  { surveys_opt_in: true },
]

it('applies, refreshes, changes and destroys a project with its roles and access', async () => {
  // The organization may be named by its slug.
  const organizations = await listAll('/api/organizations/?limit=1')
  const organization = organizations.find(({ slug }) => slug === workspace.organization.slug)!
  const below = `/api/organizations/${String(organization.id)}/`
  expect((await send('GET', '/api/organizations/@current/')).id).toBe(organization.id)

  // data "posthog_user"
  const members = await listAll(`${below}members/?limit=1`)
  const found = members.find(({ user }) => (user as Body).email === member.email)!

  // resource "posthog_organization_member": found in the list, then changed by the uuid of the user
  for (const level of [8, 1]) {
    const changed = await send('PATCH', `${below}members/${member.uuid}/`, { level })
    expect(changed).toMatchObject({ level, user: { uuid: member.uuid } })
    expectTexts(changed, ['id', 'joined_at'])
    expect((await listAll(`${below}members/`)).find(({ id }) => id === found.id)).toEqual(changed)
  }

  // resource "posthog_project"
  const project = await send('POST', `${below}projects/`, { name: 'Shop', timezone: 'Europe/Berlin' })
  expectTexts(project, ['name', 'organization', 'api_token', 'timezone'])
  expect(await send('GET', `${below}projects/${project.id}/`)).toEqual(project)

  // resource "posthog_project_settings": what it sets must come back, or the provider calls the result inconsistent.
  const environment = `/api/environments/${project.id}/`
  for (const wanted of SETTINGS) {
    const settings = await send('PATCH', environment, wanted)
    expect(settings).toMatchObject({ id: project.id, ...wanted })
    expect(await send('GET', environment)).toEqual(settings)
    expect(await send('GET', `${below}projects/${project.id}/`)).toEqual(settings)
  }

  // resource "posthog_role"
  const role = await send('POST', `${below}roles/`, { name: 'Analysts' })
  expectTexts(role, ['id', 'name', 'created_at', 'created_by'])
  expect(await send('GET', `${below}roles/${role.id}/`)).toEqual(role)
  expect((await listAll(`${below}roles/`)).map(({ name }) => name)).toEqual(['Analysts'])
  expect((await send('PATCH', `${below}roles/${role.id}/`, { name: 'Data' })).name).toBe('Data')

  // resource "posthog_role_membership"
  const memberships = `${below}roles/${role.id}/role_memberships/`
  const given = await send('POST', memberships, { user_uuid: member.uuid })
  expectTexts(given, ['id', 'role_id', 'joined_at'])
  expectTexts(given.user, ['uuid', 'email'])
  expect(await send('GET', `${memberships}${given.id}/`)).toEqual(given)

  // resource "posthog_project_default_access": written, then read back from the list.
  const controls = `/api/projects/${project.id}/access_controls/`
  const list = async () => (await send('GET', controls)).access_controls as Body[]
  const everybody = async () =>
    (await list()).find(({ role, organization_member }) => !role && !organization_member)
  for (const access_level of ['member', 'none']) {
    expectTexts(await send('PUT', controls, { access_level }), CONTROL_TEXTS)
    expect((await everybody())?.access_level).toBe(access_level)
  }
  const reaches = async () => (await app.get(`/api/projects/${project.id}/`, { key: member.key })).status
  expect(await reaches()).toBe(404)

  // resource "posthog_project_member", of a role and of a member
  const subjects = [{ role: role.id as string }, { organization_member: found.id as string }]
  for (const subject of subjects) {
    expectTexts(await send('PUT', controls, { access_level: 'admin', ...subject }), CONTROL_TEXTS)
    expect((await list()).filter((row) => matches(row, subject))).toMatchObject([{ access_level: 'admin' }])
    expect(await reaches()).toBe(200)
  }

  // terraform destroy, in the reverse order
  for (const subject of subjects.toReversed()) await send('PUT', controls, { access_level: null, ...subject })
  expect(await list()).toHaveLength(1)
  expect(await reaches()).toBe(404)
  await send('PUT', controls, { access_level: 'none' })
  await send('DELETE', `${memberships}${given.id}/`)
  await send('DELETE', `${below}roles/${role.id}/`)
  await send('DELETE', `${below}projects/${project.id}/`)
  // What is gone must be 404: the provider then plans to make it again.
  const gone = [
    `${memberships}${given.id}/`,
    `${below}roles/${role.id}/`,
    `${below}projects/${project.id}/`,
    controls,
  ]
  for (const path of gone) expect((await app.get(path, { key })).status).toBe(404)
})

const CONTROL_TEXTS = [
  'access_level',
  'resource',
  'resource_id',
  'organization_member',
  'role',
  'created_by',
  'created_at',
  'updated_at',
]

const matches = (row: Body, subject: Body) =>
  Object.entries(subject).every(([field, value]) => row[field] === value)
