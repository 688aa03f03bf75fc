// Events as clients send them: sample events in requests of a size that SDKs use.
import type { PipelineEvent } from '../../../src/features/events/pipeline-event.ts'
import { sampleEvents } from '../../../src/features/events/sample/sample-events.ts'
import { formatMicros } from '../../../src/lib/microseconds.ts'

export const PER_REQUEST = 100

/** Sample events of the last hour. */
export function freshEvents(count: number, seed: number): PipelineEvent[] {
  return [...sampleEvents({ count, seed, end: new Date(), days: 1 / 24 })]
}

export function requestsOf(events: readonly PipelineEvent[], token: string): string[] {
  return Array.from({ length: Math.ceil(events.length / PER_REQUEST) }, (_, index) => {
    const batch = events
      .slice(index * PER_REQUEST, (index + 1) * PER_REQUEST)
      .map(({ uuid, event, distinct_id, properties, timestamp }) => ({
        uuid,
        event,
        distinct_id,
        properties,
        timestamp: formatMicros(timestamp),
      }))
    return JSON.stringify({ api_key: token, batch })
  })
}
