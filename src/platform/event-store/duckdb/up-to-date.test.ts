// Who is told of new files, and when the former ones go.
// @module-tag slow
import { DuckDBInstance } from '@duckdb/node-api'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { eventsOf, storedEvent } from '../fixture/suite.ts'
import { callerOf } from './fixture/caller-of.ts'
import type { JournalCalls } from './journal/messages.ts'
import { Journal } from './journal/journal.ts'
import { encodeWrite } from './journal/section.ts'
import type { EngineCalls } from './messages.ts'
import { ROW_GROUP } from './segments/events.ts'
import { gatheredEvents } from './segments/fixture/gathered.ts'
import { segmentFiles } from './segments/manifest.ts'
import { ProjectFiles } from './segments/project-files.ts'
import { UpToDate } from './up-to-date.ts'

const NOW = 1_770_000_000_000_000n

let folder: string
let instance: DuckDBInstance
let files: ProjectFiles
let journal: Journal
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-up-to-date-'))
  instance = await DuckDBInstance.create()
  files = await ProjectFiles.open(folder, instance)
  journal = Journal.open(folder)
})
afterEach(async () => {
  await files.close()
  instance.closeSync()
  journal.close()
  await rm(folder, { recursive: true, force: true })
})

it('files that were merged stay until the journal, which looks for repeats in them, knows the other', async () => {
  const first = gatheredEvents(ROW_GROUP, 0)
  await files.add(1, () => first, { isTidy: false })
  for (let times = 1; times < 8; times++) {
    await files.add(1, () => gatheredEvents(ROW_GROUP, times * ROW_GROUP), { isTidy: false })
  }
  const former = files.manifest(1).segments.flatMap(segmentFiles)
  const { uuid, timestamp } = first.events
  const again = { ...storedEvent(), uuid: uuid[0]!, timestamp: timestamp[0]! }
  const batch = [encodeWrite(eventsOf(1, again))]
  expect(journal.lastPosition(1)).toBe(8 * ROW_GROUP)

  let tell = () => {}
  const told = new Promise<void>((resolve) => (tell = resolve))
  const projects = new UpToDate(
    {
      folder,
      engine: await callerOf<EngineCalls>({
        manifest: (id) => files.manifest(id),
        merge: (id) => files.merge(id),
        keepColumns: (id, columns) => files.keepColumns(id, columns),
      }),
      journal: await callerOf<JournalCalls>(
        { replaced: (id, manifest) => journal.replaced(id, manifest) },
        () => told,
      ),
    },
    [],
  )
  await projects.read(1, 'any', () => Promise.resolve())
  await expect.poll(() => files.manifest(1).segments.length).toBe(1)
  await projects.keepColumns(1, [{ property: 'plan', day: 1 }])
  // Longer than it takes to remove them.
  for (let times = 0; times < 300; times++) await stat(folder)
  expect(journal.append(batch, NOW, null)).toEqual({ suspects: [{ project_id: 1, places: [0] }] })
  tell()
  const onDisk = () => former.filter((name) => existsSync(join(files.folderOf(1), name)))
  await expect.poll(onDisk).toEqual([])
  expect(journal.append(batch, NOW, null)).toEqual({ suspects: [{ project_id: 1, places: [0] }] })
})
