// Where ingestion meets the apps: events of a project go through its chain in batches, whichever requests they came by.
import type { Services } from '../../../../platform/services.ts'
import type { PipelineEvent } from '../../../events/pipeline-event.ts'
import type { ProjectRow } from '../../../projects/schema.ts'
import type { Captures } from '../host/captures.ts'
import { runChain, type ChainParts } from './chain.ts'
import { Line } from './line.ts'
import { MARKS, Passage } from './passage.ts'
import type { RunningApp } from '../running-app.ts'

const MESSAGE = 100

type TransformParts = ChainParts & {
  services: Pick<Services, 'settings' | 'now' | 'log'>
  captures: Captures
  /** Those with processEvent, in the order of the chain. */
  appsOf(project_id: number): readonly RunningApp[]
}

export class Transform {
  readonly #parts: TransformParts
  readonly #lines = new Map<number, Line<PipelineEvent>>()

  constructor(parts: TransformParts) {
    this.#parts = parts
  }

  async accept(
    { id }: Pick<ProjectRow, 'id'>,
    events: readonly PipelineEvent[],
  ): Promise<readonly PipelineEvent[]> {
    const { captures, appsOf } = this.#parts
    const [first] = events
    // Those come alone.
    const isCaptured = first !== undefined && captures.senderOf(first) !== undefined
    if (!isCaptured) for (const event of events) removeMarks(event)
    if (appsOf(id).length === 0) return events
    // An app may be waiting for the event it captured: behind the event it works on, that would never come.
    if (isCaptured) return (await this.#run(id, events)).filter((event) => event !== null)
    return this.#line(id).add(events)
  }

  #line(project_id: number): Line<PipelineEvent> {
    const known = this.#lines.get(project_id)
    if (known) return known
    const line = new Line<PipelineEvent>((batch) => this.#run(project_id, batch))
    this.#lines.set(project_id, line)
    return line
  }

  /** Never throws: whatever happens to apps, events go on. */
  async #run(
    project_id: number,
    events: readonly PipelineEvent[],
  ): Promise<readonly (PipelineEvent | null)[]> {
    const { services, captures, appsOf } = this.#parts
    const passages = events.map((event) => new Passage(event, captures.senderOf(event)))
    const { site_url, plugin_patience_ms } = services.settings
    const context = { project_id, site_url, now: services.now().toISOString() }
    const apps = appsOf(project_id)
    // Two are on their way at a time: while apps work on one, the next is made ready.
    let last = Promise.resolve()
    for (const message of inMessages(passages)) {
      const passed = runChain(this.#parts, apps, message, context, plugin_patience_ms).catch(
        (error: unknown) =>
          services.log.error({ err: error }, 'plugins: events were stored without all of their apps'),
      )
      await last
      last = passed
    }
    await last
    return passages.map((passage) => passage.end())
  }
}

/** As many as go to an app at a time: each has the whole patience, which an app at its usual pace does not come near. */
function inMessages(passages: readonly Passage[]): (readonly Passage[])[] {
  const count = Math.ceil(passages.length / MESSAGE)
  return Array.from({ length: count }, (_, index) => passages.slice(index * MESSAGE, (index + 1) * MESSAGE))
}

function removeMarks({ properties }: PipelineEvent): void {
  for (const mark of MARKS) if (properties[mark] !== undefined) delete properties[mark]
}
