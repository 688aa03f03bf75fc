// Which projects this process works for: it alone delivers their events to apps, runs their jobs and timetables, and takes up
// what was held. Processes share projects evenly. One that stops gives its projects back; one that dies, or is cut off or paused
// for as long, loses them: their rows are gone by then, so whatever it still wants to write finds no lease and is not written.
import { randomUUID } from 'node:crypto'
import type { Database, Db } from '../../../platform/db/database.ts'
import type { Services } from '../../../platform/services.ts'
import {
  countProcesses,
  enterProcess,
  giveBackLeases,
  isLeased,
  keepProcess,
  listLeases,
  removeDeadProcesses,
  removeProcess,
  returnJobsOfOthers,
  takeLeases,
  type Lease,
} from './lease-queries.ts'

/** Another process works for the project by now. */
export class LeaseLost extends Error {}

const BEAT_MS = 3_000
/** With a beat to notice it, others take over after half a minute at most. */
const LEASE_MS = 26_000

export type Work = {
  /** Projects with something to do, now or later. */
  projects(): ReadonlySet<number>
  /** Whether something is under way for it. */
  isBusy(project_id: number): boolean
}

export class Leases {
  readonly #services: Pick<Services, 'now'> & { db: Database }
  readonly #work: Work
  readonly #held = new Map<number, Lease>()
  /** To be given back once nothing is under way for them; until then nothing is begun. */
  readonly #leaving = new Set<number>()
  readonly #gained: number[] = []
  #process_id = randomUUID()
  #until_ms = 0
  #kept_ms = 0
  #keeping: Promise<void> | null = null
  /** Then nobody else can have what this process lacks. */
  #is_alone = true
  #is_closed = false

  constructor(services: Pick<Services, 'now'> & { db: Database }, work: Work) {
    this.#services = services
    this.#work = work
  }

  /** The lease to begin something with; undefined when it is for others to do. */
  of(project_id: number): Lease | undefined {
    const isOver = this.#services.now().getTime() >= this.#until_ms
    return isOver || this.#leaving.has(project_id) ? undefined : this.#held.get(project_id)
  }

  /** In the transaction of what is written: until its end nobody takes the project over. Throws LeaseLost. */
  async assert(tx: Db, { project_id, process_id }: Lease): Promise<void> {
    if (!(await isLeased(tx, project_id, process_id)))
      throw new LeaseLost('another process works for this project by now')
  }

  /** Projects that this process has got since the last call. */
  takeGained(): readonly number[] {
    return this.#gained.splice(0)
  }

  /** Does something every few seconds, and when there is a project that has none yet. */
  async keep(): Promise<void> {
    if (this.#is_closed) return
    const now_ms = this.#services.now().getTime()
    const isDue = now_ms - this.#kept_ms >= BEAT_MS || now_ms < this.#kept_ms
    const isComplete = [...this.#work.projects()].every((id) => this.#held.has(id))
    if (!isDue && (isComplete || !this.#is_alone)) return
    await (this.#keeping ??= this.#keep().finally(() => (this.#keeping = null)))
  }

  /** Nobody else can be at work on these events, so what is leased belongs to a dead process. */
  async takeOver(): Promise<void> {
    await removeDeadProcesses(this.#services.db, new Date(8.64e15))
  }

  /** Everything is free for others. */
  async close(): Promise<void> {
    this.#is_closed = true
    await this.#keeping?.catch(() => undefined)
    this.#held.clear()
    await removeProcess(this.#services.db, this.#process_id)
  }

  async #keep(): Promise<void> {
    const { db, now } = this.#services
    const at = now()
    const until = new Date(at.getTime() + LEASE_MS)
    const gained = await db.transaction(async (tx) => {
      if (!(await keepProcess(tx, this.#process_id, until))) {
        // The first time, or others have taken it for dead.
        this.#process_id = randomUUID()
        await enterProcess(tx, this.#process_id, until)
      }
      await removeDeadProcesses(tx, at)
      return this.#share(tx, at)
    })
    this.#kept_ms = at.getTime()
    this.#until_ms = until.getTime()
    for (const project_id of gained) this.#held.set(project_id, { project_id, process_id: this.#process_id })
    this.#gained.push(...gained)
  }

  async #share(tx: Db, at: Date): Promise<number[]> {
    const ours = new Set(await listLeases(tx, this.#process_id))
    for (const id of this.#held.keys()) if (!ours.has(id)) this.#held.delete(id)
    const processes = await countProcesses(tx)
    this.#is_alone = processes === 1
    const wanted = this.#work.projects()
    const share = Math.ceil(wanted.size / processes)
    const kept = [...ours].filter((id) => wanted.has(id)).slice(0, share)
    this.#leaving.clear()
    for (const id of ours) if (!kept.includes(id)) this.#leaving.add(id)
    const free = [...this.#leaving].filter((id) => !this.#work.isBusy(id))
    if (free.length > 0) await giveBackLeases(tx, this.#process_id, free)
    for (const id of free) {
      this.#held.delete(id)
      this.#leaving.delete(id)
    }
    const others = [...wanted].filter((id) => !ours.has(id))
    if (kept.length >= share || others.length === 0) return []
    const gained = await takeLeases(tx, this.#process_id, others, share - kept.length)
    if (gained.length > 0) await returnJobsOfOthers(tx, this.#process_id, gained, at)
    return gained
  }
}
