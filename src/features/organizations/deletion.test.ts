// What goes with an organization, what stays, and what others see who were in the middle of something.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createKey,
  createMember,
  createOrganization,
  createServiceKey,
  createUser,
  secretOf,
  type TestUser,
  type Workspace,
} from '../../../test/factories.ts'
import { startTestApp, type Reply, type TestApp } from '../../../test/harness/app.ts'
import { sql, type Statement } from '../../platform/db/sql.ts'
import { LEVELS } from '../../platform/http/caller.ts'
import { findBrokenEntry } from '../activity-log/chain.ts'
import { insertMembership } from '../members/queries.ts'

let app: TestApp
beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.close())

const pathOf = (id: string) => `/api/organizations/${id}/`

async function rowsOf(organizationId: string): Promise<Record<string, number>> {
  return app.db.only(sql`
    SELECT
      (SELECT count(*)::int FROM organization WHERE id = ${organizationId}) AS organization,
      (SELECT count(*)::int FROM membership WHERE organization_id = ${organizationId}) AS membership,
      (SELECT count(*)::int FROM project WHERE organization_id = ${organizationId}) AS project,
      (SELECT count(*)::int FROM invite WHERE organization_id = ${organizationId}) AS invite,
      (SELECT count(*)::int FROM domain WHERE organization_id = ${organizationId}) AS domain,
      (SELECT count(*)::int FROM api_key WHERE organization_id = ${organizationId}) AS service_key`)
}

/** An organization with two projects, two members beside its owner, an invite, a domain and a service key. */
async function createFullOrganization(name: string) {
  const workspace = await createOrganization(app, { name })
  const { organization, owner } = workspace
  const path = pathOf(organization.id)
  const member = await createMember(app, organization)
  await createMember(app, organization, { level: 'admin' })
  await app.post(`${path}projects/`, { name: 'Second' }, { key: owner.key })
  const invite = await app.post(`${path}invites/`, { target_email: 'late@example.com' }, { key: owner.key })
  const domain = `${organization.slug}.example`
  expect((await app.post(`${path}domains/`, { domain }, { key: owner.key })).status).toBe(201)
  const service_key = await createServiceKey(app, organization, { scopes: ['*'] })
  return { ...workspace, member, invite_secret: secretOf(invite.body), domain, service_key }
}

const current = async (user: TestUser) => {
  const { body } = await app.get('/api/users/@me/', { key: user.key })
  return { organization: body.organization?.id ?? null, team: body.team?.id ?? null }
}

describe('DELETE /api/organizations/:id/', () => {
  it('204 for an owner, with a key or a session; then 404', async () => {
    for (const credential of ['key', 'session'] as const) {
      const { organization, owner } = await createOrganization(app)
      const reply = await app.delete(pathOf(organization.id), { [credential]: owner[credential] })
      expect(reply).toMatchObject({ status: 204, body: null })
      expect((await app.get(pathOf(organization.id), { key: owner.key })).status).toBe(404)
      expect((await app.delete(pathOf(organization.id), { key: owner.key })).status).toBe(404)
      expect((await app.get(`${pathOf(organization.id)}members/`, { key: owner.key })).status).toBe(404)
    }
  })

  it('204 for a second owner too', async () => {
    const { organization } = await createOrganization(app)
    const other = await createMember(app, organization, { level: 'owner' })
    expect((await app.delete(pathOf(organization.id), { key: other.key })).status).toBe(204)
  })

  it('403 for an admin, a member and a service key, 404 for a stranger; all of it stays', async () => {
    const { organization } = await createOrganization(app)
    const admin = await createMember(app, organization, { level: 'admin' })
    const member = await createMember(app, organization)
    const service = await createServiceKey(app, organization, { scopes: ['*'] })
    const stranger = (await createOrganization(app)).owner
    const before = await rowsOf(organization.id)
    for (const key of [admin.key, member.key, service]) {
      const reply = await app.delete(pathOf(organization.id), { key })
      expect(reply).toMatchObject({ status: 403, body: { code: 'permission_denied' } })
    }
    expect((await app.delete(pathOf(organization.id), { key: stranger.key })).status).toBe(404)
    expect(await rowsOf(organization.id)).toEqual(before)
  })

  it('403 with the read scope only', async () => {
    const { organization, owner } = await createOrganization(app)
    const key = await createKey(app, owner, { scopes: ['organization:read', 'organization_member:write'] })
    expect((await app.delete(pathOf(organization.id), { key })).status).toBe(403)
  })

  it('204 takes memberships, invites, domains, projects and service keys along, and nobody else’s', async () => {
    const bystander = await createFullOrganization('Bystander')
    const gone = await createFullOrganization('Gone Soon')
    const untouched = await rowsOf(bystander.organization.id)
    expect(await rowsOf(gone.organization.id)).toEqual({
      organization: 1,
      membership: 3,
      project: 2,
      invite: 1,
      domain: 1,
      service_key: 1,
    })
    expect((await app.delete(pathOf(gone.organization.id), { key: gone.owner.key })).status).toBe(204)
    expect(await rowsOf(gone.organization.id)).toEqual({
      organization: 0,
      membership: 0,
      project: 0,
      invite: 0,
      domain: 0,
      service_key: 0,
    })
    expect(await rowsOf(bystander.organization.id)).toEqual(untouched)
  })

  it('204 ends at once what led into it: service key, project path, invite link', async () => {
    const gone = await createFullOrganization('Closed Doors')
    await app.delete(pathOf(gone.organization.id), { key: gone.owner.key })
    const byService = await app.get('/api/organizations/', { key: gone.service_key })
    expect(byService).toMatchObject({ status: 401, body: { code: 'authentication_failed' } })
    expect((await app.get(`/api/projects/${gone.project.id}/`, { key: gone.owner.key })).status).toBe(404)
    expect(
      (await app.get(`/api/projects/${gone.project.id}/activity_log/`, { key: gone.owner.key })).status,
    ).toBe(404)
    expect((await app.get(`/api/signup/${gone.invite_secret}/`)).status).toBe(400)
  })

  it('204 frees the slug and the domain for others', async () => {
    const gone = await createFullOrganization('Free Names')
    await app.delete(pathOf(gone.organization.id), { key: gone.owner.key })
    const { organization, owner } = await createOrganization(app, { name: 'Free Names' })
    expect(organization.slug).toBe('free-names')
    const claim = await app.post(
      `${pathOf(organization.id)}domains/`,
      { domain: gone.domain },
      { key: owner.key },
    )
    expect(claim.status).toBe(201)
  })

  it('204 leaves users, their sessions and keys, and their other memberships', async () => {
    const gone = await createFullOrganization('Survivors')
    const limited = await createKey(app, gone.member, {
      scopes: ['*'],
      scoped_organizations: [gone.organization.id],
    })
    const other = (await app.post('/api/organizations/', { name: 'Still here' }, { key: gone.member.key }))
      .body
    await app.delete(pathOf(gone.organization.id), { key: gone.owner.key })
    for (const user of [gone.owner, gone.member]) {
      expect((await app.get('/api/users/@me/', { key: user.key })).status).toBe(200)
      expect((await app.get('/api/users/@me/', { session: user.session })).status).toBe(200)
    }
    const { organizations } = (await app.get('/api/users/@me/', { key: gone.member.key })).body
    expect(organizations).toEqual([
      {
        id: other.id,
        name: 'Still here',
        slug: other.slug,
        membership_level: 15,
        members_can_use_personal_api_keys: true,
      },
    ])
    expect(
      (await app.get('/api/personal_api_keys/@current/', { key: limited })).body.scoped_organizations,
    ).toEqual([gone.organization.id])
  })

  it("204 moves everybody's current organization on: to the first one left, or to none", async () => {
    const { organization, owner } = await createOrganization(app)
    const member = await createMember(app, organization)
    const first = (await app.post('/api/organizations/', { name: 'First' }, { key: member.key })).body
    app.advance(1000)
    await app.post('/api/organizations/', { name: 'Second' }, { key: member.key })
    await app.patch('/api/users/@me/', { set_current_organization: organization.id }, { key: member.key })
    const looking = await createMember(app, organization)
    const elsewhere = (await app.post('/api/organizations/', { name: 'Elsewhere' }, { key: looking.key }))
      .body
    expect((await app.delete(pathOf(organization.id), { key: owner.key })).status).toBe(204)
    expect(await current(member)).toEqual({ organization: first.id, team: first.teams[0].id })
    expect(await current(looking)).toEqual({ organization: elsewhere.id, team: elsewhere.teams[0].id })
    expect(await current(owner)).toEqual({ organization: null, team: null })
    expect((await app.get('/api/organizations/@current/', { key: owner.key })).status).toBe(404)
    expect((await app.get('/api/organizations/@current/', { key: member.key })).body.id).toBe(first.id)
    expect((await app.get('/api/projects/@current/', { key: member.key })).body.id).toBe(first.teams[0].id)
  })

  it('204 keeps the log of what was, and adds the deletion to its chain', async () => {
    const { organization, owner } = await createFullOrganization('Remembered')
    await app.delete(pathOf(organization.id), { key: owner.key })
    const entries = await app.db.rows<{
      scope: string
      activity: string
      user_id: number
      detail: { name: string }
    }>(
      sql`SELECT scope, activity, user_id, detail FROM activity_log WHERE organization_id = ${organization.id} ORDER BY position`,
    )
    expect(entries[0]).toMatchObject({ scope: 'Organization', activity: 'created' })
    expect(entries.at(-1)).toEqual({
      scope: 'Organization',
      activity: 'deleted',
      user_id: owner.id,
      detail: { name: 'Remembered', changes: [] },
    })
    expect(await findBrokenEntry(app.db)).toBeNull()
  })
})

describe('while an organization goes', () => {
  /** Locks, lets every request run until it waits for that lock, changes, and lets go. */
  async function inTheMiddleOf(
    lock: Statement,
    requests: (() => Promise<Reply>)[],
    change?: Statement,
  ): Promise<Reply[]> {
    const replies: Promise<Reply>[] = []
    await app.db.transaction(async (tx) => {
      await tx.run(lock)
      replies.push(...requests.map((request) => request()))
      await expect.poll(countWaiting).toBe(requests.length)
      if (change) await tx.run(change)
    })
    return Promise.all(replies)
  }

  async function countWaiting(): Promise<number> {
    const { count } = await app.db.only<{ count: number }>(sql`
      SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
    return count
  }

  const lockAll = (id: string) =>
    sql`SELECT FROM organization JOIN membership ON organization_id = organization.id WHERE organization.id = ${id} FOR UPDATE`
  const goes = (id: string) => sql`DELETE FROM organization WHERE id = ${id}`

  const writes: Record<string, (w: Workspace & { member: TestUser; path: string }) => Promise<Reply>> = {
    'PATCH organization': ({ path, owner }) => app.patch(path, { name: 'Too late' }, { key: owner.key }),
    'PATCH {} organization': ({ path, owner }) => app.patch(path, {}, { key: owner.key }),
    'DELETE organization': ({ path, owner }) => app.delete(path, { key: owner.key }),
    'POST project': ({ path, owner }) => app.post(`${path}projects/`, {}, { key: owner.key }),
    'POST project with an Idempotency-Key': ({ path, owner }) =>
      app.post(`${path}projects/`, {}, { key: owner.key, headers: { 'idempotency-key': 'late' } }),
    'POST invite': ({ path, owner }) =>
      app.post(`${path}invites/`, { target_email: 'a@example.com' }, { key: owner.key }),
    'POST domain': ({ path, owner }) =>
      app.post(`${path}domains/`, { domain: 'late.example' }, { key: owner.key }),
    'POST service key': ({ path, owner }) =>
      app.post(`${path}service_keys/`, { label: 'late', scopes: ['*'] }, { key: owner.key }),
    'PATCH member': ({ path, owner, member }) =>
      app.patch(`${path}members/${member.uuid}/`, { level: 8 }, { key: owner.key }),
    'DELETE member': ({ path, owner, member }) =>
      app.delete(`${path}members/${member.uuid}/`, { key: owner.key }),
    'DELETE oneself': ({ path, member }) => app.delete(`${path}members/@me/`, { key: member.key }),
  }

  it.each(Object.keys(writes))('404 for whoever is in the middle of a %s', async (name) => {
    const workspace = await createOrganization(app)
    const { id } = workspace.organization
    const member = await createMember(app, workspace.organization)
    const request = () => writes[name]!({ ...workspace, member, path: pathOf(id) })
    const [reply] = await inTheMiddleOf(lockAll(id), [request], goes(id))
    expect(reply).toMatchObject({ status: 404, body: { code: 'not_found' } })
    expect(await rowsOf(id)).toMatchObject({
      organization: 0,
      membership: 0,
      project: 0,
      invite: 0,
      domain: 0,
    })
    const entries = await app.db.rows(sql`
      SELECT activity FROM activity_log WHERE organization_id = ${id} AND activity <> 'created'`)
    expect(entries).toEqual([])
  })

  it('404 for whoever changes or deletes a project of it', async () => {
    const { organization, owner, project } = await createOrganization(app)
    const path = `/api/projects/${project.id}/`
    const replies = await inTheMiddleOf(
      sql`SELECT FROM project WHERE id = ${project.id} FOR UPDATE`,
      [
        () => app.patch(path, { name: 'Too late' }, { key: owner.key }),
        () => app.delete(path, { key: owner.key }),
        () => app.patch(`${path}reset_token/`, {}, { key: owner.key }),
      ],
      goes(organization.id),
    )
    expect(replies.map(({ status }) => status)).toEqual([404, 404, 404])
  })

  it('204 once, 404 for the other, when two owners delete at once', async () => {
    const { organization, owner } = await createOrganization(app)
    const other = await createMember(app, organization, { level: 'owner' })
    const replies = await inTheMiddleOf(
      lockAll(organization.id),
      [owner, other].map((user) => () => app.delete(pathOf(organization.id), { key: user.key })),
    )
    expect(replies.map(({ status }) => status).sort((a, b) => a - b)).toEqual([204, 404])
    const deletions = await app.db.rows(sql`
      SELECT FROM activity_log WHERE organization_id = ${organization.id} AND activity = 'deleted'`)
    expect(deletions).toHaveLength(1)
  })

  it('204, although the one its people would move to goes too; they move past it', async () => {
    const { organization, owner } = await createOrganization(app)
    const next = await createOrganization(app)
    const last = await createOrganization(app)
    const member = await createUser(app)
    for (const { id } of [organization, next.organization, last.organization]) {
      app.advance(1000)
      await insertMembership(app.db, id, member.id, LEVELS.member, app.services.now())
    }
    await app.patch('/api/users/@me/', { set_current_organization: organization.id }, { key: member.key })
    const reply = await app.db.transaction(async (tx) => {
      await tx.run(goes(next.organization.id))
      return app.delete(pathOf(organization.id), { key: owner.key })
    })
    expect(reply.status).toBe(204)
    expect((await current(member)).organization).toBe(last.organization.id)
  })

  it('204 twice, when two go at once whose people would move to each other', async () => {
    const left = await createOrganization(app)
    const right = await createOrganization(app)
    for (const [home, away] of [
      [left, right],
      [right, left],
    ] as const) {
      const user = await createMember(app, home.organization)
      await insertMembership(app.db, away.organization.id, user.id, LEVELS.member, app.services.now())
    }
    const replies = await inTheMiddleOf(
      sql`SELECT FROM organization WHERE id IN (${left.organization.id}, ${right.organization.id}) FOR UPDATE`,
      [left, right].map(
        ({ organization, owner }) =>
          () =>
            app.delete(pathOf(organization.id), { key: owner.key }),
      ),
    )
    expect(replies.map(({ status }) => status)).toEqual([204, 204])
  })

  it('a storm of writes ends in 404, never in 500', async () => {
    const workspace = await createOrganization(app)
    const { id } = workspace.organization
    const member = await createMember(app, workspace.organization)
    const storm = Object.entries(writes).flatMap(([name, write]) =>
      ['DELETE organization', 'DELETE oneself'].includes(name) ? [] : [write, write],
    )
    const around = storm.map((write) => write({ ...workspace, member, path: pathOf(id) }))
    const deletion = app.delete(pathOf(id), { key: workspace.owner.key })
    const replies = await Promise.all(around)
    expect((await deletion).status).toBe(204)
    expect(replies.filter(({ status }) => status >= 500)).toEqual([])
    expect(await rowsOf(id)).toEqual({
      organization: 0,
      membership: 0,
      project: 0,
      invite: 0,
      domain: 0,
      service_key: 0,
    })
    expect(await findBrokenEntry(app.db)).toBeNull()
  })
})
