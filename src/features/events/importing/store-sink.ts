// The sink for when no server runs on the data folder: straight into the pipeline and the stores.
import type { EventStore } from '../../../platform/event-store/event-store.ts'
import type { ProjectRow } from '../../projects/schema.ts'
import type { Ingest } from '../ingest.ts'
import { addClientAddress } from '../pipeline/client-address.ts'
import type { BatchLimit, Sink } from './sink.ts'

/** While one batch is written the next is prepared, and a third waits so that neither has to. */
const IN_FLIGHT = 3
/** One commit holds all of them. Nobody waits for an answer, as a server's clients would. */
const BATCH: BatchLimit = { events: 8_000, bytes: 8 * 1024 * 1024 }

export function openStoreSink(
  ingest: Pick<Ingest, 'accept' | 'close'>,
  project: ProjectRow,
  count: StoreCount,
  now: () => Date,
): Sink {
  return {
    in_flight: IN_FLIGHT,
    batch: BATCH,
    async accept(events, bytes) {
      const created_at = BigInt(now().getTime()) * 1000n
      const arriving = events.map((event) => ({ ...event, created_at }))
      if (project.anonymize_ips) for (const event of arriving) addClientAddress(event, null)
      await ingest.accept(project, arriving, bytes)
      return []
    },
    stored: () => count.stored,
    close: () => ingest.close(),
  }
}

export type StoreCount = { stored: number }

/** The store, with a count of the events that it did not have before. */
export function countingStore(store: EventStore): { store: EventStore; count: StoreCount } {
  const count = { stored: 0 }
  const write: EventStore['write'] = async (...args) => {
    const written = await store.write(...args)
    for (const { stored } of written) count.stored += stored
    return written
  }
  return { store: { ...store, write }, count }
}
