// Many events at once, so that a run has several files and batches: one ends after 5,000 rows at the earliest.
import { gzipSync } from 'node:zlib'
import { uuid7 } from '../../../src/lib/uuid.ts'
import type { Batch } from '../../crash/events/sender.ts'
import type { Random } from '../../crash/random.ts'

const MIN_EVENTS = 6_000
const MAX_EVENTS = 9_000
const NOTE_CHARACTERS = 200

/** For a sender, which sends it with whatever else was not acknowledged. */
export function composeRush(api_key: string, random: Random): Batch {
  const now = new Date()
  const count = MIN_EVENTS + random.below(MAX_EVENTS - MIN_EVENTS)
  const batch = Array.from({ length: count }, (_, index) => ({
    uuid: uuid7(now),
    event: 'rush',
    distinct_id: `rush-${index % 50}`,
    timestamp: new Date(now.getTime() - random.below(60_000)).toISOString(),
    properties: { note: noise(random) },
  }))
  return {
    uuids: batch.map(({ uuid }) => uuid),
    distinct_ids: [],
    body: gzipSync(JSON.stringify({ api_key, batch, sent_at: now.toISOString() })),
    is_gzip: true,
    is_acknowledged: false,
  }
}

/** Hardly to be compressed: a compressed file must reach its limit too. */
function noise(random: Random): string {
  let text = ''
  while (text.length < NOTE_CHARACTERS) text += random.below(2 ** 32).toString(16)
  return text
}
