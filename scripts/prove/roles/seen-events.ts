// What can be seen of a project's events. Whatever was seen up to a position stays as it was: nothing appears below the
// visible end, and nothing goes.
import type { Database } from '../../../src/platform/db/database.ts'
import type { ClickHouse } from '../../../src/platform/event-store/clickhouse/client.ts'
import { OwedCopies } from '../../../src/platform/event-store/clickhouse/owed-copies.ts'
import { Positions } from '../../../src/platform/event-store/clickhouse/positions.ts'
import { visibleEvents } from '../../../src/platform/event-store/clickhouse/visible-sql.ts'
import type { Random } from '../../crash/random.ts'
import type { Ledger } from '../crash/ledger.ts'

type Look = { end: number; sum: string }

/** Looks that are compared with: the first ones of a run as likely as the last. */
const KEPT_LOOKS = 50
export const STORE = 'the event store'

export class SeenEvents {
  readonly #clickhouse: ClickHouse
  readonly #positions: Positions
  readonly #project_id: number
  readonly #random: Random
  readonly #fault: (text: string) => void
  readonly #looks: Look[] = []
  #counted_to = 0
  looks = 0

  constructor(
    { db, clickhouse }: { db: Database; clickhouse: ClickHouse },
    project_id: number,
    random: Random,
    fault: (text: string) => void,
  ) {
    this.#clickhouse = clickhouse
    this.#positions = new Positions(db, new OwedCopies(db))
    this.#project_id = project_id
    this.#random = random
    this.#fault = fault
  }

  /** Throws while a store is away. */
  async look(): Promise<void> {
    const earlier = this.#looks.length > 0 ? this.#random.pick(this.#looks) : null
    const last = this.#looks.at(-1)
    const { end } = (await this.#positions.visible(this.#project_id))!
    if (last && end < last.end) this.#fault(`the visible end went back from ${last.end} to ${end}`)
    const sum = await this.#sumUpTo(end)
    for (const before of earlier === last ? [last] : [earlier, last]) {
      if (before && (await this.#sumUpTo(before.end)) !== before.sum)
        this.#fault(`what was seen up to position ${before.end} has changed`)
    }
    this.looks++
    if (this.#looks.length === KEPT_LOOKS) this.#looks.splice(this.#random.below(KEPT_LOOKS), 1)
    this.#looks.push({ end, sum })
  }

  /** Events since the last time, each of them into the ledger. */
  async countInto(ledger: Ledger): Promise<void> {
    const { end } = (await this.#positions.visible(this.#project_id))!
    const rows = await this.#rows('toString(uuid)', `seq > ${this.#counted_to} AND seq <= ${end}`)
    this.#counted_to = end
    ledger.deliver(
      STORE,
      rows.map(([uuid]) => String(uuid)),
      `positions up to ${end}`,
    )
  }

  async #sumUpTo(end: number): Promise<string> {
    const [row] = await this.#rows(
      'count(), sum(cityHash64(seq, uuid, event, distinct_id, properties))',
      `seq <= ${end}`,
    )
    return row!.join(' ')
  }

  async #rows(what: string, where: string): Promise<unknown[][]> {
    const { end, hidden } = (await this.#positions.visible(this.#project_id))!
    return await this.#clickhouse.rows({
      sql: `SELECT ${what} FROM ${visibleEvents('{project:Int64}')} WHERE ${where}`,
      parameters: [],
      named: { project: this.#project_id, visible_end: end, hidden },
    })
  }
}
