// From accepted events to durable ones: a bounded queue, worked off in batches that share one commit. A request is
// answered only after the commit that holds its events; until then its sender keeps them.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from '../../platform/db/sql.ts'
import { StoreBusy, type ProjectWrite, type StoredEvent } from '../../platform/event-store/event-store.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { Services } from '../../platform/services.ts'
import { changedSince, People, type PeopleChanges } from '../persons/people.ts'
import type { PersonEvent } from '../persons/person-event.ts'
import { personUuid } from '../persons/rules.ts'
import type { ProjectRow } from '../projects/schema.ts'
import type { PipelineEvent } from './pipeline-event.ts'
import { toStoredEvent, type EventPerson } from './pipeline/store-form.ts'

/**
 * Changes events before anything else sees them, in their order; those that it drops, or keeps for later, are missing. It
 * must not change `uuid`. Throws when it can neither change nor keep them: then the sender has them still.
 */
export type EventTransform = (
  project: ProjectRow,
  events: readonly PipelineEvent[],
) => Promise<readonly PipelineEvent[]>

type IngestServices = Pick<Services, 'db' | 'eventStore' | 'now'>

export type IngestOptions = { transform?: EventTransform; max_events?: number; max_bytes?: number }

const MAX_EVENTS = 50_000
const MAX_BYTES = 100 * 1024 * 1024
const BATCH_EVENTS = 1_500
/** Events worked on before others get their turn on the main thread. */
const SLICE = 250
const CATCH_UP_PAGE = 10_000

type Waiting = {
  project: ProjectRow
  events: readonly PipelineEvent[]
  bytes: number
  resolve(): void
  reject(error: unknown): void
}

type Prepared = { batch: readonly Waiting[]; writes: readonly ProjectWrite[]; position: bigint | null }

export class Ingest {
  readonly #services: IngestServices
  readonly #options: Required<Omit<IngestOptions, 'transform'>> & Pick<IngestOptions, 'transform'>
  readonly #people = new People()
  readonly #queue: Waiting[] = []
  #queued_events = 0
  #queued_bytes = 0
  #working: Promise<void> | null = null
  /** The relational store has changes of persons that a failed write did not bring to the event store. */
  #are_copies_behind = true
  #is_closed = false

  constructor(services: IngestServices, options: IngestOptions = {}) {
    this.#services = services
    this.#options = { max_events: MAX_EVENTS, max_bytes: MAX_BYTES, ...options }
  }

  /** Resolves when every event is durable; throws StoreBusy when too much is waiting. */
  async accept(project: ProjectRow, events: readonly PipelineEvent[], bytes: number): Promise<void> {
    const offered = withoutRepeats(events)
    this.#takeRoom(offered.length, bytes)
    const kept = await this.#transformed(project, offered, bytes)
    if (kept.length > 0) await this.#queued(project, kept, bytes)
  }

  /** The same for events that were transformed before. */
  async store(project: ProjectRow, events: readonly PipelineEvent[], bytes: number): Promise<void> {
    this.#takeRoom(events.length, bytes)
    await this.#queued(project, events, bytes)
  }

  /** What is queued is still stored. */
  async close(): Promise<void> {
    this.#is_closed = true
    await this.#working
  }

  #queued(project: ProjectRow, events: readonly PipelineEvent[], bytes: number): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.#queue.push({ project, events, bytes, resolve, reject })
      this.#working ??= this.#work()
    })
  }

  /** What is being transformed takes up room as well. One request may be larger than the queue, if that is empty. */
  #takeRoom(events: number, bytes: number): void {
    const { max_events, max_bytes } = this.#options
    const isFull = this.#queued_events + events > max_events || this.#queued_bytes + bytes > max_bytes
    if (this.#is_closed || (isFull && this.#queued_events > 0))
      throw new StoreBusy('too many events are waiting')
    this.#queued_events += events
    this.#queued_bytes += bytes
  }

  /** Room is given back for what is dropped, or for everything when it fails. */
  async #transformed(
    project: ProjectRow,
    events: readonly PipelineEvent[],
    bytes: number,
  ): Promise<readonly PipelineEvent[]> {
    const { transform } = this.#options
    let kept: readonly PipelineEvent[] = transform ? [] : events
    try {
      if (transform) kept = await transform(project, events)
      return kept
    } finally {
      this.#queued_events -= events.length - kept.length
      if (kept.length === 0) this.#queued_bytes -= bytes
    }
  }

  /** While one batch is being written the next is made ready: the two happen on different threads. */
  async #work(): Promise<void> {
    let writing = Promise.resolve()
    while (this.#queue.length > 0) {
      const batch = this.#take()
      const prepared = await this.#prepare(batch).catch((error: unknown) => fail(batch, error))
      await writing
      if (prepared) writing = this.#write(prepared)
      if (this.#queue.length === 0) await writing
    }
    this.#working = null
  }

  #take(): Waiting[] {
    const batch: Waiting[] = []
    let events = 0
    while (
      this.#queue.length > 0 &&
      (events === 0 || events + this.#queue[0]!.events.length <= BATCH_EVENTS)
    ) {
      const waiting = this.#queue.shift()!
      batch.push(waiting)
      events += waiting.events.length
      this.#queued_events -= waiting.events.length
      this.#queued_bytes -= waiting.bytes
    }
    return batch
  }

  /** Persons and groups, in order of arrival, then the form in which events are stored. */
  async #prepare(batch: readonly Waiting[]): Promise<Prepared> {
    const events = batch.flatMap(({ project, events }) => events.map((event) => ofProject(event, project.id)))
    const { copies, position, gone } = await this.#applyPeople(batch, events)
    const stored = new Map<number, StoredEvent[]>()
    await inSlices(events, (event) => {
      if (gone.has(event.project_id)) return
      let rows = stored.get(event.project_id)
      if (!rows) stored.set(event.project_id, (rows = []))
      rows.push(toStoredEvent(event, event.has_person, event.person ?? nobody(event)))
    })
    const projects = new Set([...stored.keys(), ...copies.keys()])
    const writes = [...projects].map((project_id) => ({
      project_id,
      events: stored.get(project_id) ?? [],
      ...(copies.get(project_id) ?? NO_COPIES),
    }))
    const alive = batch.filter(({ project }) => !gone.has(project.id))
    fail(
      batch.filter(({ project }) => gone.has(project.id)),
      new ApiError('invalid_api_key', 'The project of this token was deleted.', null, {
        'www-authenticate': 'Bearer',
      }),
    )
    return { batch: alive, writes, position }
  }

  async #applyPeople(batch: readonly Waiting[], events: readonly ProjectEvent[]): Promise<PeopleChanges> {
    const now = this.#services.now()
    const newcomers = new Set(
      batch.filter(({ project }) => !project.ingested_event).map(({ project }) => project.id),
    )
    try {
      return await this.#services.db.transaction(async (tx) => {
        const changes = await this.#people.apply(tx, events, now)
        if (newcomers.size > 0) {
          await tx.run(
            sql`UPDATE project SET ingested_event = true WHERE id = ANY(${[...newcomers]}) AND NOT ingested_event`,
          )
        }
        return changes
      })
    } catch (error) {
      this.#people.forget()
      throw error
    }
  }

  /** Settles the requests of the batch; never throws. */
  async #write({ batch, writes, position }: Prepared): Promise<void> {
    try {
      if (this.#are_copies_behind) await this.catchUp()
      await this.#services.eventStore.write(writes, this.#services.now(), position)
      for (const { resolve } of batch) resolve()
    } catch (error) {
      this.#are_copies_behind = true
      fail(batch, error)
    }
  }

  /** Brings the event store's copies of persons and groups up to what the relational store has. */
  async catchUp(): Promise<void> {
    const { db, eventStore } = this.#services
    for (let isComplete = false; !isComplete;) {
      const changes = await changedSince(db, await eventStore.copiesPosition(), CATCH_UP_PAGE)
      const writes = [...changes.copies].map(([project_id, copies]) => ({
        project_id,
        events: [],
        ...copies,
      }))
      if (writes.length > 0) await eventStore.write(writes, this.#services.now(), changes.position)
      isComplete = changes.is_complete
    }
    this.#are_copies_behind = false
  }
}

const NO_COPIES = { persons: [], deleted_persons: [], distinct_ids: [], groups: [] }

type ProjectEvent = PipelineEvent & Pick<PersonEvent, 'project_id' | 'has_person' | 'person'>

/** Field by field: a spread costs several times as much, and every event passes here. */
function ofProject(event: PipelineEvent, project_id: number): ProjectEvent {
  const { uuid, event: name, distinct_id, properties, timestamp, created_at } = event
  const has_person = properties.$process_person_profile !== false
  const person = null
  return { project_id, has_person, person, uuid, event: name, distinct_id, properties, timestamp, created_at }
}

/** An event without a profile still has somebody's id: always the same for its distinct id. */
function nobody({ project_id, distinct_id }: ProjectEvent): EventPerson {
  return { id: personUuid(project_id, distinct_id), properties: '{}' }
}

/** SDKs repeat whole batches, and now and then an event within one. */
function withoutRepeats(events: readonly PipelineEvent[]): readonly PipelineEvent[] {
  const seen = new Set<string>()
  return events.filter(({ uuid }) => {
    if (seen.has(uuid)) return false
    seen.add(uuid)
    return true
  })
}

async function inSlices<Item>(items: readonly Item[], work: (item: Item) => void): Promise<void> {
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % SLICE === 0) await nextTurn()
    work(item)
  }
}

function fail(batch: readonly Waiting[], error: unknown): null {
  for (const { reject } of batch) reject(error)
  return null
}
