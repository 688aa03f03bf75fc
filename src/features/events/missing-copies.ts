// Brings the event store's copies of persons and groups up to what the relational store has: what a write that failed, or a process
// that ended between the two commits, has left to others.
import type { Services } from '../../platform/services.ts'
import { changedSince } from '../persons/changed-since.ts'

const PAGE = 10_000
/** How often a store that several processes write to is asked, besides at the start and after a failed write. */
const LOOK_EVERY_MS = 10_000

type CopyServices = Pick<Services, 'db' | 'eventStore' | 'now'>

export class MissingCopies {
  readonly #services: CopyServices
  readonly #timer: NodeJS.Timeout | null
  #looking: Promise<void> = Promise.resolve()
  /** Something may be missing; at the start it is not known. */
  #isBehind = true

  constructor(services: CopyServices) {
    this.#services = services
    this.#timer = services.eventStore.is_shared
      ? setInterval(() => void (this.#looking = this.#look()), LOOK_EVERY_MS).unref()
      : null
  }

  /** A write has failed: its copies are missing. */
  wasMissed(): void {
    this.#isBehind = true
  }

  /** Before events are written: those that are there have their persons. */
  async copyIfBehind(): Promise<void> {
    if (this.#isBehind) await this.copy()
  }

  async copy(): Promise<void> {
    const { db, eventStore, now } = this.#services
    const missing = await eventStore.missingCopies()
    let position = missing?.after ?? 0n
    for (let isComplete = missing === null; !isComplete;) {
      const { last, owed } = missing!
      const page = await changedSince(db, position, PAGE, last)
      const writes = [...page.copies].map(([project_id, copies]) => ({ project_id, events: [], ...copies }))
      position = page.position
      isComplete = page.is_complete
      // Where everything may be missing, each page is one thing less; ranges are done when all of them are.
      const copied = last === null ? [position] : isComplete ? owed : []
      if (writes.length > 0 || (isComplete && owed.length > 0)) await eventStore.write(writes, now(), copied)
    }
    this.#isBehind = false
  }

  async close(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer)
    await this.#looking
  }

  async #look(): Promise<void> {
    await this.#looking
    // Without the stores it is made up for before the next events are written.
    await this.copy().catch(() => this.wasMissed())
  }
}
