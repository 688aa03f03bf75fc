// Sends events to a sink without keeping progress: what is generated can be generated again.
import type { PipelineEvent } from '../pipeline-event.ts'
import type { RefusedEvent, Sink } from './sink.ts'

/** @param onSent told how many are stored so far */
export async function sendEvents(
  sink: Sink,
  events: Iterable<PipelineEvent>,
  eventBytes: number,
  signal: AbortSignal,
  onSent: (count: number) => void,
): Promise<void> {
  const under_way: { count: number; delivery: Promise<readonly RefusedEvent[]> }[] = []
  const atOnce = Math.min(sink.batch.events, Math.ceil(sink.batch.bytes / eventBytes))
  let sent = 0
  const settleFirst = async () => {
    const { count, delivery } = under_way.shift()!
    const [refused] = await delivery
    if (refused) throw new Error(refused.reason)
    sent += count
    onSent(sent)
  }
  const hand = async (batch: readonly PipelineEvent[]) => {
    while (under_way.length >= sink.in_flight) await settleFirst()
    const delivery = sink.accept(batch, batch.length * eventBytes)
    // Heard in its turn; until then a failure is not one that nobody hears of.
    delivery.catch(() => undefined)
    under_way.push({ count: batch.length, delivery })
  }
  try {
    let batch: PipelineEvent[] = []
    for (const event of events) {
      if (batch.push(event) < atOnce) continue
      await hand(batch)
      batch = []
      if (signal.aborted) break
    }
    if (batch.length > 0) await hand(batch)
    while (under_way.length > 0) await settleFirst()
  } finally {
    await Promise.allSettled(under_way.map(({ delivery }) => delivery))
  }
}
