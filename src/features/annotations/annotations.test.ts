import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { sql } from '../../platform/db/sql.ts'

let app: TestApp
let workspace: Workspace
let url: string
let key: string
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
  url = `/api/projects/${workspace.project.id}/annotations/`
  ;({ key } = workspace.owner)
})
afterAll(() => app.close())

const list = async (at = url) =>
  (await app.get(at, { key })).body.results.map(({ content }: { content: string }) => content)

describe('annotations', () => {
  it('are written, read, changed and taken away, and each change is in the activity log', async () => {
    const made = await app.post(url, { content: 'v1.0', date_marker: '2026-11-01T00:00:00Z' }, { key })
    expect(made).toMatchObject({
      status: 201,
      body: {
        content: 'v1.0',
        date_marker: '2026-11-01T00:00:00.000Z',
        scope: 'project',
        creation_type: 'USR',
        deleted: false,
        created_by: { email: workspace.owner.email },
        dashboard_item: null,
      },
    })
    const own = `${url}${made.body.id}/`
    expect((await app.get(own, { key })).body).toEqual(made.body)
    expect(await app.patch(own, { content: 'v1.0.1' }, { key })).toMatchObject({
      status: 200,
      body: { content: 'v1.0.1', date_marker: '2026-11-01T00:00:00.000Z' },
    })
    expect(await list()).toEqual(['v1.0.1'])
    expect((await app.patch(own, { deleted: true }, { key })).status).toBe(200)
    expect((await app.get(own, { key })).status).toBe(404)
    expect(await list()).toEqual([])
    const log = await app.db.rows<{ activity: string }>(
      sql`SELECT activity FROM activity_log WHERE scope = 'Annotation' ORDER BY position`,
    )
    expect(log.map(({ activity }) => activity)).toEqual(['created', 'updated', 'deleted'])
  })

  it('of the organization are shown in all its projects, and changed only where they were made', async () => {
    const projects = `/api/organizations/${workspace.organization.id}/projects/`
    const second = (await app.post(projects, { name: 'Second' }, { key })).body
    const elsewhere = `/api/projects/${second.id}/annotations/`
    await app.post(url, { content: 'own', date_marker: '2026-11-02T00:00:00Z' }, { key })
    const body = { content: 'everywhere', scope: 'organization', date_marker: '2026-11-03T00:00:00Z' }
    const { id } = (await app.post(url, body, { key })).body
    expect(await list(elsewhere)).toEqual(['everywhere'])
    expect(await list()).toEqual(['everywhere', 'own'])
    expect(await list(`${url}?search=OW`)).toEqual(['own'])
    expect(await list(`${url}?scope=organization`)).toEqual(['everywhere'])
    expect((await app.patch(`${elsewhere}${id}/`, { deleted: true }, { key })).status).toBe(403)
    const stranger = await createOrganization(app)
    const theirs = `/api/projects/${stranger.project.id}/annotations/`
    expect((await app.get(`${theirs}${id}/`, { key: stranger.owner.key })).status).toBe(404)
    expect((await app.get(theirs, { key: stranger.owner.key })).body.results).toEqual([])
  })

  it.each([
    [{ content: 'x'.repeat(401) }, 'content', 'max_length'],
    [{ date_marker: 'yesterday' }, 'date_marker', 'invalid_input'],
    [{ scope: 'galaxy' }, 'scope', 'invalid_choice'],
  ])('are refused when they are none: %j', async (body, attr, code) => {
    const before = await list()
    const reply = await app.post(url, body, { key })
    expect(reply).toMatchObject({ status: 400, body: { attr, code: expect.stringContaining(code) } })
    expect(await list()).toEqual(before)
  })
})
