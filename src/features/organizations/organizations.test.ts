import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMember, createOrganization, createUser, createKey, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'

let app: TestApp
let workspace: Workspace
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app, { name: 'Acme Größe' })
})
afterAll(() => app.close())

describe('GET /api/organizations/:id/', () => {
  it('200 gives exactly the fields of the API', async () => {
    const reply = await app.get(`/api/organizations/${workspace.organization.id}/`, { key: workspace.owner.key })
    expect(reply.status).toBe(200)
    expect(reply.body).toMatchObject({ name: 'Acme Größe', slug: 'acme-grosse', membership_level: 15, member_count: '1' })
  })

  it('404 for a stranger, an unknown id and a malformed one', async () => {
    const stranger = await createUser(app)
    for (const id of [workspace.organization.id, '00000000-0000-7000-8000-000000000000', 'nonsense']) {
      const reply = await app.get(`/api/organizations/${id}/`, { key: stranger.key })
      expect(reply.status).toBe(404)
    }
  })
})

describe('DELETE /api/organizations/:id/', () => {
  it('403 for an admin, and the organization stays', async () => {
    const admin = await createMember(app, workspace.organization, { level: 'admin' })
    const key = await createKey(app, admin, { scopes: ['organization:write'] })
    expect((await app.delete(`/api/organizations/${workspace.organization.id}/`, { key })).status).toBe(403)
    expect((await app.get(`/api/organizations/${workspace.organization.id}/`, { key: admin.key })).status).toBe(200)
  })
})
