// Brings the event store's copies of persons and groups up to what the relational store has: what a write that failed, or a process
// that ended between the two commits, has left to others.
import type { Services } from '../../platform/services.ts'
import type { MissingCopies as Missing } from '../../platform/event-store/event-store.ts'
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

  /** Copies of these ranges have not come to be. Never throws: without PostgreSQL they are made when their lease has run out. */
  async wereMissed(owed: readonly bigint[]): Promise<void> {
    await this.#services.eventStore.giveUpCopies(owed).catch(() => undefined)
    this.#isBehind = true
  }

  /** Before events are written: those that are there have their persons. */
  async copyIfBehind(): Promise<void> {
    // One that was at work already may have missed them.
    while (this.#isBehind) await this.copy()
  }

  /** Whoever calls while it is at work waits for the same. */
  copy(): Promise<void> {
    this.#copying ??= this.#copyAll().finally(() => (this.#copying = null))
    return this.#copying
  }

  async close(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer)
    await this.#copying?.catch(() => undefined)
  }

  async #copyAll(): Promise<void> {
    // A write that fails from now on may be missed by this.
    this.#isBehind = false
    let owed: readonly bigint[] = []
    try {
      const missing = await this.#services.eventStore.missingCopies()
      if (!missing) return
      owed = missing.owed
      await this.#make(missing)
    } catch (error) {
      await this.wereMissed(owed)
      throw error
    }
  }

  async #make(missing: Missing): Promise<void> {
    const { db, eventStore, now } = this.#services
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
