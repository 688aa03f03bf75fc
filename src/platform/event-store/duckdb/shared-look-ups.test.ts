// What is sent again is looked for in files while others write, and while its own project goes on.
// @module-tag slow
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LookFirst, StoreGone, type EventStore, type StoredEvent } from '../event-store.ts'
import { eventsOf, storedEvent } from '../fixture/suite.ts'
import { callerOf } from './fixture/caller-of.ts'
import type { JournalCalls } from './journal/messages.ts'
import { Journal } from './journal/journal.ts'
import type { EngineCalls } from './messages.ts'
import { QueryProcess } from './queries/query-process.ts'
import { QueryProcesses } from './queries/query-processes.ts'
import { findStored } from './segments/find-stored.ts'
import { readParquet } from './segments/parquet.ts'
import { ProjectFiles } from './segments/project-files.ts'
import { storeOf } from './store.ts'

const NOW = new Date('2026-03-01T12:00:00Z')

let folder: string
let instance: DuckDBInstance
let asking: DuckDBConnection
let files: ProjectFiles
let journal: Journal
let store: EventStore
/** Files were looked into, and the answer is on its way. */
let looks: number
let answers: Promise<void>
let answer: () => void
/** Projects whose files are about to go. */
let removals: number
let mayRemove: Promise<void>

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-look-ups-'))
  instance = await DuckDBInstance.create()
  asking = await instance.connect()
  looks = removals = 0
  mayRemove = Promise.resolve()
  answers = new Promise((resolve) => (answer = resolve))
  await open()
})
afterEach(async () => {
  answer()
  await store.close()
  asking.closeSync()
  instance.closeSync()
  await rm(folder, { recursive: true, force: true })
})

async function open(): Promise<void> {
  files = await ProjectFiles.open(folder, instance)
  journal = Journal.open(folder)
  const questions = { folder, spill: folder, memory_mb: 96, threads: 1, timeout_ms: 10_000, priority: 5 }
  const engine = await callerOf<EngineCalls>({
    manifest: (id) => files.manifest(id),
    fold: (id, waiting, options) => files.fold(id, waiting, options),
    merge: (id) => files.merge(id),
    async removeProject(id) {
      removals += 1
      await mayRemove
      await files.remove(id)
    },
    async findStored(id, ids) {
      const shown = { folder: files.folderOf(id), manifest: files.manifest(id) }
      const found = await findStored(shown, ids, (work) => work(asking))
      looks += 1
      await answers
      return found
    },
    close: () => files.close(),
  })
  const { look_ups } = journal
  store = storeOf(
    {
      folder,
      engine,
      journal: await callerOf<JournalCalls>({
        append: (...args) => journal.append(...(args.slice(0, 3) as Parameters<Journal['append']>)),
        beginLookUp: (id) => look_ups.begin(id),
        foundAbsent: (id, look_up, ids) => look_ups.foundAbsent(id, look_up, ids),
        endLookUp: (id, look_up) => look_ups.end(id, look_up),
        lastPosition: (id) => journal.lastPosition(id),
        raiseTime: (time, id) => {
          journal.raiseTime(time)
          return journal.lastPosition(id)
        },
        seal: (id) => journal.seal(id),
        folded: (id, manifest) => journal.folded(id, manifest),
        replaced: (id, manifest) => journal.replaced(id, manifest),
        deleteProject: (id) => journal.deleteProject(id),
        close: () => journal.close(),
      }),
      queries: new QueryProcesses(questions, 1),
      columns: { process: new QueryProcess(questions), now: () => NOW, pause_ms: 600_000 },
      onClosed() {},
    },
    { waiting: journal.waiting, deleted: journal.deleted },
  )
}

const made = (count: number) => Array.from({ length: count }, () => storedEvent())
const write = (...events: StoredEvent[]) => store.write([eventsOf(1, ...events)], NOW)

async function filed(count = 1): Promise<StoredEvent[]> {
  const events = made(count)
  await write(...events)
  await store.caughtUp(1)
  return events
}

/** Ids in the files of the project, in order of position. */
async function stored(): Promise<unknown[]> {
  await store.caughtUp(1)
  const paths = files.manifest(1).segments.map(({ file }) => join(files.folderOf(1), file))
  const found = await asking.run(`SELECT uuid::VARCHAR FROM ${readParquet(paths)} ORDER BY seq`)
  return (await found.getRows()).map(([uuid]) => uuid)
}
const uuidsOf = (...events: StoredEvent[]) => events.map(({ uuid }) => uuid)

describe('while files are looked into', () => {
  it('others write, and so does the same project', async () => {
    const again = await filed(3)
    const repeated = write(...again)
    await expect.poll(() => looks).toBe(1)
    expect(await store.write([eventsOf(2, storedEvent())], NOW)).toMatchObject([{ stored: 1, last_seq: 1 }])
    expect(await write(...made(2))).toMatchObject([{ stored: 2, last_seq: 5 }])
    answer()
    expect(await repeated).toMatchObject([{ stored: 0, last_seq: 5 }])
  })

  it('an event that is folded meanwhile stays known', async () => {
    const [again] = await filed()
    const [waiting, fresh] = made(2)
    await write(waiting!)
    const repeated = write(again!, waiting!, fresh!)
    await expect.poll(() => looks).toBe(1)
    await store.caughtUp(1)
    await write(...made(1))
    await store.caughtUp(1)
    answer()
    expect(await repeated).toMatchObject([{ stored: 1, last_seq: 4 }])
    const all = await stored()
    expect(all).toHaveLength(4)
    expect(all.at(-1)).toBe(fresh!.uuid)
  })

  it('an event of two writes is stored once, and both are told so', async () => {
    const [again] = await filed()
    const [fresh, last] = made(2)
    const first = write(again!, fresh!)
    await expect.poll(() => looks).toBe(1)
    const second = write(again!, fresh!, last!)
    // No file may have it, so it is stored before either of them.
    const third = await write(fresh!)
    answer()
    expect([third, await first, await second].map(([written]) => written!.stored)).toEqual([1, 0, 1])
    expect(await stored()).toEqual(uuidsOf(again!, fresh!, last!))
  })

  it('what comes in for the same project is looked for together, and each write gets its own', async () => {
    const again = await filed(3)
    const first = write(again[0]!)
    await expect.poll(() => looks).toBe(1)
    const fresh = made(3)
    const others = again.map((event, index) => write(event, fresh[index]!))
    for (let times = 0; times < 20; times++) await store.lastPosition(1)
    answer()
    expect((await first)[0]!.stored).toBe(0)
    expect((await Promise.all(others)).map(([written]) => written!.stored)).toEqual([1, 1, 1])
    expect(looks).toBe(2)
    expect(await stored()).toEqual(uuidsOf(...again, ...fresh))
  })

  it('a project can be deleted', async () => {
    const [again] = await filed()
    const repeated = write(again!, ...made(1))
    await expect.poll(() => looks).toBe(1)
    const deleting = store.deleteProject(1)
    answer()
    expect(await repeated).toEqual([])
    await deleting
    expect(existsSync(files.folderOf(1))).toBe(false)
  })

  it('the store can be closed: nothing of the write is stored, and it can be sent again', async () => {
    const [again] = await filed()
    const [fresh] = made(1)
    const repeated = Promise.allSettled([write(again!, fresh!)])
    await expect.poll(() => looks).toBe(1)
    await store.close()
    answer()
    expect(await repeated).toMatchObject([{ status: 'rejected', reason: expect.any(StoreGone) }])
    await open()
    expect(await write(again!, fresh!)).toMatchObject([{ stored: 1, last_seq: 2 }])
    expect(await stored()).toEqual(uuidsOf(again!, fresh!))
  })
})

describe('a write that is not to wait', () => {
  const atOnce = (...events: StoredEvent[]) => store.write([eventsOf(1, ...events)], NOW, null, true)

  it('names what files may have, and writes nothing', async () => {
    const [again] = await filed()
    const [fresh] = made(1)
    const error = await atOnce(fresh!, again!).catch((fault: unknown) => fault)
    expect(error).toBeInstanceOf(LookFirst)
    expect((error as LookFirst).events).toEqual([again])
    expect(await store.lastPosition(1)).toBe(1)
    expect(looks).toBe(0)
  })

  it('is done once somebody has looked', async () => {
    const [again] = await filed()
    const [fresh] = made(1)
    answer()
    const { events, end } = await store.lookUp(1, [again!, fresh!])
    expect(events).toEqual([fresh])
    expect(await atOnce(...events)).toMatchObject([{ stored: 1, last_seq: 2 }])
    end()
    expect(await stored()).toEqual(uuidsOf(again!, fresh!))
  })
})

it('while the files of a project are removed nobody looks into them, and it has nothing', async () => {
  const again = await filed(2)
  let remove: () => void = () => {}
  mayRemove = new Promise((resolve) => (remove = resolve))
  const deleting = store.deleteProject(1)
  await expect.poll(() => removals).toBe(1)
  // The engine of this test would refuse to be asked for these.
  expect(await store.arrivalsOf(1, [1, 2])).toEqual([null, null])
  expect(await store.positionAt(1, NOW)).toBe(await store.lastPosition(1))
  const { events, end } = await store.lookUp(1, again)
  end()
  expect({ events, looks }).toEqual({ events: again, looks: 0 })
  remove()
  await deleting
})
