// Where imported and generated events go: into the stores of this machine, or to a server that holds them.
import { formatMicros } from '../../../lib/microseconds.ts'
import type { PipelineEvent } from '../pipeline-event.ts'

export type Sink = {
  /** Calls of `accept` that may be under way at once; their order stays. */
  in_flight: number
  /** What is handed over at once: larger batches are cheaper, up to here. */
  batch: BatchLimit
  /** Resolves when the events are stored for good; gives back those that are refused. `bytes` is about their size. */
  accept(events: readonly PipelineEvent[], bytes: number): Promise<readonly RefusedEvent[]>
  /** Events that were not there before, of all that were accepted; null where nobody tells. */
  stored(): number | null
  close(): Promise<void>
}

/** @property index place in the list that was handed over */
export type RefusedEvent = { index: number; reason: string }

/** Whichever is reached first. */
export type BatchLimit = { events: number; bytes: number }

/** What a server takes beside other clients' requests, which it answers in between. */
export const SERVER_BATCH: BatchLimit = { events: 2_000, bytes: 4 * 1024 * 1024 }

/** As capture takes it. */
export function toCaptured({ uuid, event, distinct_id, timestamp, properties }: PipelineEvent) {
  return { uuid, event, distinct_id, timestamp: formatMicros(timestamp), properties }
}
