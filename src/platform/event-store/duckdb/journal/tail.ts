// What a project has in the journal and not yet in its tables: where it stands, and the ids and times of its events, by
// which an event that comes again is known.
import { isKnown, remember, rememberAll, type KnownIds } from '../../known-ids.ts'
import { idAt, timeAt } from './section.ts'

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
    rememberAll(ids, this.#ids)
    this.#sealed = { sections: [...sections, ...this.#sections], ids }
    this.#sections = []
    this.#ids = new Map()
    return this.#sealed.sections
  }

  /** What was sealed is in the tables. */
  forget(): { sections: readonly Waiting[]; ids: KnownIds } {
    const sealed = this.#sealed
    this.#sealed = { sections: [], ids: new Map() }
    for (const { bytes, count } of sealed.sections) {
      this.bytes -= bytes
      this.events -= count
    }
    return sealed
  }

  get first_file(): number | undefined {
    return (this.#sealed.sections[0] ?? this.#sections[0])?.file
  }

  get sections(): readonly Waiting[] {
    return [...this.#sealed.sections, ...this.#sections]
  }
}
