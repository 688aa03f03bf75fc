// What a project has in the journal and not yet in its tables: where it stands, and the ids and times of its events, by
// which an event that comes again is known.
import { idAt, timeAt } from './section.ts'

const DAY = 86_400_000_000n

/** A section of a record, to be read from the file. */
export type Waiting = {
  record: number
  file: number
  offset: number
  bytes: number
  count: number
  seq_from: number
  repeats: readonly number[]
  inserted_at: bigint
}

/** Times by id: the same id may come again after more than a day. */
export type KnownIds = Map<string, bigint[]>

export class Tail {
  last_seq: number
  bytes = 0
  events = 0
  #sections: Waiting[] = []
  #ids: KnownIds = new Map()
  /** What is being folded: it counts as known until that is done. */
  #sealed: { sections: Waiting[]; ids: KnownIds } = { sections: [], ids: new Map() }

  constructor(last_seq: number) {
    this.last_seq = last_seq
  }

  get isEmpty(): boolean {
    return this.#sections.length + this.#sealed.sections.length === 0
  }

  add(waiting: Waiting, section: Buffer): void {
    const left_out = new Set(waiting.repeats)
    for (let index = 0; index < waiting.count; index++) {
      if (!left_out.has(index))
        remember(this.#ids, idAt(section, index), timeAt(section, waiting.count, index))
    }
    this.#sections.push(waiting)
    this.last_seq = waiting.seq_from + waiting.count - waiting.repeats.length
    this.bytes += waiting.bytes
    this.events += waiting.count
  }

  has(id: string, time: bigint): boolean {
    return isKnown(this.#ids, id, time) || isKnown(this.#sealed.ids, id, time)
  }

  /** Everything that waits, to be folded; a fold that failed is begun again with what came since. */
  seal(): readonly Waiting[] {
    const { sections, ids } = this.#sealed
    for (const [id, times] of this.#ids) for (const time of times) remember(ids, id, time)
    this.#sealed = { sections: [...sections, ...this.#sections], ids }
    this.#sections = []
    this.#ids = new Map()
    return this.#sealed.sections
  }

  /** What was sealed is in the tables. */
  forget(): readonly Waiting[] {
    const { sections } = this.#sealed
    this.#sealed = { sections: [], ids: new Map() }
    for (const { bytes, count } of sections) {
      this.bytes -= bytes
      this.events -= count
    }
    return sections
  }

  get first_file(): number | undefined {
    return (this.#sealed.sections[0] ?? this.#sections[0])?.file
  }

  get sections(): readonly Waiting[] {
    return [...this.#sealed.sections, ...this.#sections]
  }
}

export function remember(ids: KnownIds, id: string, time: bigint): void {
  const times = ids.get(id)
  if (times) times.push(time)
  else ids.set(id, [time])
}

export function isKnown(ids: KnownIds, id: string, time: bigint): boolean {
  return ids.get(id)?.some((other) => isNear(time, other)) ?? false
}

export function isNear(one: bigint, other: bigint): boolean {
  return (one > other ? one - other : other - one) <= DAY
}

/** Whether a file may have an event within a day of this one. */
export function mayBeNear(time: bigint, first: bigint, last: bigint): boolean {
  return time >= first - DAY && time <= last + DAY
}
