// Takes held events up again, once the apps that they wait for can run: in their order, through what is left of the chain,
// into the event store, and only then out of the table. Whatever is cut off in between is done again, and the event store
// leaves out what it has.
import type { Database } from '../../../../platform/db/database.ts'
import type { Services } from '../../../../platform/services.ts'
import type { Ingest } from '../../../events/ingest.ts'
import { findProjectById } from '../../../projects/queries.ts'
import type { ProjectRow } from '../../../projects/schema.ts'
import { runChain, type ChainContext, type ChainParts } from '../ingestion/chain.ts'
import type { GivenUuids } from '../ingestion/given-uuids.ts'
import { Passage } from '../ingestion/passage.ts'
import type { Leases } from '../leases.ts'
import type { Holding } from './holding.ts'
import {
  deleteHeldEvents,
  hasten,
  listDueAlone,
  listLine,
  updateHeldEvents,
  type HeldAgain,
  type HeldRow,
} from './queries.ts'
import { isAlone, keepOrder, nextTry } from './rules.ts'

/** No sender waits for them, so apps get more time than on the way in. */
const PATIENCE_MS = 10_000
/** Others share the thread: a batch is made as large as is done in this time. */
const BATCH_MS = 150
const MAX_BATCH = 1_000
const PROJECTS_AT_ONCE = 8
/** Places that one organization may take. */
const SHARE = 4
/** Then other projects have their turn. */
const TURN_MS = 1_000
const IDLE_PAUSE_MS = 10_000
const ALONE_AT_ONCE = 20

type DrainParts = ChainParts & {
  services: Pick<Services, 'settings' | 'changes' | 'now'> & { db: Database }
  ingest: Pick<Ingest, 'store'>
  holding: Holding
  given: GivenUuids
  leases: Leases
}

export class Drain {
  readonly #parts: DrainParts
  /** At work, by project. */
  readonly #active = new Map<number, Promise<void>>()
  /** Whose turn was last comes last. */
  readonly #turns = new Map<number, number>()
  #turn = 0
  #is_closed = false
  readonly #listening: (() => void)[]
  #hastened = Promise.resolve()

  constructor(parts: DrainParts) {
    this.#parts = parts
    const { changes } = parts.services
    this.#listening = [
      changes.listen('plugin', (plugin_id) => this.#hasten(plugin_id === null ? 'all' : { plugin_id })),
      changes.listen('plugin-config', (config_id) =>
        this.#hasten(config_id === null ? 'all' : { config_id }),
      ),
    ]
  }

  /** Begins with those whose apps can run. */
  tick(): void {
    const { holding, leases } = this.#parts
    const waiting = holding
      .projects()
      .filter((id) => !this.#active.has(id) && leases.of(id) && this.#canRun(id))
      .toSorted((a, b) => (this.#turns.get(a) ?? 0) - (this.#turns.get(b) ?? 0))
    for (const project_id of waiting) if (this.#hasPlaceFor(project_id)) this.#begin(project_id)
  }

  #hasPlaceFor(project_id: number): boolean {
    const party = this.#partyOf(project_id)
    const active = [...this.#active.keys()]
    const isWithinShare = active.filter((id) => this.#partyOf(id) === party).length < SHARE
    return isWithinShare && active.length < PROJECTS_AT_ONCE
  }

  /** A project without apps holds nobody up. */
  #partyOf(project_id: number): string {
    return this.#parts.appsOf(project_id)[0]?.organization_id ?? String(project_id)
  }

  /** Whether something is under way for the project. */
  isBusy(project_id: number): boolean {
    return this.#active.has(project_id)
  }

  async idle(): Promise<void> {
    while (this.#active.size > 0) await Promise.all(this.#active.values())
  }

  async close(): Promise<void> {
    this.#is_closed = true
    for (const stop of this.#listening) stop()
    await this.idle()
  }

  #hasten(edited: Parameters<typeof hasten>[1]): void {
    const { services, holding, log } = this.#parts
    if (holding.totals().alone === 0) return
    this.#hastened = hasten(services.db, edited, services.now()).catch((error: unknown) =>
      log.warn({ err: error }, 'plugins: held events are tried again later'),
    )
  }

  #canRun(project_id: number): boolean {
    const { appsOf, watch } = this.#parts
    return appsOf(project_id).every((app) => app.on_failure !== 'hold' || watch.mayCall(app))
  }

  #begin(project_id: number): void {
    this.#turns.set(project_id, ++this.#turn)
    const { holding, log } = this.#parts
    const done = this.#work(project_id)
      .catch(async (error: unknown) => {
        log.warn({ err: error }, 'plugins: held events wait a little longer')
        await holding.recount(project_id).catch(() => undefined)
        return false
      })
      .then((hasMore) => {
        this.#active.delete(project_id)
        if (!holding.has(project_id)) this.#turns.delete(project_id)
        if (hasMore && !this.#is_closed) this.tick()
      })
    this.#active.set(project_id, done)
  }

  /** True when its turn was over before all that is due was tried. */
  async #work(project_id: number): Promise<boolean> {
    const { services, holding } = this.#parts
    const { db } = services
    await this.#hastened
    const project = await findProjectById(db, project_id)
    if (!project) {
      holding.forget(project_id)
      return false
    }
    if (holding.isUnsure(project_id)) await holding.recount(project_id)
    const end = performance.now() + TURN_MS
    const hasMore = await this.#takeUpLine(project, end)
    return (await this.#takeUpAlone(project, end)) || hasMore
  }

  /** One of them at least, whatever time the line took. */
  async #takeUpAlone(project: ProjectRow, end: number): Promise<boolean> {
    const { db, now } = this.#parts.services
    const rows = await listDueAlone(db, project.id, now(), ALONE_AT_ONCE)
    for (const [index, row] of rows.entries()) {
      if (this.#is_closed) return false
      await this.#takeUp(project, [row])
      if (performance.now() > end && index < rows.length - 1) return true
    }
    return false
  }

  async #takeUpLine(project: ProjectRow, end: number): Promise<boolean> {
    const { services, holding, leases } = this.#parts
    for (let size = 1; holding.hasLine(project.id) && !this.#is_closed;) {
      if (performance.now() > end) return true
      if (!leases.of(project.id)) return false
      const rows = await listLine(services.db, project.id, size)
      if (rows.length === 0) await holding.recount(project.id)
      const took_ms = rows.length > 0 ? await this.#takeUp(project, rows) : null
      if (took_ms === null) return false
      size = took_ms < BATCH_MS ? Math.min(MAX_BATCH, 2 * size) : Math.ceil(size / 2)
    }
    return false
  }

  /** How long the apps took; null when the line waits again. */
  async #takeUp(project: ProjectRow, rows: readonly HeldRow[]): Promise<number | null> {
    const { services, ingest, holding, leases, given } = this.#parts
    const lease = leases.of(project.id)
    if (!lease) return null
    const passages = rows.map(({ contents }) => Passage.thaw(contents))
    const context: ChainContext = {
      project_id: project.id,
      site_url: services.settings.site_url,
      now: services.now().toISOString(),
      patience_ms: PATIENCE_MS,
      retry: true,
    }
    const began = performance.now()
    await runChain(this.#parts, passages, context)
    const took_ms = performance.now() - began
    const isStuck = keepOrder(passages, rows.length === 1)
    await given.settle(project.id, passages)
    const through = rows.filter((_, index) => !passages[index]!.held)
    const events = passages.flatMap((passage) => (passage.held ? [] : (passage.end() ?? [])))
    const bytes = through.reduce((sum, { contents }) => sum + contents.length, 0)
    if (events.length > 0) await ingest.store(project, events, bytes)
    const again = rows.flatMap((row, index) => this.#again(row, passages[index]!, rows.length === 1) ?? [])
    await services.db.transaction(async (tx) => {
      await leases.assert(tx, lease)
      await services.changes.tell(tx, 'held-events', project.id, project.id)
      await deleteHeldEvents(tx, project.id, idsOf(through))
      await updateHeldEvents(tx, project.id, again)
    })
    holding.replace(project.id, rows, again)
    return isStuck ? null : took_ms
  }

  #again(row: HeldRow, passage: Passage, was_only: boolean): HeldAgain | null {
    const { held } = passage
    if (!held) return null
    const { id, attempts } = row
    const now = this.#parts.services.now()
    const failed = isAlone(held, was_only)
    return {
      id,
      contents: passage.freeze(),
      config_id: held.config_id,
      alone: row.alone || failed,
      attempts: failed ? attempts + 1 : attempts,
      due_at: failed ? nextTry(attempts, now) : new Date(now.getTime() + IDLE_PAUSE_MS),
    }
  }
}

const idsOf = (rows: readonly HeldRow[]) => rows.map(({ id }) => id)
