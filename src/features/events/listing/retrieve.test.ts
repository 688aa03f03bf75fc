// GET …/events/:id/
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKey, createOrganization } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { uuid7 } from '../../../lib/uuid.ts'
import { openPlace, store, storePerson, type Place } from './fixture/events.ts'

let app: TestApp
let place: Place
beforeAll(async () => {
  app = await startTestApp()
  place = await openPlace(app)
})
afterAll(() => app.close())

const get = (id: string, of: Place = place) => app.get(`${of.url}${id}/`, { key: of.key })

describe('one event', () => {
  it('is the record of the list, person included', async () => {
    const [event] = await store(place, [{ distinct_id: 'known', event: 'one', properties: { a: 1 } }])
    await storePerson(place, { distinct_ids: ['known'], is_identified: true })
    const { status, body } = await get(event!.uuid)
    const list = await app.get(`${place.url}?event=one`, { key: place.key })
    expect([status, body]).toEqual([200, list.body.results[0]])
    expect(body.person).toEqual({ is_identified: true, distinct_ids: ['known'], properties: {} })
  })

  it('by an id in any case, with or without dashes', async () => {
    const uuid = randomUUID()
    await store(place, [{ uuid }])
    for (const id of [
      uuid,
      uuid.toUpperCase(),
      uuid.replaceAll('-', ''),
      uuid.replaceAll('-', '').toUpperCase(),
    ]) {
      expect((await get(id)).body.id).toBe(uuid)
    }
  })

  it.each([
    ['when its id was made', '2024-06-01T10:00:00Z', '2024-06-01T10:00:05Z'],
    ['years before its id was made', '2024-06-01T10:00:00Z', '2001-01-01T00:00:00Z'],
    ['with an id of a time that never was', '9999-01-01T00:00:00Z', '2024-06-01T10:00:00Z'],
  ])('that happened %s', async (_, made, timestamp) => {
    const uuid = uuid7(new Date(made))
    await store(place, [{ uuid, timestamp }])
    expect((await get(uuid)).body.id).toBe(uuid)
  })

  it('even later than now', async () => {
    const uuid = randomUUID()
    await store(place, [{ uuid, timestamp: BigInt(Date.now() + 3_600_000) * 1000n }])
    expect((await get(uuid)).status).toBe(200)
  })

  it('of two with one id the newest by arrival', async () => {
    const uuid = randomUUID()
    await store(place, [
      { uuid, event: 'late', timestamp: '2024-01-01T00:00:00Z', created_at: '2024-06-02T00:00:00Z' },
    ])
    await store(place, [
      { uuid, event: 'early', timestamp: '2024-05-01T00:00:00Z', created_at: '2024-06-01T00:00:00Z' },
    ])
    expect((await get(uuid)).body.event).toBe('late')
  })

  it.each(['nonsense', '123', `${'0'.repeat(31)}g`, '0-0-0-0-0', `${'0'.repeat(33)}`, '%27%3B--'])(
    '%s is 400',
    async (id) => {
      const { status, body } = await get(id)
      expect([status, body.type, body.code, body.attr]).toEqual([400, 'validation_error', 'invalid', 'id'])
    },
  )

  it("unknown or another project's is 404", async () => {
    const other = await openPlace(app)
    const [event] = await store(other, [{}])
    expect(await get(randomUUID())).toMatchObject({ status: 404, body: { code: 'not_found' } })
    expect(await get(uuid7(new Date()))).toMatchObject({ status: 404 })
    expect(await get(event!.uuid)).toMatchObject({ status: 404, body: { code: 'not_found' } })
    expect((await get(event!.uuid, other)).status).toBe(200)
  })

  it('401 and 403', async () => {
    const { owner } = await createOrganization(app)
    const poor = await createKey(app, owner, { scopes: ['person:read'] })
    const url = `${place.url}${randomUUID()}/`
    expect((await app.get(url)).status).toBe(401)
    expect((await app.get(url, { key: poor })).status).toBe(403)
    expect((await app.get(url, { key: owner.key })).status).toBe(403)
  })
})
