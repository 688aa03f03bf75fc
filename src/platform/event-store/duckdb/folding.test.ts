// Events on their way from the journal into files: whatever is folded, merged or reopened in between, every reader sees
// what was acknowledged, once, and exports give the same bytes.
// @module-tag slow
import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { EventStore, ExportFormat, StoredEvent } from '../event-store.ts'
import { plainRows } from '../fixture/plain-rows.ts'
import { eventsOf, storedEvent } from '../fixture/suite.ts'
import { tablesOf } from '../layout.ts'
import { openDuckDb } from './open.ts'
import { ROW_GROUP } from './segments/events.ts'
import { splitSegments } from './segments/fold.ts'
import { filesOf, MANIFEST_NAME, projectFolder, readManifest } from './segments/manifest.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
const { events: EVENTS } = tablesOf(1)
const { signal } = new AbortController()

let folder: string
let store: EventStore
const open = async () => void (store = await openDuckDb({ folder, memory_mb: 256, query_timeout_ms: 30_000 }))
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-store-'))
  await open()
})
afterEach(async () => {
  await store.close()
  await rm(folder, { recursive: true, force: true })
})

async function reopen(): Promise<void> {
  await store.close()
  await open()
}

const made = (count: number, name = 'event') =>
  Array.from({ length: count }, (_, index) => storedEvent({ event: `${name} ${index}` }))
const write = (...events: StoredEvent[]) => store.write([eventsOf(1, ...events)], NOW)
const ask = async (sql: string) =>
  (await store.query({ project_id: 1, sql, parameters: [], timezone: 'UTC', max_rows: 1000 })).rows
const look = () => ask(`SELECT count(*), count(DISTINCT uuid), min(seq), max(seq) FROM ${EVENTS}`)

/** Hash of an export of the same positions each time. Filters change the size of the portions that the engine reads. */
async function exported(project_id: number, kind: ExportFormat['kind'], condition: string): Promise<string> {
  const rows = plainRows({
    project_id,
    sql: `SELECT seq AS position, event AS c1, properties AS c2 FROM ${tablesOf(project_id).events} WHERE ${condition}`,
    columns: [
      { name: 'event', kind: 'text' },
      { name: 'properties', kind: 'json' },
    ],
  })
  const format = (kind === 'parquet' ? { kind, compression: 'zstd' } : { kind }) as ExportFormat
  const { path } = await store.exportRows(rows, { from: 100, to: 3 * ROW_GROUP }, format, signal)
  const digest = createHash('sha256')
    .update(await readFile(path))
    .digest('hex')
  await rm(path)
  return digest
}
const digests = async (project_id: number) => [
  await exported(project_id, 'parquet', 'true'),
  await exported(project_id, 'parquet', 'seq % 3 <> 1'),
  await exported(project_id, 'json-lines', 'seq % 3 <> 1'),
]

describe('events', () => {
  it('are seen by whoever asks after each write, over restarts', async () => {
    let stored = 0
    for (const count of [1, 1, 3, 700, 1, 2, 5, 1, 1, 9_000, 1, 4]) {
      await write(...made(count))
      stored += count
      if (count === 3 || count === 9_000) await reopen()
      expect(await look()).toEqual([[stored, stored, 1, stored]])
    }
  })

  it('are put together: there are few files, and none that is on no list', async () => {
    for (let count = 0; count < 30; count++) {
      await write(...made(600))
      await look()
    }
    const { settled, loose } = splitSegments(readManifest(folder, 1).segments)
    expect(settled.length).toBeGreaterThan(0)
    expect(loose.length).toBeLessThanOrEqual(8)
    const names = await readdir(projectFolder(folder, 1))
    expect(names.sort()).toEqual([...filesOf(readManifest(folder, 1)), MANIFEST_NAME].sort())
    expect(await look()).toEqual([[18_000, 18_000, 1, 18_000]])
  })

  it('that come again are known, whether they wait, lie in a file, or did before a restart', async () => {
    const [first, second, third] = [made(1)[0]!, made(1)[0]!, made(1)[0]!]
    await write(first)
    await look()
    await write(second)
    expect(await write(first, second, third)).toMatchObject([{ stored: 1, last_seq: 3 }])
    await reopen()
    expect(await write(first, second, third)).toMatchObject([{ stored: 0, last_seq: 3 }])
    await look()
    await reopen()
    expect(await write(third, ...made(1), first)).toMatchObject([{ stored: 1, last_seq: 4 }])
    const later = { ...first, timestamp: first.timestamp + 86_400_000_001n }
    expect(await write(later)).toMatchObject([{ stored: 1, last_seq: 5 }])
    expect(await look()).toEqual([[5, 4, 1, 5]])
  })
})

describe('exports', () => {
  it('give the same bytes however the rows came into files', { timeout: 300_000 }, async () => {
    const all = Array.from({ length: 4 * ROW_GROUP }, (_, index) =>
      storedEvent({
        event: `event ${index}`,
        // Some are so large that rows between them stay empty.
        properties: `{"n":${index},"text":"${'x'.repeat(index % 4_000 === 0 ? 700_000 : 5)}"}`,
      }),
    )
    for (let from = 0; from < all.length; from += 5_000) await write(...all.slice(from, from + 5_000))
    const expected = await digests(1)
    await write(...made(50))
    await look()
    expect(await digests(1)).toEqual(expected)
    // The same rows in small batches, some of which are read in between.
    for (let from = 0, size = 37; from < all.length; from += size, size = 1 + ((size * 7) % 3_001)) {
      await store.write([eventsOf(2, ...all.slice(from, from + size))], NOW)
      if (size % 2 === 0) await store.lastPosition(2).then((last) => store.arrivalsOf(2, [last]))
    }
    expect(await digests(2)).toEqual(expected)
    await reopen()
    expect(await digests(2)).toEqual(expected)
  })
})

describe('a project that is being deleted', () => {
  it('lets those end who begin to read meanwhile', async () => {
    await write(...made(1000))
    // What waits is brought into files first, and the deletion comes after that.
    const first = look()
    const readers: Promise<unknown>[] = []
    let isDeleted = false
    const deleting = store.deleteProject(1).then(() => (isDeleted = true))
    while (!isDeleted && readers.length < 500) {
      readers.push(store.holes(1))
      await setImmediate()
    }
    await Promise.all([deleting, first, ...readers])
    expect((await look())[0]![0]).toBe(0)
  })
})

describe('files that a killed process left', () => {
  it('are gone when the project is asked for next', async () => {
    await write(...made(3))
    await look()
    const stray = join(projectFolder(folder, 1), '00000000-0000-4000-8000-000000000000.parquet')
    await store.close()
    await writeFile(stray, 'half a file')
    await open()
    expect(await look()).toEqual([[3, 3, 1, 3]])
    expect(await readdir(projectFolder(folder, 1))).not.toContain(stray.split('/').at(-1))
  })
})
