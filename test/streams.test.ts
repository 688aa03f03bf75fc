// What holds for every stream, over real connections: how many there may be, who may go on, and that none holds up others.
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openPlace, store, type Place } from '../src/features/events/listing/fixture/events.ts'
import { sql } from '../src/platform/db/sql.ts'
import { createKey, createMember, createOrganization, createServiceKey } from './factories.ts'
import { startTestApp, type TestApp } from './harness/app.ts'
import { listen, openStream, type OpenedStream } from './harness/stream.ts'
import { until } from './harness/until.ts'

let app: TestApp
let origin: string
beforeAll(async () => {
  app = await startTestApp()
  origin = await listen(app)
})
afterAll(() => app.close())

const urlOf = (project_id: number) => `${origin}/api/projects/${project_id}/events/stream/`
const open = ({ project_id, key }: Place) => openStream(urlOf(project_id), { key })
const openCount = async () => {
  const text = await (await fetch(`${origin}/metrics`)).text()
  const counts = [...text.matchAll(/^longshore_open_streams\{.*\} (\d+)$/gm)]
  return counts.reduce((sum, [, count]) => sum + Number(count), 0)
}
const untilOpen = (count: number) => until(async () => expect(await openCount()).toBe(count))
const closeAll = async (streams: readonly OpenedStream[]) => {
  for (const stream of streams) stream.close()
  await untilOpen(0)
}

describe('how many', () => {
  it('20 of a caller: the next is refused and opens nothing, until one is closed; others are not concerned', async () => {
    const { project, owner, organization } = await createOrganization(app)
    const place = { app, project_id: project.id, key: owner.key, url: '' }
    const streams = await Promise.all(Array.from({ length: 20 }, () => open(place)))
    expect(streams.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200))
    const refused = await fetch(urlOf(project.id), { headers: { authorization: `Bearer ${owner.key}` } })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10'])
    expect(await refused.json()).toMatchObject({
      type: 'throttled_error',
      code: 'too_many_streams',
      attr: null,
    })
    expect(await openCount()).toBe(20)
    const other = await createMember(app, organization)
    streams.push(await open({ ...place, key: other.key }))
    expect(streams.at(-1)!.status).toBe(200)
    streams.shift()!.close()
    await untilOpen(20)
    streams.push(await open(place))
    expect(streams.at(-1)!.status).toBe(200)
    await closeAll(streams)
  })

  it('100 streams with one question ask the store once for each look, and none asks nothing', async () => {
    const { project, owner, organization } = await createOrganization(app)
    const keys = [owner.key]
    for (let n = 1; n < 5; n++) keys.push((await createMember(app, organization)).key)
    const place = { app, project_id: project.id, key: owner.key, url: '' }
    const streams: OpenedStream[] = []
    for (const key of keys) {
      streams.push(...(await Promise.all(Array.from({ length: 20 }, () => open({ ...place, key })))))
    }
    expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]))
    expect(app.services.looks.count).toBe(1)
    const asked = vi.spyOn(app.services.eventStore, 'query')
    await store(place, [{ event: 'a' }, { event: 'b' }])
    await Promise.all(streams.map((stream) => stream.until('event', 2)))
    expect(asked.mock.calls.length).toBe(1)
    await closeAll(streams)
    await until(() => expect(app.services.looks.count).toBe(0))
    const looked = vi.spyOn(app.services.eventStore, 'lastPosition')
    await store(place, [{ event: 'c' }])
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect([asked.mock.calls.length, looked.mock.calls.length]).toEqual([1, 0])
    vi.restoreAllMocks()
  })
})

describe('whose', () => {
  it('a stream has the events of its project alone, whoever else asks the same', async () => {
    const [mine, theirs] = [await openPlace(app), await openPlace(app)]
    const streams = [await open(mine), await open(theirs)]
    await store(theirs, [{ event: 'theirs' }])
    await store(mine, [{ event: 'mine' }])
    const told = await Promise.all(streams.map((stream) => stream.until('event')))
    await store(theirs, [{ event: 'theirs again' }])
    await streams[1]!.until('event', 2)
    expect(told.map((each) => each.map(({ data }) => data.event))).toEqual([['mine'], ['theirs']])
    expect(streams[0]!.told).toHaveLength(1)
    const stranger = await openStream(urlOf(mine.project_id), { key: theirs.key })
    expect(stranger.status).toBe(403)
    await closeAll(streams)
  })
})

describe('a stream goes on as long as its caller may have it', () => {
  const scene = async () => {
    const workspace = await createOrganization(app)
    const member = await createMember(app, workspace.organization)
    const place = { app, project_id: workspace.project.id, key: workspace.owner.key, url: '' }
    return { ...workspace, member, place, witness: await open(place) }
  }
  type Scene = Awaited<ReturnType<typeof scene>>

  /** The stream ends with this refusal within seconds, the witness goes on, and nothing stored later reaches it. */
  const assertEnds = async (stream: OpenedStream, { place, witness }: Scene, code: string) => {
    expect(stream.status).toBe(200)
    await stream.untilOver()
    expect(stream.told.at(-1)).toMatchObject({ event: 'end', data: { reason: 'error', code } })
    await store(place, [{ event: 'later' }])
    await witness.until('event')
    expect(JSON.stringify(stream.told)).not.toContain('later')
    await closeAll([witness])
  }

  it('a session that is ended', async () => {
    const at = await scene()
    const stream = await openStream(urlOf(at.project.id), { session: at.member.session })
    expect((await app.post('/api/logout/', {}, { session: at.member.session })).status).toBeLessThan(300)
    await assertEnds(stream, at, 'not_authenticated')
  })

  it('a key that is deleted, and that is no guess', async () => {
    const at = await scene()
    const key = await createKey(app, at.member, { scopes: ['query:read'] })
    const stream = await openStream(urlOf(at.project.id), { key })
    const guessed = vi.spyOn(app.services.guesses, 'take')
    await app.db.run(sql`DELETE FROM api_key WHERE user_id = ${at.member.id} AND scopes = '{query:read}'`)
    await assertEnds(stream, at, 'authentication_failed')
    expect(guessed).not.toHaveBeenCalled()
    vi.restoreAllMocks()
  })

  it('a membership that is ended', async () => {
    const at = await scene()
    const stream = await openStream(urlOf(at.project.id), { key: at.member.key })
    const url = `/api/organizations/${at.organization.id}/members/${at.member.uuid}/`
    expect((await app.delete(url, { session: at.owner.session })).status).toBe(204)
    await assertEnds(stream, at, 'permission_denied')
  })

  it('a project that becomes private', async () => {
    const at = await scene()
    const stream = await openStream(urlOf(at.project.id), { key: at.member.key })
    const url = `/api/projects/${at.project.id}/access_controls/`
    const closed = await app.call('PUT', url, { key: at.owner.key, body: { access_level: 'none' } })
    expect(closed.status).toBe(200)
    await assertEnds(stream, at, 'permission_denied')
  })

  it('a scope that is taken from the key', async () => {
    const at = await scene()
    const key = await createServiceKey(app, at.organization, { scopes: ['query:read'] })
    const stream = await openStream(urlOf(at.project.id), { key })
    await app.db.run(
      sql`UPDATE api_key SET scopes = '{project:read}' WHERE organization_id = ${at.organization.id}`,
    )
    await assertEnds(stream, at, 'permission_denied')
  })

  it('a project that is deleted', async () => {
    const at = await scene()
    const stream = await openStream(urlOf(at.project.id), { key: at.member.key })
    const reply = await app.delete(`/api/projects/${at.project.id}/`, { session: at.owner.session })
    expect(reply.status).toBe(204)
    await Promise.all([stream.untilOver(), at.witness.untilOver()])
    expect(stream.told.at(-1)).toMatchObject({ event: 'end', data: { reason: 'error', code: 'not_found' } })
    await untilOpen(0)
  })

  it('ten minutes: then it ends without a word, and is told once to the access log', async () => {
    const place = await openPlace(app)
    const stream = await open(place)
    app.logs.length = 0
    const counted = vi.spyOn(app.services.throttle, 'take')
    const checked = vi.spyOn(app.services.db, 'row')
    app.advance(599_000 - 15_000)
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect([stream.isOver(), app.logs.length]).toEqual([false, 0])
    // It was checked again, and that is no call of the key.
    expect([checked.mock.calls.length > 0, counted.mock.calls.length]).toEqual([true, 0])
    vi.restoreAllMocks()
    app.advance(16_000)
    await stream.untilOver()
    expect(stream.told).toEqual([])
    const lines = app.logs.filter((line) => line.includes('/events/stream/'))
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0]!)).toMatchObject({
      route: '/api/projects/:project_id/events/stream/',
      status: 200,
      project_id: place.project_id,
    })
    const text = await (await fetch(`${origin}/metrics`)).text()
    expect(text).toMatch(
      /request_seconds_count\{method="GET",route="[^"]*events\/stream\/",status="200"\} \d+/,
    )
  })
})

describe('a client that does not fetch', () => {
  it('is cut, and holds up nobody', async () => {
    const place = await openPlace(app)
    const quick = await open(place)
    const slow = connect(Number(new URL(origin).port), '127.0.0.1')
    slow.pause()
    slow.on('error', () => undefined)
    slow.write(
      `GET /api/projects/${place.project_id}/events/stream/ HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${place.key}\r\n\r\n`,
    )
    await untilOpen(2)
    const text = 'x'.repeat(400_000)
    let stored = 0
    await until(async () => {
      await store(place, [{ event: 'large', properties: { text } }])
      stored++
      await quick.until('event', stored)
      expect(await openCount()).toBe(1)
    })
    // What the connection itself holds, and a megabyte of ours: it was not buffered for ever.
    expect(stored).toBeLessThan(40)
    expect(quick.isOver()).toBe(false)
    slow.destroy()
    await closeAll([quick])
  }, 90_000)
})
