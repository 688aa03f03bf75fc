// A power cut: what was not synced is there, in part or not at all, as chance has it. It is stricter than most file
// systems: a file that was synced may still be missing from a folder that was not.
import {
  appendFileSync,
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../../random.ts'

/** Names with the numbers of their files; folders have none. */
type Entries = Readonly<Record<string, number | null>>
type Line = { folder: string; entries: Entries } | { ino: number; size: number }

/** Emptied at each start, and the file that locks the folder, which DuckDB syncs where record-syncs.cjs does not see it. */
const LEFT_ALONE = new Set(['spill', 'staging', 'in-use.duckdb'])

export class Power {
  readonly #root: string
  readonly #records: string

  /** `root` is the folder that loses what was not synced; `records` is for what a cut must know. */
  constructor(root: string, records: string) {
    this.#root = root
    this.#records = records
    mkdirSync(records, { recursive: true })
    this.#begin()
  }

  /** For the server whose power is to be cut. */
  get env(): Record<string, string> {
    const preload = join(process.cwd(), 'scripts/crash/events/power/record-syncs.cjs')
    return { NODE_OPTIONS: `--require=${preload}`, POWER_ROOT: this.#root, POWER_RECORDS: this.#records }
  }

  /** After the server was killed. */
  cut(random: Random): void {
    const durable = new Durable(this.#records)
    this.#cutFolder(this.#root, durable, random)
    rmSync(this.#records, { recursive: true })
    mkdirSync(this.#records)
    this.#begin()
  }

  /** Whatever is there now has been there for long. */
  #begin(): void {
    if (existsSync(this.#root)) this.#recordFolder(this.#root)
  }

  #recordFolder(folder: string): void {
    const entries: Record<string, number | null> = {}
    for (const { name, path, ino, size, isFolder } of list(folder)) {
      entries[name] = isFolder ? null : ino
      if (isFolder) this.#recordFolder(path)
      else {
        const kept = join(this.#records, String(ino))
        if (!existsSync(kept)) linkSync(path, kept)
        this.#record({ ino, size })
      }
    }
    this.#record({ folder, entries })
  }

  #record(line: Line): void {
    appendFileSync(join(this.#records, 'log'), `${JSON.stringify(line)}\n`)
  }

  #cutFolder(folder: string, durable: Durable, random: Random): void {
    const before = durable.entriesOf(folder)
    const now = new Map(list(folder).map((entry) => [entry.name, entry]))
    for (const name of new Set([...Object.keys(before), ...now.keys()])) {
      const path = join(folder, name)
      const there = now.get(name)
      const isCertain = before[name] === (there?.isFolder ? null : there?.ino)
      if (!isCertain && random.chance(50)) {
        rmSync(path, { recursive: true, force: true })
        if (before[name] !== undefined) durable.restore(path, before[name])
      }
      if (!existsSync(path)) continue
      if (statSync(path).isDirectory()) this.#cutFolder(path, durable, random)
      else tear(path, durable, random)
    }
  }
}

class Durable {
  readonly #records: string
  readonly #folders = new Map<string, Entries>()
  readonly #sizes = new Map<number, number>()

  constructor(records: string) {
    this.#records = records
    const log = join(records, 'log')
    const lines = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []
    for (const text of lines) {
      const line = JSON.parse(text) as Line
      if ('folder' in line) this.#folders.set(line.folder, line.entries)
      else this.#sizes.set(line.ino, line.size)
    }
  }

  entriesOf(folder: string): Entries {
    const entries = Object.entries(this.#folders.get(folder) ?? {})
    return Object.fromEntries(entries.filter(([name]) => !LEFT_ALONE.has(name)))
  }

  sizeOf(ino: number): number {
    return this.#sizes.get(ino) ?? 0
  }

  restore(path: string, ino: number | null): void {
    if (ino !== null) return linkSync(join(this.#records, String(ino)), path)
    mkdirSync(path)
    for (const [name, inside] of Object.entries(this.entriesOf(path))) this.restore(join(path, name), inside)
  }
}

/** Somewhere behind what was synced, and what is left of the rest may be nothing but zeros. */
function tear(path: string, durable: Durable, random: Random): void {
  const { ino, size } = statSync(path)
  const synced = Math.min(durable.sizeOf(ino), size)
  const left = synced + random.below(size - synced + 1)
  if (left < size) truncateSync(path, left)
  if (left > synced && random.chance(50)) {
    const file = openSync(path, 'r+')
    const from = synced + random.below(left - synced)
    writeSync(file, Buffer.alloc(left - from), 0, left - from, from)
    closeSync(file)
  }
}

function list(folder: string) {
  const names = readdirSync(folder).filter((name) => !LEFT_ALONE.has(name))
  return names.map((name) => {
    const path = join(folder, name)
    const found = statSync(path)
    return { name, path, ino: found.ino, size: found.size, isFolder: found.isDirectory() }
  })
}
