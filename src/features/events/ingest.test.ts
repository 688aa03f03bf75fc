// From an accepted request to durable events: order, batches, limits, failures on either side, and deleted projects.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { eventTables } from '../../../test/harness/event-tables.ts'
import { uuid7 } from '../../lib/uuid.ts'
import { sql } from '../../platform/db/sql.ts'
import { StoreBusy, type EventStore } from '../../platform/event-store/event-store.ts'
import { findProject } from '../projects/queries.ts'
import type { ProjectRow } from '../projects/schema.ts'
import type { EventTransform } from './event-transform.ts'
import { Ingest, type IngestOptions } from './ingest.ts'
import { NoRoom } from './no-room.ts'
import type { PipelineEvent } from './pipeline-event.ts'

let app: TestApp
let workspace: Workspace
let project: ProjectRow
beforeAll(async () => void (app = await startTestApp()))
afterAll(() => app.close())
beforeEach(async () => {
  workspace = await createOrganization(app)
  project = await reread()
})

const reread = async () => (await findProject(app.db, workspace.organization.id, workspace.project.id))!

function event(fields: Partial<PipelineEvent> = {}): PipelineEvent {
  const now = app.services.now()
  const micros = BigInt(now.getTime()) * 1000n
  return {
    uuid: uuid7(now),
    event: 'signed up',
    distinct_id: 'ada',
    properties: {},
    timestamp: micros,
    created_at: micros,
    ...fields,
  }
}

async function rows(select: string, table: 'events' | 'persons' | 'distinct_ids' = 'events') {
  const statement = `SELECT ${select} FROM ${eventTables(project.id)[table]} ORDER BY ALL`
  const { rows } = await app.services.eventStore.query({
    project_id: project.id,
    sql: statement,
    parameters: [],
    timezone: 'UTC',
    max_rows: 100_000,
  })
  return rows
}

const ingest = (options?: IngestOptions, store: Partial<EventStore> = {}) =>
  new Ingest({ ...app.services, eventStore: { ...app.services.eventStore, ...store } }, options)

describe('accepted events', () => {
  it('are stored when accept returns, with their person, and the project has ingested', async () => {
    expect(project.ingested_event).toBe(false)
    await ingest().accept(project, [event({ properties: { $set: { email: 'ada@example.com' } } })], 100)
    expect(await rows('seq, event, distinct_id, person_mode')).toEqual([[1, 'signed up', 'ada', 0]])
    const [person] = await rows('properties', 'persons')
    expect(JSON.parse(String(person![0]))).toMatchObject({ email: 'ada@example.com' })
    expect(await rows('distinct_id', 'distinct_ids')).toEqual([['ada']])
    expect((await reread()).ingested_event).toBe(true)
  })

  it('keep the order in which they came, whatever they share a commit with', async () => {
    const intake = ingest()
    const names = Array.from({ length: 300 }, (_, index) => `e${String(index).padStart(3, '0')}`)
    await Promise.all(names.map((name) => intake.accept(project, [event({ event: name })], 10)))
    expect(await rows('seq, event')).toEqual(names.map((name, index) => [index + 1, name]))
  })

  it('share commits when many come at once', async () => {
    let commits = 0
    const write: EventStore['write'] = (...args) => {
      commits++
      return app.services.eventStore.write(...args)
    }
    const intake = ingest({}, { write })
    await Promise.all(Array.from({ length: 200 }, () => intake.accept(project, [event()], 10)))
    expect(await rows('count(*)')).toEqual([[200]])
    expect(commits).toBeLessThan(20)
  })

  it('that want no person profile make none', async () => {
    await ingest().accept(
      project,
      [event({ properties: { $process_person_profile: false, $browser: 'X' } })],
      10,
    )
    expect(await rows('person_mode, properties')).toEqual([
      [1, '{"$process_person_profile":false,"$browser":"X"}'],
    ])
    expect(await rows('*', 'persons')).toEqual([])
    expect(await rows('*', 'distinct_ids')).toEqual([])
  })

  it('are stored once however often their uuid comes, in one request or in many', async () => {
    const twice = event()
    const intake = ingest()
    await intake.accept(project, [twice, { ...twice, event: 'again' }, event()], 10)
    await Promise.all([intake.accept(project, [twice], 10), intake.accept(project, [twice], 10)])
    expect(await rows('seq')).toEqual([[1], [2]])
  })

  it('of one uuid are two when they are more than a day apart, in one request too', async () => {
    const DAY_US = 86_400_000_000n
    const first = event()
    const at = (days: bigint, more = 0n) => ({ ...first, timestamp: first.timestamp - days * DAY_US - more })
    const intake = ingest()
    await intake.accept(project, [first, at(1n), at(1n, 1n), at(5n)], 10)
    await intake.accept(project, [at(5n), first], 10)
    expect(await rows('seq')).toEqual([[1], [2], [3]])
    expect(intake.tally).toMatchObject({ received: 6, repeated: 3 })
  })

  it(
    'of somebody of whom much is known fail their request alone, and can be sent in parts',
    { tags: 'slow' },
    async () => {
      const intake = ingest()
      await intake.accept(project, [event({ properties: { $set: { about: 'x'.repeat(900_000) } } })], 900_000)
      const many = Array.from({ length: 160 }, () => event())
      const [large, other] = await Promise.allSettled([
        intake.accept(project, many, 20_000, '203.0.113.7'),
        intake.accept(project, [event({ distinct_id: 'bob' })], 10, '203.0.113.8'),
      ])
      expect(large).toMatchObject({ status: 'rejected', reason: { code: 'payload_too_large' } })
      expect(other.status).toBe('fulfilled')
      expect(await rows('count(*)')).toEqual([[2]])
      expect(intake.tally.dropped.too_large).toBe(160)
      for (const half of [many.slice(0, 80), many.slice(80)]) {
        await intake.accept(project, half, 10_000, '203.0.113.7')
      }
      expect(await rows('count(*), count(DISTINCT uuid)')).toEqual([[162, 162]])
    },
  )

  it('of two projects do not meet', async () => {
    const other = await createOrganization(app)
    const shared = event()
    const intake = ingest()
    await Promise.all([intake.accept(project, [shared], 10), intake.accept(other.project, [shared], 10)])
    expect(await rows('count(*)')).toEqual([[1]])
    project = other.project
    expect(await rows('count(*)')).toEqual([[1]])
  })
})

describe('a transform', () => {
  const shout: EventTransform = async (_, given) =>
    given
      .filter(({ event }) => event !== 'secret')
      .map((each) => ({ ...each, event: each.event.toUpperCase() }))

  it('changes events, and drops those it leaves out', async () => {
    await ingest({ transform: shout }).accept(project, [event(), event({ event: 'secret' })], 10)
    expect(await rows('event')).toEqual([['SIGNED UP']])
  })

  it('is handed no repeats', async () => {
    const seen: number[] = []
    const transform: EventTransform = async (_, given) => {
      seen.push(given.length)
      return given
    }
    const repeated = event()
    await ingest({ transform }).accept(project, [repeated, { ...repeated }], 10)
    expect(seen).toEqual([1])
  })

  it('takes up room while it works, and gives back what it drops', async () => {
    let release = () => {}
    const gate = new Promise<void>((resolve) => (release = resolve))
    const transform: EventTransform = async (of, given) => {
      await gate
      return shout(of, given)
    }
    const intake = ingest({ transform, max_events: 2 })
    const first = intake.accept(project, [event({ event: 'secret' }), event({ event: 'secret' })], 10)
    await expect(intake.accept(project, [event()], 10)).rejects.toBeInstanceOf(StoreBusy)
    release()
    await first
    await intake.accept(project, [event(), event()], 10)
    expect(await rows('event')).toEqual([['SIGNED UP'], ['SIGNED UP']])
  })

  it('that fails, fails its request alone', async () => {
    let fails = true
    const transform: EventTransform = async (_, given) => {
      if (fails) throw new Error('broken')
      return given
    }
    const intake = ingest({ transform, max_events: 1 })
    await expect(intake.accept(project, [event()], 10)).rejects.toThrow('broken')
    fails = false
    await intake.accept(project, [event({ event: 'later' })], 10)
    expect(await rows('event')).toEqual([['later']])
  })
})

describe('a full queue', () => {
  const held = () => {
    let [release, isWriting] = [() => {}, false]
    const gate = new Promise<void>((resolve) => (release = resolve))
    const write: EventStore['write'] = async (...args) => {
      isWriting = true
      await gate
      return app.services.eventStore.write(...args)
    }
    return { write, isWriting: () => isWriting, release: () => release() }
  }

  it.each([
    ['events', { max_events: 3, max_bytes: 1000 }],
    ['bytes', { max_events: 1000, max_bytes: 25 }],
  ])('turns requests away by %s, and loses none it took', async (_, limits) => {
    const { write, isWriting, release } = held()
    const intake = ingest(limits, { write })
    const refusals: unknown[] = []
    const accept = (name: string) =>
      intake.accept(project, [event({ event: name })], 10).catch((error: unknown) => refusals.push(error))
    const first = accept('a')
    await expect.poll(isWriting).toBe(true)
    const others = ['b', 'c', 'd', 'e', 'f', 'g', 'h'].map(accept)
    await expect.poll(() => refusals.length).toBeGreaterThan(0)
    release()
    await Promise.all([first, ...others])
    for (const refusal of refusals) expect(refusal).toBeInstanceOf(StoreBusy)
    expect(await rows('count(*)')).toEqual([[1 + others.length - refusals.length]])
  })

  it('is never filled by one address, nor by one project', async () => {
    const { write, isWriting, release } = held()
    const intake = ingest({ max_events: 8, max_bytes: 1000 }, { write })
    const other = await createOrganization(app)
    const taken: Promise<void>[] = []
    const accept = (address: string, to: ProjectRow) => {
      const accepted = intake.accept(to, [event()], 10, address)
      taken.push(accepted.catch(() => undefined))
      return accepted
    }
    void accept('first', project)
    await expect.poll(isWriting).toBe(true)
    void accept('a', project)
    void accept('a', other.project)
    await expect(accept('a', other.project)).rejects.toThrow(StoreBusy)
    void accept('b', project)
    void accept('b', project)
    void accept('c', project)
    await expect(accept('d', project)).rejects.toThrow(StoreBusy)
    void accept('d', other.project)
    release()
    await Promise.all(taken)
    expect(await rows('count(*)')).toEqual([[5]])
  })

  it('lets a neighbour go before the rest of a flood', async () => {
    const { write, isWriting, release } = held()
    const intake = ingest({}, { write })
    const other = await createOrganization(app)
    const done: string[] = []
    const accept = async (name: string, to: ProjectRow, count: number) => {
      await intake.accept(
        to,
        Array.from({ length: count }, () => event()),
        10,
        name,
      )
      done.push(name)
    }
    const first = accept('first', project, 1)
    await expect.poll(isWriting).toBe(true)
    const flood = Array.from({ length: 12 }, () => accept('flood', project, 1000))
    const neighbour = accept('neighbour', other.project, 1)
    release()
    await Promise.all([first, ...flood, neighbour])
    expect(done.indexOf('neighbour')).toBeLessThan(6)
    expect(done).toHaveLength(14)
  })

  it('lets a neighbour go before a few events about somebody of whom much is known', async () => {
    const other = await createOrganization(app)
    const done: string[] = []
    let parts = 0
    const write: EventStore['write'] = async (...args) => {
      const written = await app.services.eventStore.write(...args)
      const [first] = args[0]
      if (first?.events.some(({ distinct_id }) => distinct_id === 'ada')) parts += 1
      return written
    }
    const intake = ingest({}, { write })
    await intake.accept(project, [event({ properties: { $set: { about: 'x'.repeat(900_000) } } })], 900_000)
    const large = Array.from({ length: 60 }, () => event())
    await Promise.all([
      intake.accept(project, large, 10, '203.0.113.7').then(() => done.push('large')),
      intake.accept(project, [event()], 10, '203.0.113.9').then(() => done.push('same project')),
      intake.accept(other.project, [event()], 10, '203.0.113.8').then(() => done.push('neighbour')),
    ])
    expect(done).toEqual(['same project', 'neighbour', 'large'])
    expect(parts).toBeGreaterThan(5)
    expect(await rows('count(*), max(seq)')).toEqual([[62, 62]])
    expect(intake.tally).toMatchObject({ received: 63, repeated: 0, stored: { total: 63 } })
  })

  it('lets everybody go while files are looked into for what one sender repeats', async () => {
    const other = await createOrganization(app)
    let open = () => {}
    const opens = new Promise<void>((resolve) => (open = resolve))
    let looks = 0
    const lookUp: EventStore['lookUp'] = async (...args) => {
      looks += 1
      await opens
      return app.services.eventStore.lookUp(...args)
    }
    const repeats = Array.from({ length: 20 }, () => event())
    const intake = ingest({}, { lookUp })
    await intake.accept(project, repeats, 10)
    await app.services.eventStore.caughtUp(project.id)
    const done: string[] = []
    const accept = (name: string, to: ProjectRow, address: string, events: PipelineEvent[]) =>
      intake.accept(to, events, 10, address).then(() => done.push(name))
    const held = [
      accept('repeats', project, '203.0.113.7', repeats),
      accept('behind them', project, '203.0.113.7', [event({ event: 'behind them' })]),
      accept('partly repeats', project, '203.0.113.6', [event({ event: 'partly' }), repeats[0]!]),
    ]
    await Promise.all([
      accept('neighbour', other.project, '203.0.113.8', [event()]),
      accept('same project', project, '203.0.113.9', [event()]),
    ])
    // Once the look is begun, batches go on beside it.
    await expect.poll(() => looks).toBe(2)
    await accept('neighbour', other.project, '203.0.113.8', [event()])
    held.push(accept('behind them', project, '203.0.113.7', [event({ event: 'still behind' })]))
    await accept('same project', project, '203.0.113.9', [event()])
    expect(done.toSorted()).toEqual(['neighbour', 'neighbour', 'same project', 'same project'])
    expect(await rows('count(*), max(seq)')).toEqual([[22, 22]])
    open()
    await Promise.all(held)
    expect(await rows('count(*), max(seq)')).toEqual([[25, 25]])
    const names = (await rows('seq, event')).map(([, name]) => name)
    expect(names.indexOf('behind them')).toBeLessThan(names.indexOf('still behind'))
    expect(intake.tally).toMatchObject({ received: 48, repeated: 21, stored: { total: 27 } })
  })

  it('takes one request larger than itself when it is empty', async () => {
    await ingest({ max_events: 2 }).accept(project, [event(), event(), event()], 10)
    expect(await rows('count(*)')).toEqual([[3]])
  })
})

describe('a failing store', () => {
  const failing = (times: number): EventStore['write'] => {
    let left = times
    return (...args) =>
      left-- > 0 ? Promise.reject(new Error('disk full')) : app.services.eventStore.write(...args)
  }

  it('fails the requests whose events it lost, and only those', async () => {
    const intake = ingest({}, { write: failing(1) })
    await expect(intake.accept(project, [event({ event: 'lost' })], 10)).rejects.toThrow('disk full')
    await intake.accept(project, [event({ event: 'kept' })], 10)
    expect(await rows('seq, event')).toEqual([[1, 'kept']])
  })

  it('gets the persons it missed before the next events', async () => {
    const store = { write: app.services.eventStore.write }
    const intake = ingest({}, { write: (...args) => store.write(...args) })
    // The first write of an intake catches up in any case.
    await intake.accept(project, [event()], 10)
    store.write = failing(1)
    const lost = event({ distinct_id: 'bob', properties: { $set: { n: 1 } } })
    await expect(intake.accept(project, [lost], 10)).rejects.toThrow('disk full')
    expect(await rows('distinct_id', 'distinct_ids')).toEqual([['ada']])
    await intake.accept(project, [event({ distinct_id: 'cleo' })], 10)
    expect(await rows('distinct_id', 'distinct_ids')).toEqual([['ada'], ['bob'], ['cleo']])
    await intake.accept(project, [lost], 10)
    expect(await rows('count(*)', 'persons')).toEqual([[3]])
  })

  it('of persons stores no event, and goes on when it is back', async () => {
    const intake = new Ingest({
      ...app.services,
      db: Object.assign(Object.create(app.db) as typeof app.db, {
        transaction: () => Promise.reject(new Error('no PostgreSQL')),
      }),
    })
    await expect(intake.accept(project, [event()], 10)).rejects.toThrow('no PostgreSQL')
    expect(await rows('count(*)')).toEqual([[0]])
    await ingest().accept(project, [event()], 10)
    expect(await rows('count(*)')).toEqual([[1]])
  })
})

describe('after a crash between the two commits', () => {
  it('catching up brings persons and their ids to the event store', async () => {
    const killed = () => Promise.reject(new Error('killed'))
    const intake = ingest({}, { write: killed, giveUpCopies: killed })
    await expect(intake.accept(project, [event({ distinct_id: 'dora' })], 10)).rejects.toThrow('killed')
    expect(await rows('*', 'distinct_ids')).toEqual([])
    // Where several processes write, what one of them is about to copy is left to it for a while.
    await app.db.run(sql`UPDATE owed_copies SET leased_until = now()`)
    await ingest().catchUp()
    expect(await rows('distinct_id', 'distinct_ids')).toEqual([['dora']])
    expect(await rows('count(*)', 'persons')).toEqual([[1]])
  })
})

describe('closing', () => {
  it('stores what is queued and takes nothing more', async () => {
    const intake = ingest()
    const accepted = Array.from({ length: 50 }, () => intake.accept(project, [event()], 10))
    await new Promise((resolve) => setImmediate(resolve))
    await intake.close()
    await Promise.all(accepted)
    await expect(intake.accept(project, [event()], 10)).rejects.toThrow(StoreBusy)
    expect(await rows('count(*)')).toEqual([[50]])
  })
})

describe('a deleted project', () => {
  it('gets no more events: whoever was under way is refused like an unknown token', async () => {
    await app.db.run(sql`DELETE FROM project WHERE id = ${project.id}`)
    const other = await createOrganization(app)
    const intake = ingest()
    const outcomes = await Promise.allSettled([
      intake.accept(project, [event()], 10),
      intake.accept(other.project, [event()], 10),
    ])
    expect(outcomes).toMatchObject([
      { status: 'rejected', reason: { code: 'invalid_api_key' } },
      { status: 'fulfilled' },
    ])
    expect(await rows('count(*)')).toEqual([[0]])
  })

  it.each([
    ['with its own path', () => `/api/projects/${project.id}/`],
    ['with its organization', () => `/api/organizations/${workspace.organization.id}/`],
  ])('%s: its events and copies go too', async (_, path) => {
    await ingest().accept(project, [event(), event()], 10)
    expect(await rows('count(*)')).toEqual([[2]])
    expect((await app.delete(path(), { key: workspace.owner.key })).status).toBe(204)
    await expect.poll(() => rows('count(*)')).toEqual([[0]])
    expect(await rows('*', 'persons')).toEqual([])
    await app.services.eventStore.write(
      [
        {
          project_id: project.id,
          events: [],
          persons: [],
          deleted_persons: [],
          distinct_ids: [{ distinct_id: 'x', person_id: uuid7(new Date()), version: 0 }],
          groups: [],
        },
      ],
      app.services.now(),
    )
    expect(await rows('*', 'distinct_ids')).toEqual([])
  })
})

describe('the tally', () => {
  it('has every event once: received = stored + repeated + dropped, by reason', async () => {
    const transform: EventTransform = async (_, given, onHeld) => {
      if (given.some((each) => each.event === 'no room')) throw new NoRoom('full', 1)
      if (given.some((each) => each.event === 'broken')) throw new Error('broken')
      onHeld?.(given.filter((each) => each.event === 'held').length)
      return given.filter((each) => !['held', 'secret'].includes(each.event))
    }
    let fails = false
    const write: EventStore['write'] = async (...args) => {
      if (fails) throw new Error('away')
      return app.services.eventStore.write(...args)
    }
    const intake = ingest({ transform, max_events: 20 }, { write })
    const named = (name: string, count: number) => Array.from({ length: count }, () => event({ event: name }))
    const [kept, twice] = [event(), event()]
    await intake.accept(project, [kept, twice, { ...twice }, ...named('secret', 3), ...named('held', 2)], 10)
    await intake.accept(project, [kept], 10)
    await intake.store(project, named('held', 1), 10)
    await expect(intake.accept(project, named('no room', 2), 10)).rejects.toThrow('full')
    await expect(intake.accept(project, named('broken', 2), 10)).rejects.toThrow('broken')
    const first = intake.accept(project, named('many', 15), 10)
    await expect(intake.accept(project, named('too many', 10), 10)).rejects.toBeInstanceOf(StoreBusy)
    await first
    fails = true
    await expect(intake.accept(project, named('lost', 4), 10)).rejects.toThrow('away')
    fails = false
    const other = (await createOrganization(app)).project as ProjectRow
    await app.db.run(sql`DELETE FROM project WHERE id = ${other.id}`)
    await expect(intake.accept(other, named('late', 1), 10)).rejects.toThrow('deleted')

    const { received, repeated, stored, dropped, runs } = intake.tally
    expect({ received, repeated, stored: stored.total, dropped }).toEqual({
      received: 8 + 1 + 1 + 2 + 2 + 15 + 10 + 4 + 1,
      repeated: 2,
      stored: 18,
      dropped: { app: 3, held: 2, no_room: 2 + 10, too_large: 0, failed: 2 + 4, project_deleted: 1 },
    })
    const all = Object.values(dropped).reduce((sum, count) => sum + count, 0)
    expect(stored.total + repeated + all).toBe(received)
    expect(runs).toMatchObject({ transform: 7, persons: 6 })
    expect(runs.write).toBeGreaterThanOrEqual(5)
  })
})
