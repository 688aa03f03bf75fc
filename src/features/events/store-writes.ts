// From prepared requests to durable events. Most of a batch shares one commit; what others would have to wait for is written
// late: large requests, those that may be stored already, and what comes after them from the same sender.
import {
  LookFirst,
  type Copied,
  type ProjectWrite,
  type StoredEvent,
} from '../../platform/event-store/event-store.ts'
import type { Services } from '../../platform/services.ts'
import type { PeopleChanges } from '../persons/people.ts'
import type { IngestTally } from './ingest-tally.ts'
import { LateWrites, type Outcome } from './pipeline/late-writes.ts'
import { splitByText, writesOf, type Split, type StoredRequest } from './pipeline/split-by-text.ts'

type Batch<Request> = Pick<PeopleChanges, 'copies'> & { requests: readonly Request[]; copied: Copied | null }
type CommitOptions = { copied?: Copied | null; at_once?: boolean; count?: number }

export class StoreWrites {
  readonly #services: Pick<Services, 'eventStore' | 'now'>
  readonly #tally: IngestTally
  readonly #late: LateWrites

  constructor(services: Pick<Services, 'eventStore' | 'now'>, tally: IngestTally) {
    this.#services = services
    this.#tally = tally
    this.#late = new LateWrites({
      lookUp: (project_id, events) => services.eventStore.lookUp(project_id, events),
      write: (writes, count) => this.#commit(writes, { count }),
      caughtUp: (project_id) => services.eventStore.caughtUp(project_id),
    })
  }

  /** With all copies of persons and groups. Tells which requests are durable, and which are to be written late. */
  async write<Request extends StoredRequest>(batch: Batch<Request>): Promise<Split<Request>> {
    const suspects = new Set<StoredEvent>()
    for (;;) {
      const split = splitByText(
        batch.requests,
        (request) => this.#late.has(request) || request.events.some((event) => suspects.has(event)),
      )
      try {
        await this.#commit(writesOf(split.at_once, batch.copies), { copied: batch.copied, at_once: true })
        return split
      } catch (error) {
        if (!(error instanceof LookFirst)) throw error
        for (const event of error.events) suspects.add(event)
      }
    }
  }

  writeLate(request: StoredRequest): Promise<Outcome> {
    return this.#late.write(request)
  }

  /** What is late is still written. */
  close(): Promise<void> {
    return this.#late.close()
  }

  /** `count` says how many events these were, where some were left out as repeats. */
  async #commit(writes: readonly ProjectWrite[], options: CommitOptions): Promise<void> {
    const { copied = null, at_once = false, count = countOf(writes) } = options
    const { eventStore, now: clock } = this.#services
    const now = clock()
    const isEmpty = writes.length === 0 && copied === null
    const written = isEmpty
      ? []
      : await this.#tally.timed('write', () => eventStore.write(writes, now, copied, at_once))
    this.#tally.wrote(count, written, now)
  }
}

const countOf = (writes: readonly ProjectWrite[]) =>
  writes.reduce((sum, { events }) => sum + events.length, 0)
