// Rows of the buckets that differ, set aside on the disk in parts that each fit into memory: however many rows a table has,
// only one part of them is looked at at a time.
import { appendFileSync, createReadStream } from 'node:fs'
import { join } from 'node:path'
import { forEachLine } from './lines.ts'
import type { Entry } from './compare-rows.ts'

const ROWS_OF_A_PART = 20_000
const BUFFERED_CHARACTERS = 64 * 1024

type Part = { path: string; lines: string[]; characters: number; is_written: boolean }

export class Partitions {
  readonly #parts: Part[] = []
  readonly #by_bucket = new Map<string, Part>()

  /** `weights`: how many rows each bucket has, more or less. */
  constructor(folder: string, weights: ReadonlyMap<string, number>) {
    let rows = Infinity
    for (const [bucket, weight] of weights) {
      if (rows + weight > ROWS_OF_A_PART) {
        const path = join(folder, `part-${this.#parts.length}`)
        this.#parts.push({ path, lines: [], characters: 0, is_written: false })
        rows = 0
      }
      rows += weight
      this.#by_bucket.set(bucket, this.#parts.at(-1)!)
    }
  }

  /** Rows of other buckets are passed over. */
  add(bucket: string, { from, position, at, values }: Entry): void {
    const part = this.#by_bucket.get(bucket)
    if (!part) return
    const line = `${JSON.stringify([from, position, at, values])}\n`
    part.lines.push(line)
    part.characters += line.length
    if (part.characters > BUFFERED_CHARACTERS) flush(part)
  }

  async *read(): AsyncGenerator<Entry[]> {
    for (const part of this.#parts) {
      flush(part)
      if (part.is_written) yield await readEntries(part.path)
    }
  }
}

function flush(part: Part): void {
  if (part.lines.length === 0) return
  appendFileSync(part.path, part.lines.join(''))
  part.lines = []
  part.characters = 0
  part.is_written = true
}

async function readEntries(path: string): Promise<Entry[]> {
  const entries: Entry[] = []
  await forEachLine(createReadStream(path), (chunk, start, end) => {
    const [from, position, at, values] = JSON.parse(chunk.toString('utf8', start, end)) as [
      Entry['from'],
      Entry['position'],
      Entry['at'],
      Entry['values'],
    ]
    entries.push({ from, position, at, values })
  })
  return entries
}
