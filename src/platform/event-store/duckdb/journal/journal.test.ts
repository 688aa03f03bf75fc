// The journal through what may happen to its files: torn ends, flipped bits, and going once everything is folded.
import { mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { eventsOf, storedEvent } from '../../fixture/suite.ts'
import type { StoredEvent } from '../../event-store.ts'
import { EMPTY_MANIFEST, projectFolder } from '../segments/manifest.ts'
import { buildIdFilter } from './id-filter.ts'
import { Journal, type Appended } from './journal.ts'
import { encodeRecord, type RecordHead } from './record.ts'
import type { Suspicion } from './repeats.ts'
import { decodeSection, encodeWrite, idAt } from './section.ts'

const NOW = 1_770_000_000_000_000n

let folder: string
let journal: Journal
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-journal-'))
  journal = Journal.open(folder)
})
afterEach(async () => {
  journal.close()
  await rm(folder, { recursive: true, force: true })
})

const write = (project_id: number, ...names: string[]) => {
  const events = names.map((event) => storedEvent({ event }))
  return journal.append([encodeWrite(eventsOf(project_id, ...events))], NOW, null, null) as Appended
}
const reopen = () => {
  journal.close()
  return (journal = Journal.open(folder))
}
const files = async () => (await readdir(join(folder, 'journal'))).filter((name) => name.endsWith('.journal'))
const waitingNames = async (project_id: number) => {
  const sections = journal.seal(project_id)?.sections ?? []
  const names = []
  for (const { path, offset, bytes, count } of sections) {
    const content = await readFile(path)
    names.push(...decodeSection(content.subarray(offset, offset + bytes), count).events.event)
  }
  return names
}

describe('an end that was torn off', () => {
  it.each([1, 7, 40, 200])('by %i bytes costs the last record and nothing before it', async (bytes) => {
    write(1, 'a', 'b')
    write(2, 'other')
    const before = await lastFileSize()
    write(1, 'c')
    const [path, size] = [await lastFile(), await lastFileSize()]
    await truncate(path, Math.max(before + 1, size - bytes))
    reopen()
    expect(journal.damages).toMatchObject([{ offset: before, is_inside: false }])
    expect(journal.lastPosition(1)).toBe(2)
    expect(await waitingNames(1)).toEqual(['a', 'b'])
    expect(write(1, 'd').written).toMatchObject([{ stored: 1, last_seq: 3 }])
    expect(await waitingNames(1)).toEqual(['a', 'b', 'd'])
  })
})

describe('ids that spell a record', () => {
  /** Somebody may choose all bytes of an id, and those of a batch stand one after the other. */
  function spelt(head: Partial<RecordHead>): StoredEvent[] {
    const whole = {
      number: 1_000,
      inserted_at: NOW * 2n,
      copies_position: 0n,
      deleted: [],
      sections: [],
      ...head,
    }
    const length = Buffer.concat(encodeRecord(whole, [])).length
    // The head of a record may be as long as it likes.
    const id = ' '.repeat(16 - ((length + 5) % 16))
    const bytes = Buffer.concat(encodeRecord({ ...whole, [id]: 1 } as RecordHead, []))
    return Array.from({ length: bytes.length / 16 }, (_, at) => {
      const hex = bytes.toString('hex', at * 16, at * 16 + 16)
      const uuid = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
      return storedEvent({ uuid })
    })
  }

  it.each([
    ['torn off', (content: Buffer) => content.subarray(0, -40)],
    ['damaged', (content: Buffer) => Buffer.from(content.with(content.length - 40, 1))],
  ])('are none, where the record that holds them was %s', async (_, harm) => {
    write(2, 'of somebody else')
    const [path, before] = [await lastFile(), await lastFileSize()]
    journal.append([encodeWrite(eventsOf(1, ...spelt({ deleted: [2] })))], NOW, null, null)
    await writeFile(path, harm(await readFile(path)))
    reopen()
    expect(journal.damages).toMatchObject([{ offset: before, is_inside: false }])
    expect(journal.deleted).toEqual([])
    expect(journal.inserted_at).toBe(NOW)
    expect(await waitingNames(2)).toEqual(['of somebody else'])
  })

  it('are none either where the file has a record after them, or begins with damage', async () => {
    journal.append([encodeWrite(eventsOf(1, ...spelt({ deleted: [2] })))], NOW, null, null)
    const content = await readFile(await lastFile())
    write(2, 'after')
    const path = await lastFile()
    const whole = await readFile(path)
    for (const at of [20, content.length - 40]) whole[at]! ^= 4
    await writeFile(path, whole)
    reopen()
    expect(journal.damages.every(({ is_inside }) => is_inside)).toBe(true)
    expect(journal.deleted).toEqual([])
    expect(await waitingNames(2)).toEqual(['after'])
  })
})

describe('records of older versions', () => {
  it.each([
    ['between two', 90, ['c']],
    ['at the beginning', 20, ['b', 'c']],
  ])('have no sign, and are found past damage %s', async (_, at, names) => {
    journal.close()
    await rm(join(folder, 'journal'), { recursive: true })
    await mkdir(join(folder, 'journal'))
    const record = (number: number, name?: string) => {
      const write = encodeWrite(eventsOf(1, ...(name === undefined ? [] : [storedEvent({ event: name })])))
      const { project_id, count, bytes } = write
      const section = { project_id, count, seq_from: number - 2, repeats: [], bytes: bytes.length }
      const sections = name === undefined ? [] : [section]
      return encodeRecord(
        { number, inserted_at: NOW, copies_position: 0n, deleted: [], sections },
        sections.length > 0 ? [bytes] : [],
      )
    }
    const first = record(1)
    const whole = Buffer.concat([...first, ...record(2, 'b'), ...record(3, 'c')])
    whole[at === 20 ? at : Buffer.concat(first).length + at]! ^= 4
    await writeFile(join(folder, 'journal', '0000000001.journal'), whole)
    journal = Journal.open(folder)
    expect(journal.damages).toMatchObject([{ is_inside: true }])
    expect(await waitingNames(1)).toEqual(names)
  })
})

describe('a flipped bit', () => {
  it('costs its record alone, which is set aside as it was', async () => {
    write(1, 'a')
    const begin = await lastFileSize()
    write(1, 'b')
    const end = await lastFileSize()
    write(1, 'c')
    const [path, content] = [await lastFile(), await readFile(await lastFile())]
    content[begin + 60]! ^= 4
    await writeFile(path, content)
    reopen()
    expect(journal.damages).toEqual([
      { file: path.split('/').at(-1), offset: begin, bytes: end - begin, is_inside: true },
    ])
    const [aside] = await readdir(join(folder, 'journal/damaged'))
    expect(await readFile(join(folder, 'journal/damaged', aside!))).toEqual(content.subarray(begin, end))
    expect(await waitingNames(1)).toEqual(['a', 'c'])
    expect(journal.lastPosition(1)).toBe(3)
  })
})

describe('files', () => {
  it('go when all that is in them was folded, and what must be known stays', async () => {
    const large = 'x'.repeat(9_000_000)
    journal.deleteProject(9)
    for (let count = 0; count < 5; count++) write(1, large)
    write(2, 'small')
    expect((await files()).length).toBe(2)
    const waiting = journal.seal(1)!
    journal.folded(1, { ...EMPTY_MANIFEST, version: 1, folded: waiting.upto })
    expect((await files()).length).toBe(1)
    reopen()
    expect(journal.deleted).toEqual([9])
    expect(write(9, 'late').written).toEqual([])
    expect(await waitingNames(2)).toEqual(['small'])
  })

  it('of a fold that failed are kept, and folded again with what came since', async () => {
    write(1, 'a')
    journal.seal(1)
    write(1, 'b')
    expect(await waitingNames(1)).toEqual(['a', 'b'])
    expect(write(1, 'c').written).toMatchObject([{ last_seq: 3 }])
  })
})

describe('a project that was deleted', () => {
  it('has nothing after a restart, and what others have in the same file stays', async () => {
    write(1, 'a')
    journal.deleteProject(1)
    write(2, 'b')
    reopen()
    expect([journal.deleted, journal.waiting]).toEqual([[1], [2]])
    reopen()
    expect(await waitingNames(2)).toEqual(['b'])
  })

  it('may be all that a file has', () => {
    write(1, 'a')
    journal.deleteProject(1)
    reopen()
    expect([journal.deleted, journal.waiting]).toEqual([[1], []])
  })
})

describe('an event that is sent again', () => {
  it('is known though it came from the journal into a file while others were looked for in files', async () => {
    const [waiting, filed] = [storedEvent(), storedEvent()]
    const batch = (...events: StoredEvent[]) => [encodeWrite(eventsOf(1, ...events))]
    journal.append(batch(filed), NOW, null, null)
    const times = String(filed.timestamp)
    const filter = buildIdFilter([idAt(Buffer.from(batch(filed)[0]!.bytes), 0)], 1)
    await mkdir(projectFolder(folder, 1), { recursive: true })
    await writeFile(join(projectFolder(folder, 1), 'one.parquet.ids'), filter)
    const fold = () => ({ ...EMPTY_MANIFEST, folded: journal.seal(1)!.upto })
    const file = { file: 'one.parquet', first_row: 0, rows: 1, seq_from: 0, seq_to: 1 }
    const segment = { ...file, first_time: times, last_time: times, filter_bytes: filter.length }
    journal.folded(1, { ...fold(), version: 1, segments: [segment] })

    journal.append(batch(waiting), NOW, null, null)
    const asked = journal.append(batch(waiting, filed), NOW, null, null) as Suspicion
    expect(asked.suspects.map(({ uuid }) => uuid)).toEqual([filed.uuid])
    journal.folded(1, { ...fold(), version: 2, segments: [{ ...segment, rows: 2, seq_to: 2 }] })
    const cleared = { stored: asked.suspects, repeats: asked.repeats }
    const { written } = journal.append(batch(waiting, filed), NOW, null, cleared) as Appended
    expect(written).toMatchObject([{ stored: 0, last_seq: 2 }])
  })
})

describe('too many files', () => {
  /** Each write fills a file. */
  const begin = () => {
    journal.close()
    journal = Journal.open(folder, { file_bytes: 1, max_files: 3, too_many_files: 5 })
  }

  it('name the projects of the oldest one, once, and again when writes must wait for them', () => {
    begin()
    const due = [1, 2, 3, 4, 5, 6, 7].map((project_id) => {
      const { due: named, isFull } = write(project_id, 'x')
      return [named, isFull]
    })
    expect(due).toEqual([
      [[], false],
      [[], false],
      [[], false],
      [[1], false],
      [[], false],
      [[1], true],
      [[1], true],
    ])
    journal.folded(1, { ...EMPTY_MANIFEST, version: 1, folded: journal.seal(1)!.upto })
    expect(write(8, 'x').due).toEqual([2])
  })
})

describe('times and positions', () => {
  it('that were given hold over a restart, though the clock is set back', () => {
    journal.raiseTime(NOW + 5n)
    reopen()
    expect(write(1, 'a').written).toMatchObject([{ inserted_at: NOW + 5n }])
    journal.append([], NOW, 7n, null)
    reopen()
    expect(journal.copies_position).toBe(7n)
    expect(write(1, 'b').written).toMatchObject([{ last_seq: 2, inserted_at: NOW + 5n }])
  })
})

async function lastFile(): Promise<string> {
  return join(folder, 'journal', (await files()).sort().at(-1)!)
}

async function lastFileSize(): Promise<number> {
  return (await readFile(await lastFile())).length
}
