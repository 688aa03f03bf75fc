import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { insertProject } from '../projects/queries.ts'
import { s3 } from './fixture/bodies.ts'

let app: TestApp
let workspace: Workspace
let key: string
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
  key = workspace.owner.key
})
afterAll(() => app.close())

const base = (project_id = workspace.project.id) => `/api/projects/${project_id}/batch_exports/`
const file = (config: object) => ({ type: 'File', config })
const create = (name: string, destination: object, call = { key }, url = base()) =>
  app.post(url, { name, interval: 'hour', destination }, call)

describe('names of files', () => {
  it('400: of another live export of the project, which is named', async () => {
    const first = await create('First', file({ prefix: 'shared/{year}' }))
    expect(first.status).toBe(201)
    const second = await create('Second', file({ prefix: 'shared/2026' }))
    expect(second).toMatchObject({
      status: 400,
      body: { attr: 'destination__prefix', detail: expect.stringContaining('"First"') },
    })
    const other = await create('Other', file({ prefix: 'other' }))
    const url = `${base()}${other.body.id}/`
    const config = { prefix: 'shared/{month}{day}' }
    expect((await app.patch(url, { destination: { config } }, { key })).body.attr).toBe('destination__prefix')
    expect((await app.get(url, { key })).body.destination.config.prefix).toBe('other')
    expect((await app.patch(url, { name: 'Renamed' }, { key })).status).toBe(200)

    await app.delete(`${base()}${first.body.id}/`, { key })
    expect((await app.patch(url, { destination: { config } }, { key })).status).toBe(200)
  })

  it('201: each has a folder of its own unless told', async () => {
    const made = await Promise.all([create('A', file({})), create('B', file({}))])
    for (const { status, body } of made) {
      expect(status).toBe(201)
      expect(body.destination.config.prefix).toBe('{export_id}')
    }
  })

  it('one of two that are made at once is refused, also in two projects with one bucket', async () => {
    const { id } = await insertProject(app.db, workspace.organization.id, {}, app.services.now())
    const destination = s3(app, { prefix: 'at-once' })
    const replies = await Promise.all([
      create('One', destination),
      create('Two', destination, { key }, base(id)),
      create('Three', destination),
    ])
    expect(replies.map(({ status }) => String(status)).toSorted()).toEqual(['201', '400', '400'])
    const refused = replies.filter(({ status }) => status === 400)
    for (const { body } of refused)
      expect(body.detail).toMatch(/export ("(One|Three)"|[0-9a-f-]{36} of project \d+)\./)
  })

  it('201: another organization is neither asked about nor told of', async () => {
    const stranger = await createOrganization(app)
    const destination = s3(app, { prefix: 'strangers' })
    expect((await create('Ours', destination)).status).toBe(201)
    const theirs = await create('Theirs', destination, { key: stranger.owner.key }, base(stranger.project.id))
    expect(theirs.status).toBe(201)
  })
})
