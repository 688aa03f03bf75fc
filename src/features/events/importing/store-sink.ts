// The sink for when no server runs on the data folder: straight into the pipeline and the stores.
import type { ProjectRow } from '../../projects/schema.ts'
import type { Ingest } from '../ingest.ts'
import { addClientAddress } from '../pipeline/client-address.ts'
import type { BatchLimit, Sink } from './sink.ts'

/** While one batch is written the next is prepared, and a third waits so that neither has to. */
const IN_FLIGHT = 3
/** One commit holds all of them. Nobody waits for an answer, as a server's clients would. */
const BATCH: BatchLimit = { events: 8_000, bytes: 8 * 1024 * 1024 }

export function openStoreSink(
  ingest: Pick<Ingest, 'accept' | 'tally' | 'close'>,
  project: ProjectRow,
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
    stored: () => ingest.tally.stored.total,
    close: () => ingest.close(),
  }
}
