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
  #copying: Promise<void> | null = null
  /** Something may be missing; at the start it is not known. */
  #isBehind = true

  constructor(services: CopyServices) {
    this.#services = services
    this.#timer = services.eventStore.is_shared
      ? setInterval(() => void this.copy().catch(() => undefined), LOOK_EVERY_MS).unref()
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

  /** Whoever calls while it is at work waits for the same. */
  copy(): Promise<void> {
    this.#copying ??= this.#copyAll()
      .catch((error: unknown) => {
        this.#isBehind = true
        throw error
      })
      .finally(() => (this.#copying = null))
    return this.#copying
  }

  async close(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer)
    await this.#copying?.catch(() => undefined)
  }

  async #copyAll(): Promise<void> {
    const { db, eventStore, now } = this.#services
    // A write that fails from now on may be missed by this.
    this.#isBehind = false
    const missing = await eventStore.missingCopies()
    if (!missing) return
    const { last, owed } = missing
    let until = missing.after
    for (let isComplete = false; !isComplete;) {
      const page = await changedSince(db, until, PAGE, last)
      isComplete = page.is_complete
      until = isComplete && last !== null ? last : page.position
      const writes = [...page.copies].map(([project_id, copies]) => ({ project_id, events: [], ...copies }))
      if (writes.length > 0 || owed.length > 0) await eventStore.write(writes, now(), { until, owed })
    }
  }
}
