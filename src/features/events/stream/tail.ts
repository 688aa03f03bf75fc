// The events of a project as they are stored, for all streams that ask for the same ones.
import { message, type Message } from '../../../platform/http/live/message.ts'
import { stretch, type Stretch, type Tail } from '../../../platform/http/live/follow.ts'
import type { Services } from '../../../platform/services.ts'
import { assertConditions, conditionsOf, readFilters } from '../listing/filters.ts'
import type { GivenQuery } from '../listing/parameters.ts'
import { recordText } from '../listing/record.ts'
import { findPersonsOfRows } from '../listing/rows.ts'
import { namingField, type AskedProject } from '../run-query.ts'
import { findNewest, type Most, type PositionedRow, type Positions } from './newest.ts'

const TICK_MS = 1_000
/** With one look a second, this is what a stream gets each second. */
const MOST_PER_LOOK: Most = { events: 100, bytes: 512 * 1024 }
const MOST_MISSED: Most = { events: 1_000, bytes: 2 * 1024 * 1024 }
/** Further back nothing is looked for. */
const MAX_BEHIND = 100_000

export class EventTail implements Tail {
  readonly tick_ms = TICK_MS
  readonly line: string
  readonly #services: Services
  readonly #project: AskedProject
  readonly #query: GivenQuery
  #seen: number

  /** `seen`: the project's last position. */
  constructor(services: Services, project: AskedProject, query: GivenQuery, seen: number) {
    this.line = `events ${project.id}`
    this.#services = services
    this.#project = project
    this.#query = query
    this.#seen = seen
  }

  get seen(): number {
    return this.#seen
  }

  async look(): Promise<Stretch | null> {
    const to = await this.#services.eventStore.lastPosition(this.#project.id)
    const from = this.#seen
    if (to <= from) return null
    const { rows, others } = await this.#find({ from, to }, MOST_PER_LOOK)
    const skipped = others > 0 ? [message('skipped', { count: others }, rows[0]!.seq - 1)] : []
    const messages = [...skipped, ...(await this.#messagesOf(rows))]
    this.#seen = to
    return stretch(messages, to)
  }

  async missed(from: number, to: number): Promise<Stretch> {
    const start = Math.max(from, to - MAX_BEHIND)
    const { rows, others } = await this.#find({ from: start, to }, MOST_MISSED)
    const until = others > 0 ? rows[0]!.seq - 1 : start
    const gap = until > from ? [message('gap', { after: from, until }, until)] : []
    return stretch([...gap, ...(await this.#messagesOf(rows))], to)
  }

  /** Throws 400 when the filters make no sense, or the engine cannot do what they ask. */
  async assertSense(): Promise<void> {
    await this.#find({ from: this.#seen, to: this.#seen }, MOST_PER_LOOK)
  }

  /** Filters are read anew each time: relative dates move, and persons get new distinct ids. */
  async #find(positions: Positions, most: Most) {
    const [services, project] = [this.#services, this.#project]
    const asked = readFilters(this.#query, { now: services.now(), timezone: project.timezone })
    const conditions = await conditionsOf(services.db, project.id, asked)
    return namingField(
      () => findNewest(services, project, conditions, positions, most),
      () => assertConditions(services, project, asked),
    )
  }

  async #messagesOf(rows: readonly PositionedRow[]): Promise<Message[]> {
    const persons = await findPersonsOfRows(this.#services.db, this.#project.id, rows)
    return rows.map((row) => ({ event: 'event', id: row.seq, data: recordText(row, persons) }))
  }
}
