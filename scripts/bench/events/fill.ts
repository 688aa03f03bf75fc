// A store with millions of sample events, written straight into it: how they got there is measured elsewhere.
import { join } from 'node:path'
import { sampleEvents } from '../../../src/features/events/sample/sample-events.ts'
import { toStoredEvent } from '../../../src/features/events/pipeline/store-form.ts'
import { openDuckDb } from '../../../src/platform/event-store/duckdb/open.ts'
import { personOf } from './person.ts'
import type { StoredEvent } from '../../../src/platform/event-store/event-store.ts'

const BATCH = 20_000

export async function fill(folder: string, project_id: number, count: number, seed: number): Promise<void> {
  const store = await openDuckDb({
    folder: join(folder, 'events'),
    memory_mb: 1024,
    query_timeout_ms: 60_000,
  })
  let batch: StoredEvent[] = []
  let writing: Promise<unknown> = Promise.resolve()
  const flush = async () => {
    await writing
    const events = batch
    batch = []
    writing = store.write(
      [{ project_id, events, persons: [], deleted_persons: [], distinct_ids: [], groups: [] }],
      new Date(),
    )
  }
  // Ended a day ago, so that what the bench sends is newer than all of it.
  const end = new Date(Date.now() - 2 * 86_400_000)
  for (const event of sampleEvents({ count, seed, end, days: 90 })) {
    batch.push(toStoredEvent(event, true, personOf(project_id, event.distinct_id)))
    if (batch.length === BATCH) await flush()
  }
  await flush()
  await writing
  // Whoever asks has them in files first.
  await store.arrivalsOf(project_id, [1])
  await store.close()
}
