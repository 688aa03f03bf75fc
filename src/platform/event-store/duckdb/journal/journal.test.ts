// The journal through what may happen to its files: torn ends, flipped bits, and going once everything is folded.
import { mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { eventsOf, storedEvent } from '../../fixture/suite.ts'
import type { StoredEvent } from '../../event-store.ts'
import { EMPTY_MANIFEST, projectFolder } from '../segments/manifest.ts'
import { buildIdFilter } from './id-filter.ts'
import { Journal, type Appended, type NotAppended } from './journal.ts'
import { encodeRecord, type RecordHead } from './record.ts'
import { decodeSection, encodeIds, encodeWrite, idAt } from './section.ts'

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
  return journal.append([encodeWrite(eventsOf(project_id, ...events))], NOW, null) as Appended
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
    journal.append([encodeWrite(eventsOf(1, ...spelt({ deleted: [2] })))], NOW, null)
    await writeFile(path, harm(await readFile(path)))
    reopen()
    expect(journal.damages).toMatchObject([{ offset: before, is_inside: false }])
    expect(journal.deleted).toEqual([])
    expect(journal.inserted_at).toBe(NOW)
    expect(await waitingNames(2)).toEqual(['of somebody else'])
  })

  it('are none either where the file has a record after them, or begins with damage', async () => {
    journal.append([encodeWrite(eventsOf(1, ...spelt({ deleted: [2] })))], NOW, null)
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
  const batch = (...events: StoredEvent[]) => [encodeWrite(eventsOf(1, ...events))]
  const append = (...events: StoredEvent[]) => journal.append(batch(...events), NOW, null)
  const absent = (look_up: number, ...events: StoredEvent[]) =>
    journal.look_ups.foundAbsent(1, look_up, encodeIds(events))
  const suspects = (...places: number[]) => ({ suspects: [{ project_id: 1, places }] })
  let version = 0
  beforeEach(() => void (version = 0))

  /** As if all that waits lay in one file with these events. */
  async function fold(...events: StoredEvent[]): Promise<void> {
    const filter = buildIdFilter(
      events.map((event) => idAt(Buffer.from(batch(event)[0]!.bytes), 0)),
      events.length,
    )
    const times = String(events[0]!.timestamp)
    const count = events.length
    version += 1
    await mkdir(projectFolder(folder, 1), { recursive: true })
    await writeFile(join(projectFolder(folder, 1), `${version}.ids`), filter)
    const segment = { file: String(version), first_row: 0, rows: count, seq_from: 0, seq_to: count }
    const bounds = { first_time: times, last_time: times, filter_bytes: filter.length }
    const folded = journal.seal(1)!.upto
    journal.folded(1, { ...EMPTY_MANIFEST, version, folded, segments: [{ ...segment, ...bounds }] })
  }

  it('is written in no case before somebody has looked for it in files', async () => {
    const [filed, fresh] = [storedEvent(), storedEvent()]
    append(filed)
    await fold(filed)
    expect(append(fresh, filed)).toEqual(suspects(1))
    const look_up = journal.look_ups.begin(1)
    expect(append(fresh, filed)).toEqual(suspects(1))
    // What a file has it does not become known by: it is left out by whoever looked.
    absent(look_up, fresh)
    expect(append(filed)).toEqual(suspects(0))
    expect(append(fresh)).toMatchObject({ written: [{ stored: 1, last_seq: 2 }] })
  })

  it('is known though it came from the journal into a file after the look had begun', async () => {
    const [waiting, filed] = [storedEvent(), storedEvent()]
    append(filed)
    await fold(filed)
    append(waiting)
    const look_up = journal.look_ups.begin(1)
    absent(look_up, waiting)
    await fold(filed, waiting)
    expect(append(waiting)).toMatchObject({ written: [{ stored: 0, last_seq: 2 }] })
    // A look that began after that has seen the file.
    journal.look_ups.end(1, look_up)
    expect(append(waiting)).toEqual(suspects(0))
  })

  it('while two looks are under way is stored by the first of them', async () => {
    const [filed, twice] = [storedEvent(), storedEvent()]
    append(filed)
    await fold(filed)
    const [one, other] = [journal.look_ups.begin(1), journal.look_ups.begin(1)]
    absent(one, twice)
    absent(other, twice)
    expect(append(twice)).toMatchObject({ written: [{ stored: 1, last_seq: 2 }] })
    journal.look_ups.end(1, one)
    await fold(filed, twice)
    expect(append(twice)).toMatchObject({ written: [{ stored: 0, last_seq: 2 }] })
  })

  it('at another time than the one that was looked for is looked for again', async () => {
    const filed = storedEvent()
    append(filed)
    await fold(filed)
    absent(journal.look_ups.begin(1), { ...filed, timestamp: filed.timestamp + 86_400_000_001n })
    expect(append(filed)).toEqual(suspects(0))
    expect(append({ ...filed, timestamp: filed.timestamp + 1n })).toEqual(suspects(0))
  })

  it('holds up nobody with filters that are read in more than a moment', async () => {
    const filed = storedEvent()
    append(filed)
    await fold(filed)
    const large = { ...readSegment(), filter_bytes: 2 ** 24 }
    const segments = Array.from({ length: 20 }, () => large)
    journal.replaced(1, { ...EMPTY_MANIFEST, version: 9, folded: 2, segments })
    const fresh = Array.from({ length: 100 }, () => storedEvent())
    expect((append(...fresh) as NotAppended).suspects[0]!.places).toHaveLength(100)
    expect(append(storedEvent())).toMatchObject({ written: [{ stored: 1 }] })
  })

  const readSegment = () => {
    const times = String(storedEvent().timestamp)
    return { file: '1', first_row: 0, rows: 1, seq_from: 0, seq_to: 1, first_time: times, last_time: times }
  }
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
    journal.append([], NOW, 7n)
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
