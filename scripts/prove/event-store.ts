// Events in memory, with the promises of platform/event-store: rising positions, some of them without an event, arrival times
// that never run backwards, and once a position was asked for, nothing arrives before that instant any more.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type {
  CutTexts,
  Measured,
  PositionBlock,
  PositionRange,
  StagedFile,
} from '../../src/platform/event-store/event-store.ts'
import type {
  Area,
  EventChoice,
  ExportColumn,
  ExportRows,
} from '../../src/platform/event-store/export-rows.ts'
import { readSelection } from './selection.ts'

export type SimulatedEvent = {
  seq: number
  uuid: string
  event: string
  distinct_id: string
  timestamp: Date
  inserted_at: Date
}

export class MemoryStore {
  /** Whose SQL selection.ts reads. */
  readonly engine = 'duckdb'
  readonly events: SimulatedEvent[] = []
  readonly #folder: string
  readonly #holds_arrivals: boolean
  #arrival = new Date(0)
  readonly #holes: PositionRange[] = []
  #last = 0
  #files = 0

  /** Without `holds_arrivals` it breaks its promise, which the proof must notice. */
  constructor(folder: string, { holds_arrivals }: { holds_arrivals: boolean }) {
    this.#folder = folder
    this.#holds_arrivals = holds_arrivals
  }

  /** `missing` positions follow for which there is no event: a writer died that had been given them. */
  write(
    events: readonly Pick<SimulatedEvent, 'uuid' | 'event' | 'distinct_id' | 'timestamp'>[],
    now: Date,
    missing: number,
  ): void {
    this.#raise(now)
    for (const event of events) {
      this.events.push({ ...event, seq: ++this.#last, inserted_at: this.#arrival })
    }
    if (missing > 0) this.#holes.push({ from: this.#last, to: this.#last + missing })
    this.#last += missing
  }

  async positionAt(_project_id: number, time: Date): Promise<number> {
    if (this.#holds_arrivals) this.#raise(time)
    return this.positionBefore(time)
  }

  async lastPosition(): Promise<number> {
    return this.#last
  }

  async holes(): Promise<PositionRange[]> {
    return this.#holes
  }

  async arrivalsOf(positions: readonly number[]): Promise<(Date | null)[]> {
    const arrivals = new Map(this.events.map(({ seq, inserted_at }) => [seq, inserted_at]))
    return positions.map((position) => arrivals.get(position) ?? null)
  }

  async measureAreas({ query }: EventChoice, areas: readonly Area[]): Promise<Measured[]> {
    const chosen = this.events.filter(readSelection(query))
    return areas.map((area) => {
      const times = chosen.filter((event) => isIn(event, area)).map(({ timestamp }) => timestamp.getTime())
      const at = (choose: (...values: number[]) => number) =>
        times.length === 0 ? null : new Date(choose(...times))
      return { rows: times.length, first_at: at(Math.min), last_at: at(Math.max) }
    })
  }

  async countBlocks(rows: ExportRows, block_size: number): Promise<PositionBlock[]> {
    const blocks = new Map<number, PositionBlock>()
    for (const { seq } of this.#select(rows, { from: 0, to: this.#last })) {
      const block = Math.ceil(seq / block_size) - 1
      const before = blocks.get(block)?.rows ?? 0
      blocks.set(block, { from: block * block_size, to: seq, rows: before + 1 })
    }
    return [...blocks.values()]
  }

  async cutRows(rows: ExportRows, { from, to }: PositionRange, max_rows: number): Promise<PositionBlock[]> {
    const chosen = this.#select(rows, { from, to })
    const blocks: PositionBlock[] = []
    for (let start = 0; start < Math.max(chosen.length, 1); start += max_rows) {
      const cut = chosen.slice(start, start + max_rows)
      const isLast = start + max_rows >= chosen.length
      blocks.push({ from: blocks.at(-1)?.to ?? from, to: isLast ? to : cut.at(-1)!.seq, rows: cut.length })
    }
    return blocks
  }

  async exportRows(rows: ExportRows, range: PositionRange): Promise<StagedFile> {
    const path = join(this.#folder, `${++this.#files}`)
    const chosen = this.#select(rows, range)
    const text = linesOf(chosen, rows.columns)
    writeFileSync(path, text)
    return { path, rows: chosen.length, bytes: Buffer.byteLength(text) }
  }

  /** Every text here is short. */
  async findCutTexts(): Promise<CutTexts> {
    return { rows: 0, first: null, columns: [] }
  }

  /** By the arrival times as they are now. */
  positionBefore(time: Date): number {
    const next = this.events.find(({ inserted_at }) => inserted_at >= time)
    return next ? next.seq - 1 : this.#last
  }

  #select({ source }: ExportRows, { from, to }: PositionRange): SimulatedEvent[] {
    if (source.model !== 'events') throw new Error(`there are no ${source.model} here`)
    const isChosen = readSelection(source.query)
    return this.events.filter(
      (event) =>
        event.seq > from &&
        event.seq <= to &&
        isChosen(event) &&
        source.areas.some((area) => isIn(event, area)),
    )
  }

  #raise(time: Date): void {
    if (time > this.#arrival) this.#arrival = time
  }
}

function isIn({ seq, timestamp }: SimulatedEvent, { seq_from, seq_to, time_from, time_to }: Area): boolean {
  const isTimely = (time_from === null || timestamp >= time_from) && (time_to === null || timestamp < time_to)
  return seq > seq_from && seq <= seq_to && isTimely
}

/** One JSON object to a line, with the columns that were asked for. */
export function linesOf(
  events: readonly SimulatedEvent[],
  columns: readonly Pick<ExportColumn, 'name'>[],
): string {
  return events.map((event) => `${lineOf(event, columns)}\n`).join('')
}

function lineOf(event: SimulatedEvent, columns: readonly Pick<ExportColumn, 'name'>[]): string {
  const values: Record<string, unknown> = {
    ...event,
    _inserted_at: event.inserted_at,
    created_at: event.inserted_at,
  }
  return JSON.stringify(Object.fromEntries(columns.map(({ name }) => [name, values[name] ?? null])))
}
