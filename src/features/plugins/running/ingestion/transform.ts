// Where ingestion meets the apps: events of a project go through its chain in batches, whichever requests they came by.
// Those that have to wait for an app are kept in the database, and those behind them with them (../holding/).
import { StoreBusy } from '../../../../platform/event-store/event-store.ts'
import type { Services } from '../../../../platform/services.ts'
import type { PipelineEvent } from '../../../events/pipeline-event.ts'
import type { ProjectRow } from '../../../projects/schema.ts'
import type { Captures } from '../host/captures.ts'
import type { Holding } from '../holding/holding.ts'
import { keepOrder, toHeld } from '../holding/rules.ts'
import type { Registry } from '../registry.ts'
import { withTimeout } from '../../../../lib/with-timeout.ts'
import { runChain, type ChainContext, type ChainParts } from './chain.ts'
import type { GivenUuids } from './given-uuids.ts'
import { Line } from './line.ts'
import { Passage, removeForged } from './passage.ts'

const MESSAGE = 100
/** An edit is in force within milliseconds, unless the database is away. */
const EDIT_MS = 5_000

type TransformParts = ChainParts & {
  services: Pick<Services, 'settings' | 'now'>
  captures: Captures
  holding: Holding
  given: GivenUuids
  edits: Pick<Registry, 'hasEdits' | 'editsInForce'>
}

/** An event that could not be taken, and why. */
class Refused {
  constructor(readonly error: unknown) {}
}

/** An event that is kept for later. */
const HELD = Symbol('held')

/** Null: dropped. */
type Outcome = PipelineEvent | Refused | typeof HELD | null

export class Transform {
  readonly #parts: TransformParts
  readonly #lines = new Map<number, Line<PipelineEvent, Outcome>>()

  constructor(parts: TransformParts) {
    this.#parts = parts
  }

  /** Those to be stored now. Throws when some could not be held: then none of them counts as taken. */
  async accept(
    { id }: Pick<ProjectRow, 'id'>,
    events: readonly PipelineEvent[],
    onHeld: (count: number) => void = () => {},
  ): Promise<readonly PipelineEvent[]> {
    const { captures, holding, edits, appsOf } = this.#parts
    const [first] = events
    // Those come alone.
    const isCaptured = first !== undefined && captures.senderOf(first) !== undefined
    for (const event of events) removeForged(event, isCaptured)
    if (edits.hasEdits(id)) await this.#editsInForce(id)
    if (appsOf(id).length === 0 && !holding.hasLine(id)) return events
    // An app may be waiting for the event it captured: behind the event it works on, that would never come.
    const outcomes = await (isCaptured ? this.#run(id, events) : this.#line(id).add(events))
    const refused = outcomes.find((outcome) => outcome instanceof Refused)
    if (refused) throw refused.error
    onHeld(outcomes.filter((outcome) => outcome === HELD).length)
    return outcomes.filter((outcome): outcome is PipelineEvent => outcome !== null && outcome !== HELD)
  }

  /** Whoever was told that an app is on, off or changed finds it so with the next event. Otherwise the sender tries again. */
  async #editsInForce(project_id: number): Promise<void> {
    await withTimeout(this.#parts.edits.editsInForce(project_id), EDIT_MS, () => {
      throw new StoreBusy('An edit of an app is not in force yet.')
    })
  }

  #line(project_id: number): Line<PipelineEvent, Outcome> {
    const known = this.#lines.get(project_id)
    if (known) return known
    const line = new Line((batch: readonly PipelineEvent[]) => this.#run(project_id, batch))
    this.#lines.set(project_id, line)
    return line
  }

  /** Never throws. */
  async #run(project_id: number, events: readonly PipelineEvent[]): Promise<readonly Outcome[]> {
    const { captures, holding } = this.#parts
    const passages = events.map((event) => new Passage(event, captures.senderOf(event)))
    if (holding.hasLine(project_id)) {
      for (const passage of passages) passage.hold({ config_id: holding.waitsFor(project_id), fault: null })
    } else await this.#runChain(project_id, passages)
    keepOrder(passages)
    const refused = await this.#hold(project_id, passages)
    const unsettled = await this.#settleUuids(project_id, passages)
    return passages.map((passage) => (passage.held ? (refused ?? HELD) : (unsettled ?? passage.end())))
  }

  async #runChain(project_id: number, passages: readonly Passage[]): Promise<void> {
    const { services } = this.#parts
    const { site_url, plugin_patience_ms: patience_ms } = services.settings
    const now = services.now().toISOString()
    const context: ChainContext = { project_id, site_url, now, patience_ms, retry: false }
    // Two are on their way at a time: while apps work on one, the next is made ready.
    let last = Promise.resolve()
    for (const message of inMessages(passages)) {
      const passed = runChain(this.#parts, message, context)
      await last
      last = passed
    }
    await last
  }

  /** Null when they can be stored; what is said of each otherwise. */
  async #settleUuids(project_id: number, passages: readonly Passage[]): Promise<Refused | null> {
    try {
      await this.#parts.given.settle(project_id, passages)
      return null
    } catch (error) {
      return new Refused(error)
    }
  }

  /** Null when they are kept; what is said of each otherwise. */
  async #hold(project_id: number, passages: readonly Passage[]): Promise<Refused | null> {
    const { services, holding, lapses, appsOf } = this.#parts
    const held = passages.filter((passage) => passage.held)
    if (held.length === 0) return null
    try {
      await holding.add(
        project_id,
        held.map((passage) => toHeld(passage, services.now())),
      )
    } catch (error) {
      return new Refused(error)
    }
    for (const app of appsOf(project_id)) {
      const count = held.filter((passage) => passage.held?.config_id === app.config_id).length
      if (count > 0) lapses.note(app, 'held', count)
    }
    return null
  }
}

/** As many as go to an app at a time: each has the whole patience, which an app at its usual pace does not come near. */
function inMessages(passages: readonly Passage[]): (readonly Passage[])[] {
  const count = Math.ceil(passages.length / MESSAGE)
  return Array.from({ length: count }, (_, index) => passages.slice(index * MESSAGE, (index + 1) * MESSAGE))
}
