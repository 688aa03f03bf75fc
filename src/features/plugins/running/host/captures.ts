// Events that apps send into their own project. Each carries the config it came from, so that it never comes back there.
import { StoreBusy } from '../../../../platform/event-store/event-store.ts'
import { HOPS } from '../../../../platform/sandbox/sandbox.ts'
import type { JsonObject } from '../../../../lib/json-object.ts'
import type { Services } from '../../../../platform/services.ts'
import type { Ingest } from '../../../events/ingest.ts'
import type { PipelineEvent } from '../../../events/pipeline-event.ts'
import { readEvent } from '../../../events/read-event.ts'
import { findProject } from '../../../projects/queries.ts'
import { HostError } from './host-error.ts'
import type { RunningApp } from '../running-app.ts'

/** Set by us alone: what comes from outside under this name is taken away. */
export const CAPTURED_BY = '$plugin_config_id'

const MAX_BYTES = 1024 * 1024
/** Two apps that capture events in answer to each other's would go on for ever. */
const MAX_HOPS = 5

export class CapturedInACircle extends HostError {
  constructor() {
    super('Apps capture events in answer to each other: this one was not captured any more.')
  }
}

type Sender = Pick<RunningApp, 'config_id' | 'project_id' | 'organization_id' | 'plugin_name'>

export class Captures {
  readonly #services: Pick<Services, 'db' | 'now'>
  readonly #ingest: Pick<Ingest, 'accept'>
  readonly #senders = new WeakMap<PipelineEvent, number>()

  constructor(services: Pick<Services, 'db' | 'now'>, ingest: Pick<Ingest, 'accept'>) {
    this.#services = services
    this.#ingest = ingest
  }

  /** The config that sent this very event; undefined for all that come from outside. */
  senderOf(event: PipelineEvent): number | undefined {
    return this.#senders.get(event)
  }

  /** Resolves when the event is stored for good. `hops`: of the event it answers. */
  async capture(app: Sender, event: string, properties: JsonObject, hops = 0): Promise<void> {
    if (hops >= MAX_HOPS) throw new CapturedInACircle()
    const { db, now } = this.#services
    const text = JSON.stringify({
      event,
      distinct_id: properties.distinct_id ?? app.plugin_name,
      timestamp: properties.timestamp,
      properties: {
        $lib: 'posthog-plugin-server',
        ...properties,
        [CAPTURED_BY]: app.config_id,
        [HOPS]: hops + 1,
      },
    })
    if (text.length > MAX_BYTES) throw new HostError('An event may have 1 MB at most.')
    const captured = readOrRefuse(text, now())
    const project = await findProject(db, app.organization_id, app.project_id)
    if (!project) throw new HostError('The project of this app is gone.')
    this.#senders.set(captured, app.config_id)
    try {
      await this.#ingest.accept(project, [captured], text.length)
    } catch (error) {
      throw error instanceof StoreBusy
        ? new HostError('Too many events are waiting; try again later.')
        : error
    }
  }
}

function readOrRefuse(text: string, now: Date): PipelineEvent {
  try {
    return readEvent(text, now)
  } catch (error) {
    throw new HostError(error instanceof Error ? error.message : 'This is no event.')
  }
}
