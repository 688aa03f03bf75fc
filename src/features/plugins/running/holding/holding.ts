// Which projects have events that wait for an app, and how much room those take. What this process does is counted as it
// happens; what others do is told (`held-events`) and counted anew a moment later. Where the database did not say how a write ended, too much is counted rather than too
// little, until `recount`: a line that is not there holds events up for a moment, one that is overlooked for ever.
import type { Services } from '../../../../platform/services.ts'
import { NoRoom } from '../../../events/no-room.ts'
import { insertHeldEvents, listHeldTotals, type NewHeldEvent } from './queries.ts'

type Waiting = {
  /** Those that others wait behind; rows on their way to the table are counted too. */
  in_line: number
  alone: number
  length: number
  /** Calls of `add` that have not ended. */
  adding: number
  /** Rises with every change. */
  changes: number
  /** A write may have ended either way. */
  is_unsure: boolean
  /** Whose app the line waits for. */
  config_id: number | null
}

type Part = { contents: string; alone: boolean }

type HoldingServices = Pick<Services, 'db' | 'now' | 'settings' | 'changes'>

const RETRY_AFTER_S = 30

export class Holding {
  readonly #services: HoldingServices
  readonly #projects = new Map<number, Waiting>()
  /** Another process has held some of theirs, or taken some up. */
  readonly #touched = new Set<number>()
  readonly #stopListening: () => void
  #is_all_touched = false

  constructor(services: HoldingServices) {
    this.#services = services
    this.#stopListening = services.changes.listen('held-events', (project_id, _, is_own) => {
      if (project_id === null) this.#is_all_touched = true
      else if (!is_own) this.#touched.add(project_id)
    })
  }

  close(): void {
    this.#stopListening()
  }

  /** Counts anew what other processes have changed. */
  async refresh(): Promise<void> {
    if (this.#is_all_touched) {
      const all = await listHeldTotals(this.#services.db)
      for (const id of [...this.#projects.keys(), ...all.map(({ project_id }) => project_id)])
        this.#touched.add(id)
      this.#is_all_touched = false
    }
    const touched = [...this.#touched]
    this.#touched.clear()
    for (const project_id of touched) {
      const isCounted = await this.recount(project_id).catch(() => false)
      if (!isCounted) this.#touched.add(project_id)
    }
  }

  async load(): Promise<void> {
    for (const { project_id, ...totals } of await listHeldTotals(this.#services.db)) {
      this.#projects.set(project_id, { ...totals, adding: 0, changes: 0, is_unsure: false })
    }
  }

  isUnsure(project_id: number): boolean {
    return this.#projects.get(project_id)?.is_unsure ?? false
  }

  /** False when it changed meanwhile. */
  async recount(project_id: number): Promise<boolean> {
    const waiting = this.#of(project_id)
    const { changes } = waiting
    const [totals = NOTHING] = await listHeldTotals(this.#services.db, project_id)
    if (waiting.adding > 0 || waiting.changes !== changes) return false
    Object.assign(waiting, { ...totals, is_unsure: false })
    this.#forgetIfEmpty(project_id, waiting)
    return true
  }

  /** Projects with anything that waits. */
  projects(): number[] {
    return [...this.#projects.keys()]
  }

  has(project_id: number): boolean {
    return this.#projects.has(project_id)
  }

  /** Whether the project's next events have to wait behind others. */
  hasLine(project_id: number): boolean {
    return (this.#projects.get(project_id)?.in_line ?? 0) > 0
  }

  waitsFor(project_id: number): number | null {
    return this.#projects.get(project_id)?.config_id ?? null
  }

  /** From the moment of the call later events wait behind these. Throws NoRoom, and holds none of them then. */
  async add(project_id: number, events: readonly NewHeldEvent[]): Promise<void> {
    const { settings } = this.#services
    const waiting = this.#of(project_id)
    if (waiting.length + lengthOf(events) > settings.plugin_hold_bytes) {
      this.#forgetIfEmpty(project_id, waiting)
      throw new NoRoom(
        'Events of this project wait for an app that cannot run, and no more can be kept. Send this again later.',
        RETRY_AFTER_S,
      )
    }
    count(waiting, events, 1)
    waiting.adding++
    waiting.config_id = events.find(({ alone }) => !alone)?.config_id ?? waiting.config_id
    try {
      const added = await this.#insert(project_id, events)
      count(waiting, events, -1)
      count(waiting, added, 1)
    } catch (error) {
      waiting.is_unsure = true
      throw error
    } finally {
      waiting.adding--
      this.#forgetIfEmpty(project_id, waiting)
    }
  }

  #insert(project_id: number, events: readonly NewHeldEvent[]): Promise<Part[]> {
    const { db, changes, now } = this.#services
    return db.transaction(async (tx) => {
      await changes.tell(tx, 'held-events', project_id, project_id)
      return insertHeldEvents(tx, project_id, events, now())
    })
  }

  /** Rows as they were, and what is left of them. */
  replace(project_id: number, before: readonly Part[], after: readonly Part[]): void {
    const waiting = this.#of(project_id)
    count(waiting, before, -1)
    count(waiting, after, 1)
    this.#forgetIfEmpty(project_id, waiting)
  }

  /** The project is gone, and its rows with it. */
  forget(project_id: number): void {
    this.#projects.delete(project_id)
  }

  totals(): { in_line: number; alone: number } {
    const all = [...this.#projects.values()]
    return {
      in_line: all.reduce((sum, { in_line }) => sum + in_line, 0),
      alone: all.reduce((sum, { alone }) => sum + alone, 0),
    }
  }

  #of(project_id: number): Waiting {
    const known = this.#projects.get(project_id)
    if (known) return known
    const waiting = { ...NOTHING, adding: 0, changes: 0, is_unsure: false }
    this.#projects.set(project_id, waiting)
    return waiting
  }

  #forgetIfEmpty(project_id: number, { in_line, alone, adding }: Waiting): void {
    if (in_line + alone + adding === 0) this.#projects.delete(project_id)
  }
}

const NOTHING = { in_line: 0, alone: 0, length: 0, config_id: null }

function count(waiting: Waiting, parts: readonly Part[], sign: 1 | -1): void {
  waiting.changes++
  for (const { alone, contents } of parts) {
    waiting[alone ? 'alone' : 'in_line'] += sign
    waiting.length += sign * contents.length
  }
}

const lengthOf = (parts: readonly Part[]) => parts.reduce((sum, { contents }) => sum + contents.length, 0)
