// Sample data through HTTP: into an empty project, by normal ingestion, never beside events of its own.
// @module-tag slow
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMember, createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { sql } from '../../../platform/db/sql.ts'
import { fillWithSample, MAX_SAMPLE_EVENTS, SAMPLE_EVENTS } from './fill.ts'

let app: TestApp
beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.close())

const pathOf = ({ project }: Workspace) => `/api/projects/${project.id}/sample_data/`
const fill = (home: Workspace) => app.post(pathOf(home), {}, { key: home.owner.key })
/** Repeats leave positions without an event where several processes write. */
const stored = async ({ project: { id } }: Workspace) => {
  const { eventStore } = app.services
  const holes = await eventStore.holes(id)
  return holes.reduce((count, { from, to }) => count - (to - from), await eventStore.lastPosition(id))
}

async function rowsOf({ project, owner }: Workspace, query: string): Promise<unknown[][]> {
  const body = { query: { kind: 'HogQLQuery', query } }
  const reply = await app.post(`/api/projects/${project.id}/query/`, body, { key: owner.key })
  expect(reply.status).toBe(200)
  return reply.body.results
}

async function isFilled(home: Workspace, count: number): Promise<void> {
  await expect.poll(() => stored(home)).toBe(count)
  // The job itself has ended, too.
  await expect.poll(() => app.services.jobs.countWaiting()).toEqual({})
  expect(await stored(home)).toBe(count)
}

describe('POST sample_data', () => {
  it('202: events of the last days come by way of ingestion, with their people, and nowhere else', async () => {
    const [home, other] = [await createOrganization(app), await createOrganization(app)]
    const reply = await fill(home)
    expect([reply.status, reply.body]).toEqual([202, { events: SAMPLE_EVENTS }])
    await isFilled(home, SAMPLE_EVENTS)
    const [[count, people, marked, late]] = (await rowsOf(
      home,
      `select count(), uniq(person_id), countIf(properties.$sample_data = 'true'), countIf(timestamp > now()) from events`,
    )) as [number[]]
    expect([count, marked, late]).toEqual([SAMPLE_EVENTS, SAMPLE_EVENTS, 0])
    expect(people).toBeGreaterThan(20)
    const person = await app.db.row(sql`SELECT FROM person WHERE project_id = ${home.project.id} LIMIT 1`)
    expect(person).toBeDefined()
    const project = await app.get(`/api/projects/${home.project.id}/`, { key: home.owner.key })
    expect(project.body.ingested_event).toBe(true)
    expect(await stored(other)).toBe(0)
    const log = await app.db.rows<{ detail: { changes: { field: string }[] } }>(
      sql`SELECT detail FROM activity_log WHERE project_id = ${home.project.id} AND activity = 'updated'`,
    )
    expect(log.map(({ detail }) => detail.changes[0]!.field)).toEqual(['sample_data'])
  })

  it('202 again beside sample events alone, 409 when there is enough of it', async () => {
    const home = await createOrganization(app)
    for (let round = 1; round * SAMPLE_EVENTS <= MAX_SAMPLE_EVENTS; round++) {
      expect((await fill(home)).status).toBe(202)
      await isFilled(home, round * SAMPLE_EVENTS)
    }
    const reply = await fill(home)
    expect([reply.status, reply.body.code]).toEqual([409, 'project_has_events'])
  })

  it('requests at once bring no more than one after the other would', async () => {
    const home = await createOrganization(app)
    const replies = await Promise.all(Array.from({ length: 6 }, () => fill(home)))
    expect(replies.map(({ status }) => status)).toEqual(Array(6).fill(202))
    await isFilled(home, MAX_SAMPLE_EVENTS)
  })

  it('409 beside an event of its own, and none is stored; nor by a job that was asked for before', async () => {
    const home = await createOrganization(app)
    const { api_token, id } = home.project
    await app.post('/capture/', { api_key: api_token, event: 'real', distinct_id: 'ann' })
    const reply = await fill(home)
    expect([reply.status, reply.body.code]).toEqual([409, 'project_has_events'])
    await fillWithSample.handle(
      app.services,
      { project_id: id, seed: 1, end: new Date().toISOString() },
      new Date(),
    )
    expect(await stored(home)).toBe(1)
    expect(await app.services.jobs.countWaiting()).toEqual({})
  })

  it('a job that is done again stores nothing twice', async () => {
    const home = await createOrganization(app)
    const data = { project_id: home.project.id, seed: 7, end: new Date().toISOString() }
    for (let tries = 0; tries < 2; tries++) await fillWithSample.handle(app.services, data, new Date())
    expect(await stored(home)).toBe(SAMPLE_EVENTS)
  })

  it('403 for a member below admin', async () => {
    const home = await createOrganization(app)
    const member = await createMember(app, home.organization)
    expect((await app.post(pathOf(home), {}, { key: member.key })).status).toBe(403)
    expect(await stored(home)).toBe(0)
  })

  it('nothing of a project that was deleted meanwhile', async () => {
    const data = { project_id: 999_999, seed: 7, end: new Date().toISOString() }
    await fillWithSample.handle(app.services, data, new Date())
    expect(await app.services.eventStore.lastPosition(999_999)).toBe(0)
  })
})
