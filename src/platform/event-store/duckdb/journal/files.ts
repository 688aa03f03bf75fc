// The files of the journal: records are appended to the last one and are on the disk when `append` returns. A file is
// deleted once everything in it is in the tables of its projects.
import {
  closeSync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writevSync,
} from 'node:fs'
import { join } from 'node:path'
import { makeFolder, sync } from '../durable.ts'
import { encodeRecord, findRecord, readRecord, type FoundRecord, type RecordHead } from './record.ts'
import { readSign, type Signs } from './sign.ts'

/** Bytes of a file that form no whole record: a torn end left by a killed process, or damage. */
export type Damage = {
  file: string
  offset: number
  bytes: number
  /** Whole records follow. */ is_inside: boolean
}

/** Where a record's first section begins. */
export type RecordPlace = { file: number; body: number }

export class JournalFiles {
  readonly #folder: string
  readonly #sign: string
  #number: number
  #descriptor: number | null = null
  #bytes = 0

  /** Numbers of the files before the current one. */
  readonly older: Set<number>

  private constructor(folder: string, sign: string, found: readonly number[]) {
    this.#folder = folder
    this.#sign = sign
    this.#number = found.at(-1) ?? 0
    this.older = new Set(found)
  }

  /** Passes every whole record to `take`, in order. */
  static open(
    folder: string,
    take: (found: FoundRecord, file: number, content: Buffer) => void,
  ): { files: JournalFiles; damages: Damage[] } {
    makeFolder(folder)
    const { sign, is_new } = readSign(folder)
    const damages: Damage[] = []
    const numbers = listNumbers(folder)
    for (const number of numbers) {
      const content = readFileSync(join(folder, fileName(number)))
      damages.push(...readAll(content, number, signsIn(content, sign, is_new), take))
    }
    for (const damage of damages) setAside(folder, damage)
    return { files: new JournalFiles(folder, sign, numbers), damages }
  }

  get current(): number {
    return this.#number
  }

  /** Size of the current file; 0 when it has no record yet. */
  get bytes(): number {
    return this.#bytes
  }

  path(file: number): string {
    return join(this.#folder, fileName(file))
  }

  /** Starts a new file for the next records. */
  begin(): void {
    this.close()
    this.#descriptor = openSync(this.path(this.#number + 1), 'wx', 0o600)
    this.older.add(this.#number)
    this.#number++
    this.#bytes = 0
    sync(this.#folder)
  }

  append(head: RecordHead, sections: readonly Uint8Array[]): RecordPlace {
    const parts = encodeRecord({ ...head, sign: this.#sign }, sections)
    const [prefix, text] = parts
    const body = this.#bytes + prefix!.length + text!.length
    try {
      const written = writeAll(this.#descriptor!, parts, this.#bytes)
      fdatasyncSync(this.#descriptor!)
      this.#bytes += written
    } catch (error) {
      ftruncateSync(this.#descriptor!, this.#bytes)
      throw error
    }
    return { file: this.#number, body }
  }

  remove(file: number): void {
    this.older.delete(file)
    rmSync(this.path(file), { force: true })
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor)
    this.#descriptor = null
  }
}

const fileName = (number: number) => `${String(number).padStart(10, '0')}.journal`

function listNumbers(folder: string): number[] {
  return readdirSync(folder)
    .filter((name) => /^\d{10}\.journal$/.test(name))
    .map((name) => Number.parseInt(name, 10))
    .sort((one, other) => one - other)
}

/** What begins a file is no client's: it tells what the others have, also where they are older than the folder's sign. */
function signsIn(content: Buffer, sign: string, is_new: boolean): Signs {
  const first = readRecord(content, 0)
  return new Set(first ? [sign, first.head.sign] : is_new ? [sign, undefined] : [sign])
}

function readAll(
  content: Buffer,
  number: number,
  signs: Signs,
  take: (found: FoundRecord, file: number, content: Buffer) => void,
): Damage[] {
  const damages: Damage[] = []
  for (let offset = 0; offset < content.length;) {
    const found = readRecord(content, offset)
    if (found) {
      take(found, number, content)
      offset = found.end
      continue
    }
    const next = findRecord(content, offset + 1, signs)
    const bytes = (next ?? content.length) - offset
    damages.push({ file: fileName(number), offset, bytes, is_inside: next !== null })
    offset += bytes
  }
  return damages
}

/** Keeps the damaged bytes for inspection: the file itself is deleted once its records are in the tables. */
function setAside(folder: string, { file, offset, bytes }: Damage): void {
  const damaged = join(folder, 'damaged')
  makeFolder(damaged)
  const content = readFileSync(join(folder, file)).subarray(offset, offset + bytes)
  const path = join(damaged, `${file}.${offset}`)
  writeFileSync(path, content, { mode: 0o600, flush: true })
  sync(damaged)
}

/** Writes at an explicit position: after a failed write, the descriptor's own position is past the truncated end. */
function writeAll(descriptor: number, parts: readonly Uint8Array[], position: number): number {
  let left = [...parts]
  let written = 0
  while (left.length > 0) {
    let count = writevSync(descriptor, left.slice(0, MAX_PARTS), position + written)
    written += count
    while (left.length > 0 && count >= left[0]!.length) count -= left.shift()!.length
    if (left.length > 0) left = [left[0]!.subarray(count), ...left.slice(1)]
  }
  return written
}

/** Just below IOV_MAX, the number of buffers that the system takes in one call. */
const MAX_PARTS = 1_000
