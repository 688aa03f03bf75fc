// What changes the files of a project, at the same time as something else or without success.
import { DuckDBInstance } from '@duckdb/node-api'
import { randomBytes } from 'node:crypto'
import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Copies } from '../../event-store.ts'
import { rows } from '../statements.ts'
import { copiesView } from './copies.ts'
import { ROW_GROUP } from './events.ts'
import { gatheredEvents, NO_COPIES } from './fixture/gathered.ts'
import { filesOf, MANIFEST_NAME, segmentFiles } from './manifest.ts'
import { readParquet } from './parquet.ts'
import { ProjectFiles } from './project-files.ts'
import type { Gathered } from './sections.ts'

const [LOOSE, TIDY] = [{ isTidy: false }, { isTidy: true }]

let folder: string
let instance: DuckDBInstance
let files: ProjectFiles
let last_seq: number
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-files-'))
  instance = await DuckDBInstance.create()
  files = await ProjectFiles.open(folder, instance)
  last_seq = 0
})
afterEach(async () => {
  await files.close()
  instance.closeSync()
  await rm(folder, { recursive: true, force: true })
})

/** New events, as the journal gives them. */
function gathered(count: number, copies: Partial<Copies> = {}, changed_at = 0n): Gathered {
  const made = gatheredEvents(count, last_seq, { copies: { ...NO_COPIES, ...copies }, changed_at })
  last_seq += count
  return made
}
const add = (count: number) => files.add(1, () => gathered(count), LOOSE)

const onDisk = async () => (await readdir(files.folderOf(1))).toSorted()
const listed = () => [...filesOf(files.manifest(1)), MANIFEST_NAME].toSorted()
async function storedIds(): Promise<[total: number, distinct: number]> {
  const paths = files.manifest(1).segments.map(({ file }) => join(files.folderOf(1), file))
  const asked = `SELECT count(*), count(DISTINCT uuid) FROM ${readParquet(paths)}`
  const [counted] = await rows(await instance.connect(), asked)
  return [Number(counted![0]), Number(counted![1])]
}
/** A file with the same events as the first, as for other columns. */
async function writtenAgain() {
  const [segment] = files.manifest(1).segments
  const file = 'again.parquet'
  for (const [at, name] of segmentFiles({ file }).entries()) {
    await copyFile(join(files.folderOf(1), segmentFiles(segment!)[at]!), join(files.folderOf(1), name))
  }
  return { former: segment!.file, segment: { ...segment!, file } }
}

describe('a file that is written again with other columns', () => {
  it('while it is being folded into another is not wanted, and no event is there twice', async () => {
    await add(3)
    await add(2)
    const { former, segment } = await writtenAgain()
    const [, replaced] = await Promise.all([
      files.fold(1, null, TIDY),
      files.replaceSegment(1, former, segment),
    ])
    expect(replaced).toBeNull()
    expect(await storedIds()).toEqual([5, 5])
  })

  it('stands in its place otherwise', async () => {
    await add(3)
    const { former, segment } = await writtenAgain()
    const replaced = await files.replaceSegment(1, former, segment)
    expect(replaced!.segments).toEqual([segment])
  })
})

describe('what could not be written', () => {
  it('by a fold leaves no file', async () => {
    await add(3)
    const broken = { deleted_persons: ['no uuid'] }
    await expect(files.add(1, () => gathered(2, broken), LOOSE)).rejects.toThrow('no uuid')
    expect(await onDisk()).toEqual(listed())
    expect(await storedIds()).toEqual([3, 3])
  })

  it('by a merge leaves no file, and is written when the cause is gone, once', { tags: 'slow' }, async () => {
    for (let times = 0; times < 8; times++) await add(ROW_GROUP)
    const { former, segment } = await writtenAgain()
    const damaged = join(files.folderOf(1), files.manifest(1).segments[7]!.file)
    const content = await readFile(damaged)
    await writeFile(damaged, 'damaged')
    await expect(files.merge(1)).rejects.toThrow('Parquet')
    expect(await onDisk()).toEqual([...listed(), ...segmentFiles(segment)].toSorted())
    expect(files.manifest(1).segments).toHaveLength(8)
    await writeFile(damaged, content)
    const [merged, replaced] = await Promise.all([files.merge(1), files.replaceSegment(1, former, segment)])
    expect([merged?.segments.length, replaced]).toEqual([1, null])
    expect(await storedIds()).toEqual([8 * ROW_GROUP, 8 * ROW_GROUP])
  })

  it('of copies that are all gone leaves no file', async () => {
    const id = '018f0000-0000-7000-8000-000000000001'
    await files.add(1, () => gathered(1, { deleted_persons: [id] }), LOOSE)
    expect(await onDisk()).toEqual(listed())
    expect(files.manifest(1).copies.persons).toEqual([])
  })
})

describe('a person who was deleted', () => {
  const DAY = 86_400_000_000n
  const idOf = (number: number) => `018f0000-0000-7000-8000-${String(number).padStart(12, '0')}`
  const person = (number: number) => ({
    id: idOf(number),
    created_at: 0n,
    is_identified: true,
    properties: JSON.stringify({ text: randomBytes(100_000).toString('hex') }),
    version: 1,
  })
  const change = (copies: Partial<Copies>, at: bigint) => files.add(1, () => gathered(0, copies, at), LOOSE)
  const personFiles = () => files.manifest(1).copies.persons.map(({ file }) => join(files.folderOf(1), file))
  const ask = async (sql: string) => Number((await rows(await instance.connect(), sql))[0]![0])
  const shown = () => ask(`SELECT count(*) FROM (${copiesView('persons', personFiles())})`)
  const onDiskOf = (id: string) =>
    ask(`SELECT count(*) FROM ${readParquet(personFiles())} WHERE id = '${id}'`)

  it('is shown no more at once, and is in no file a day later, without all being written again each time', async () => {
    await change({ persons: Array.from({ length: 20 }, (_, number) => person(number)) }, 0n)
    const [large] = personFiles()
    await change({ deleted_persons: [idOf(7)] }, DAY)
    expect(personFiles()).toEqual([expect.any(String), large])
    expect(await shown()).toBe(19)
    await change({ deleted_persons: [idOf(8)] }, 2n * DAY - 1n)
    expect(personFiles()).toEqual([expect.any(String), large])
    expect(await shown()).toBe(18)
    await change({ persons: [person(30)] }, 2n * DAY)
    expect(personFiles()).toHaveLength(1)
    expect([await shown(), await onDiskOf(idOf(7)), await onDiskOf(idOf(8))]).toEqual([19, 0, 0])
  })
})
