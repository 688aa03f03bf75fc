// Where an event came from.
import type { PipelineEvent } from '../pipeline-event.ts'

/** What the event says of its own address wins over where it came from; null where a project keeps no addresses at all. */
export function addClientAddress({ properties }: PipelineEvent, address: string | null): void {
  if (address === null) delete properties.$ip
  else if (!Object.hasOwn(properties, '$ip')) properties.$ip = address
}
