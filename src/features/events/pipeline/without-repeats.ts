// Repeats within a request; those of earlier requests the event store finds.
import type { PipelineEvent } from '../pipeline-event.ts'

/** SDKs repeat whole batches, and now and then an event within one. */
export function withoutRepeats(events: readonly PipelineEvent[]): readonly PipelineEvent[] {
  const seen = new Set<string>()
  return events.filter(({ uuid }) => {
    if (seen.has(uuid)) return false
    seen.add(uuid)
    return true
  })
}
