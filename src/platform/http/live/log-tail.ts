// The end of a log in PostgreSQL, for all streams that follow it.
import type { RequestFacts } from '../route.ts'
import { stretch, type Stretch, type Tail } from './follow.ts'
import { message } from './message.ts'
import { readPosition, type PositionQuery } from './position.ts'

/** Lines with ids in (from, to], in the order of their ids: the first so many of them, or the last. */
export type LineRange = { from: number; to: number; most: number; which: 'first' | 'last' }

export type FollowedLog<Row extends { id: number }> = {
  /** The id of the last line, or of a later one in another log; 0 without any. */
  last(): Promise<number>
  read(range: LineRange): Promise<Row[]>
  /** As the API shows a line. */
  present(row: Row): unknown
}

const TICK_MS = 500
const MOST_PER_LOOK = 100
const MOST_MISSED = 500

/** `after`: where the client wants to go on; null: from now on. */
export async function openLog<Row extends { id: number }>(
  log: FollowedLog<Row>,
  query: PositionQuery,
  { headers }: RequestFacts,
): Promise<{ tail: LogTail<Row>; after: number | null }> {
  const after = readPosition(query, headers)
  const last = await log.last()
  return { tail: new LogTail(log, last), after: after === null ? null : Math.min(after, last) }
}

export class LogTail<Row extends { id: number }> implements Tail {
  readonly tick_ms = TICK_MS
  readonly #log: FollowedLog<Row>
  #seen: number
  /** The last line that the last look has found. */
  #found: number

  /** `seen`: the last line there is. */
  constructor(log: FollowedLog<Row>, seen: number) {
    this.#log = log
    this.#seen = this.#found = seen
  }

  get seen(): number {
    return this.#seen
  }

  /** Lines were found that are not told yet. */
  get is_behind(): boolean {
    return this.#found > this.#seen
  }

  /**
   * A line is told when the next look finds it too. Ids are given when a line is written, not when it is committed: what
   * has a lower one may appear later, and would be passed over for good.
   */
  async look(): Promise<Stretch | null> {
    const to = Number.MAX_SAFE_INTEGER
    const rows = await this.#log.read({ from: this.#seen, to, most: MOST_PER_LOOK, which: 'first' })
    const last = rows.at(-1)?.id ?? this.#found
    const settled = rows.length === MOST_PER_LOOK ? Math.min(this.#found, last) : this.#found
    this.#found = Math.max(this.#found, last)
    if (settled === this.#seen) return null
    this.#seen = settled
    return stretch(this.#messagesOf(rows.filter(({ id }) => id <= settled)), settled)
  }

  async missed(from: number, to: number): Promise<Stretch> {
    const rows = await this.#log.read({ from, to, most: MOST_MISSED + 1, which: 'last' })
    if (rows.length <= MOST_MISSED) return stretch(this.#messagesOf(rows), to)
    const until = rows[0]!.id
    const gap = message('gap', { after: from, until }, until)
    return stretch([gap, ...this.#messagesOf(rows.slice(1))], to)
  }

  #messagesOf(rows: readonly Row[]) {
    return rows.map((row) => message('log', this.#log.present(row), row.id))
  }
}
