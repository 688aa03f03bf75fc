// What others do with events on their way into the store.
import type { ProjectRow } from '../projects/schema.ts'
import type { PipelineEvent } from './pipeline-event.ts'

/**
 * Changes events before anything else sees them, in their order; those that it drops or keeps for later are missing
 * from the result. Where it changes a `uuid`, a repeat gets the same one again: the event store finds repeats by it.
 * Throws when it can neither change nor keep them: the sender still has them. `onHeld` is told how many it keeps.
 */
export type EventTransform = (
  project: ProjectRow,
  events: readonly PipelineEvent[],
  onHeld?: (count: number) => void,
) => Promise<readonly PipelineEvent[]>

/** Sees each event that is being stored. It must neither throw nor take long. */
export type EventObserver = (project_id: number, event: PipelineEvent) => void
