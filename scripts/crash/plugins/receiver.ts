// The other end of the webhooks: takes its time, and fails the first tries of some events.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  startWebhookServer,
  type Reaction,
  type WebhookStandIn,
} from '../../../test/stand-ins/webhook-server.ts'
import type { Random } from '../random.ts'

export const RETRY_AFTER_S = 2
const FAILURES: readonly Reaction[] = [
  { status: 500 },
  'cut',
  { status: 429, headers: { 'retry-after': String(RETRY_AFTER_S) } },
]
/** In percent, by the number of the try; later ones are taken. */
const FAILS = [15, 30]
const LONGEST_MS = 80

export async function startReceiver(random: Random): Promise<WebhookStandIn> {
  const tries = new Map<string, number>()
  return await startWebhookServer(async ({ event_id }) => {
    const earlier = tries.get(event_id) ?? 0
    tries.set(event_id, earlier + 1)
    const reaction = random.chance(FAILS[earlier] ?? 0) ? random.pick(FAILURES) : { status: 200 }
    await sleep(random.below(LONGEST_MS))
    return reaction
  })
}
