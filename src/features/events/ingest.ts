// From accepted events to durable ones: a bounded queue, worked off in batches that share one commit. A request is
// answered only after the commit that holds its events; until then its sender keeps them. Addresses and projects share the
// queue and the batches: a flood of one does not hold up the others.
import { Room, type Amount, type Reservation } from '../../lib/room.ts'
import { SharedQueue } from '../../lib/shared-queue.ts'
import { StoreBusy, type Copied } from '../../platform/event-store/event-store.ts'
import { withoutRepeats } from '../../platform/event-store/known-ids.ts'
import type { Services } from '../../platform/services.ts'
import { People, type PeopleChanges } from '../persons/people.ts'
import { markIngested } from '../projects/queries.ts'
import type { ProjectRow } from '../projects/schema.ts'
import type { EventObserver, EventTransform } from './event-transform.ts'
import { IngestTally, reasonOf, type Reason } from './ingest-tally.ts'
import { MissingCopies } from './missing-copies.ts'
import type { PipelineEvent } from './pipeline-event.ts'
import { isTooLarge, projectDeleted, tooLarge } from './pipeline/refused-requests.ts'
import { toStored, type Changed, type Stored } from './pipeline/to-stored.ts'
import { ofProject, type ProjectEvent } from './project-event.ts'
import { StoreWrites } from './store-writes.ts'

type IngestServices = Pick<Services, 'db' | 'eventStore' | 'now'>

export type IngestOptions = {
  transform?: EventTransform
  observe?: EventObserver
  max_events?: number
  max_bytes?: number
}

const MAX_EVENTS = 50_000
const MAX_BYTES = 100 * 1024 * 1024
const BATCH_COST = 1_550
/** Each project adds a section to the journal, which costs as much as this many events. */
const PROJECT_COST = 5
/** The share of the queue that one address may take, and one project. */
const SHARE_OF_ADDRESS = 1 / 4
const SHARE_OF_PROJECT = 1 / 2

type Waiting = {
  project: ProjectRow
  events: readonly PipelineEvent[]
  /** Where it came from, if from outside. */
  address: string | null
  reservation: Reservation
  resolve(): void
  reject(error: unknown): void
}

type Prepared = Pick<PeopleChanges, 'copies'> & {
  requests: readonly Stored<Waiting>[]
  copied: Copied | null
}

const toWaiting = ({ waiting }: { waiting: Waiting }) => waiting
const senderByProject = ({ id }: ProjectRow) => `project ${id}`
const senderByAddress = (address: string) => `address ${address}`

export class Ingest {
  /** What became of the events of this process. */
  readonly tally = new IngestTally()
  readonly #services: IngestServices
  readonly #transform: EventTransform | undefined
  readonly #observe: EventObserver | undefined
  readonly #people = new People()
  readonly #queue = new SharedQueue<Waiting>()
  readonly #room: Room
  #working: Promise<void> | null = null
  readonly #missing: MissingCopies
  readonly #writes: StoreWrites
  #is_closed = false

  constructor(services: IngestServices, options: IngestOptions = {}) {
    this.#services = services
    this.#missing = new MissingCopies(services)
    const { max_events = MAX_EVENTS, max_bytes = MAX_BYTES, transform, observe } = options
    this.#transform = transform
    this.#observe = observe
    this.#room = new Room({ events: max_events, bytes: max_bytes })
    this.#writes = new StoreWrites(services, this.tally)
  }

  /**
   * Resolves when every event is durable. Throws StoreBusy when too much is waiting, in total or from this sender.
   * `address` is where the events came from, if from outside.
   */
  async accept(
    project: ProjectRow,
    events: readonly PipelineEvent[],
    bytes: number,
    address: string | null = null,
  ): Promise<void> {
    // SDKs repeat whole batches, and now and then an event within one.
    const offered = withoutRepeats(events)
    this.tally.received += events.length
    this.tally.repeated += events.length - offered.length
    const reservation = this.#reserve(project, address, { events: offered.length, bytes })
    // What is being transformed takes up room as well.
    const kept = await this.#transformed(project, offered, reservation)
    if (kept.length > 0) await this.#queued(project, kept, address, reservation)
  }

  /** The same for events that were transformed before. */
  async store(project: ProjectRow, events: readonly PipelineEvent[], bytes: number): Promise<void> {
    this.tally.received += events.length
    const reservation = this.#reserve(project, null, { events: events.length, bytes })
    await this.#queued(project, events, null, reservation)
  }

  /** What is being transformed or queued. */
  waiting(): Amount {
    return this.#room.held()
  }

  /** What is queued is still stored. */
  async close(): Promise<void> {
    this.#is_closed = true
    await this.#working
    await this.#writes.close()
    await this.#missing.close()
  }

  #queued(
    project: ProjectRow,
    events: readonly PipelineEvent[],
    address: string | null,
    reservation: Reservation,
  ): Promise<void> {
    const by_project = senderByProject(project)
    const by_address = address === null ? by_project : senderByAddress(address)
    return new Promise<void>((resolve, reject) => {
      const waiting = { project, events, address, reservation, resolve, reject }
      this.#queue.push(waiting, [by_address, by_project], events.length + PROJECT_COST)
      this.#working ??= this.#work()
    })
  }

  #reserve(project: ProjectRow, address: string | null, amount: Amount): Reservation {
    const senders = [{ name: senderByProject(project), share: SHARE_OF_PROJECT }]
    // What apps and imports bring comes from no address.
    if (address !== null) senders.push({ name: senderByAddress(address), share: SHARE_OF_ADDRESS })
    const reservation = this.#is_closed ? null : this.#room.take(senders, amount)
    if (reservation) return reservation
    this.tally.drop('no_room', amount.events)
    throw new StoreBusy('too many events are waiting')
  }

  /** Room is given back for what is dropped, or for everything when it fails. */
  async #transformed(
    project: ProjectRow,
    events: readonly PipelineEvent[],
    reservation: Reservation,
  ): Promise<readonly PipelineEvent[]> {
    const transform = this.#transform
    if (!transform) return events
    let kept: readonly PipelineEvent[] = []
    let held = 0
    try {
      kept = await this.tally.timed('transform', () => transform(project, events, (count) => (held += count)))
      this.tally.drop('held', held)
      this.tally.drop('app', events.length - kept.length - held)
      return kept
    } catch (error) {
      this.tally.drop(reasonOf(error), events.length)
      throw error
    } finally {
      if (kept.length === 0) reservation.leave()
      else reservation.shrinkTo(kept.length)
    }
  }

  /** While one batch is being written the next is made ready: the two happen on different threads. */
  async #work(): Promise<void> {
    let writing = Promise.resolve()
    while (this.#queue.length > 0) {
      const batch = this.#take()
      const prepared = await this.#prepare(batch).catch((error: unknown) => this.#fail(batch, error))
      await writing
      if (prepared) writing = this.#write(prepared)
      if (this.#queue.length === 0) await writing
    }
    this.#working = null
  }

  /** Takes as much as fits into a batch, and at least one request. */
  #take(): Waiting[] {
    const batch: Waiting[] = []
    const projects = new Set<number>()
    const costOf = ({ project, events }: Waiting) =>
      events.length + (projects.has(project.id) ? 0 : PROJECT_COST)
    let left = BATCH_COST
    const next = () => this.#queue.shift((waiting) => batch.length === 0 || costOf(waiting) <= left)
    for (let waiting = next(); waiting; waiting = next()) {
      batch.push(waiting)
      waiting.reservation.leave()
      left -= costOf(waiting)
      projects.add(waiting.project.id)
    }
    return batch
  }

  /** Persons and groups, in order of arrival, then the form in which events are stored. */
  async #prepare(batch: readonly Waiting[]): Promise<Prepared> {
    const requests = batch.map((waiting) => ({
      waiting,
      events: waiting.events.map((event) => ofProject(event, waiting.project.id)),
    }))
    const { copies, range, gone } = await this.tally.timed('persons', () =>
      this.#applyPeople(
        batch,
        requests.flatMap(({ events }) => events),
      ),
    )
    const isGone = ({ waiting }: Changed<Waiting>) => gone.has(waiting.project.id)
    const isLarge = ({ waiting, events }: Changed<Waiting>) => waiting.address !== null && isTooLarge(events)
    const stored = await toStored(
      requests.filter((request) => !isGone(request) && !isLarge(request)),
      (event) => this.#observe?.(event.project_id, event),
    )
    this.#fail(requests.filter(isLarge).map(toWaiting), tooLarge(), 'too_large')
    this.#fail(
      requests.filter((request) => isGone(request) && !isLarge(request)).map(toWaiting),
      projectDeleted(),
      'project_deleted',
    )
    return { requests: stored, copies, copied: range && { until: range.last, owed: [range.last] } }
  }

  async #applyPeople(batch: readonly Waiting[], events: readonly ProjectEvent[]): Promise<PeopleChanges> {
    const now = this.#services.now()
    const newcomers = new Set(
      batch.filter(({ project }) => !project.ingested_event).map(({ project }) => project.id),
    )
    const { db, eventStore } = this.#services
    return await this.#people.flush(db, events, now, async (tx, { range }) => {
      if (range) await eventStore.oweCopies(tx, range)
      if (newcomers.size > 0) await markIngested(tx, [...newcomers])
    })
  }

  /** Settles the requests of the batch, those that are written late in their time; never throws. */
  async #write(prepared: Prepared): Promise<void> {
    const { requests, copied } = prepared
    try {
      await this.#missing.copyIfBehind()
      const { at_once, late } = await this.#writes.write(prepared)
      for (const { waiting } of at_once) waiting.resolve()
      // Their persons are there by now.
      for (const request of late) void this.#writeLate(request)
    } catch (error) {
      await this.#missing.wereMissed(copied?.owed ?? [])
      this.#fail(requests.map(toWaiting), error)
    }
  }

  async #writeLate({ waiting, ...request }: Stored<Waiting>): Promise<void> {
    const { left, error } = await this.#writes.writeLate(request)
    if (left === 0) return waiting.resolve()
    this.tally.drop(error instanceof StoreBusy ? 'no_room' : 'failed', left)
    waiting.reject(error)
  }

  #fail(batch: readonly Waiting[], error: unknown, reason: Reason = 'failed'): null {
    this.tally.drop(reason, countOf(batch))
    for (const { reject } of batch) reject(error)
    return null
  }

  /** Brings the event store's copies of persons and groups up to what the relational store has. */
  async catchUp(): Promise<void> {
    await this.#missing.copy()
  }
}

function countOf(batch: readonly Waiting[]): number {
  return batch.reduce((sum, { events }) => sum + events.length, 0)
}
