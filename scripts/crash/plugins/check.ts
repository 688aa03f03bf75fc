// Holds what arrived against what was stored and when the server was killed.
import { METHOD_RULES } from '../../../src/features/plugins/delivery/methods.ts'
import { groupBy } from '../../../src/lib/group-by.ts'
import type { Received } from '../../../test/stand-ins/webhook-server.ts'
import { RETRY_AFTER_S } from './receiver.ts'

const { waits_s } = METHOD_RULES.composeWebhook

/** What was on its way when the server was killed still arrives; a new server sends nothing for longer than this. */
const ON_ITS_WAY_MS = 1_000

export type Account = {
  faults: string[]
  /** Tries that were not taken. */
  failed: number
  /** Tries of what had been taken before. */
  repeated: number
}

/** `kills` are times. */
export function checkDeliveries(
  stored: ReadonlySet<string>,
  requests: readonly Received[],
  kills: readonly number[],
): Account {
  const faults: string[] = []
  const byEvent = groupBy(requests, ({ event_id }) => event_id)
  const missing = [...stored].filter((uuid) => !byEvent.get(uuid)?.some(isTaken))
  if (missing.length > 0)
    faults.push(`${missing.length} stored events never arrived, ${missing[0]} among them`)
  let repeated = 0
  for (const [uuid, tries] of byEvent) {
    if (!stored.has(uuid)) faults.push(`${uuid} arrived and was never stored`)
    if (tries.some(({ body }) => (JSON.parse(body) as { uuid: string }).uuid !== uuid)) {
      faults.push(`${uuid} is not the id of the event that came under it`)
    }
    if (tries.some(({ body }) => body !== tries[0]!.body)) faults.push(`${uuid} came with different bodies`)
    for (const [index, again] of tries.slice(1).entries()) {
      const before = tries[index]!
      if (isTaken(before)) repeated++
      const fault = isTaken(before)
        ? explainRepeat(before, again, kills)
        : explainRetry(tries.slice(0, index + 1), again, kills)
      if (fault !== null) faults.push(`${uuid} ${fault}`)
    }
  }
  return { faults, failed: requests.filter((request) => !isTaken(request)).length, repeated }
}

export function isTaken({ reaction }: Received): boolean {
  return reaction !== null && reaction !== 'cut' && reaction.status === 200
}

/** The acknowledgement can only get lost with the process that waits for it. */
function explainRepeat(before: Received, again: Received, kills: readonly number[]): string | null {
  if (killsBetween(before, again, kills) > 0) return null
  return `came again ${again.received_at - before.answered_at!} ms after it had been taken`
}

/** A try whose failure got lost in a kill is not counted by the server; every other one is. */
function explainRetry(tries: readonly Received[], again: Received, kills: readonly number[]): string | null {
  const before = tries.at(-1)!
  const counted = Math.max(1, tries.length - killsBetween(tries[0]!, again, kills))
  const asked_s = isAskedToWait(before) && killsBetween(before, again, kills) === 0 ? RETRY_AFTER_S : 0
  const least_ms = 1000 * Math.max(waits_s[counted - 1] ?? 0, asked_s)
  const gap_ms = again.received_at - before.answered_at!
  return gap_ms >= least_ms ? null : `was tried again after ${gap_ms} ms instead of ${least_ms}`
}

function isAskedToWait({ reaction }: Received): boolean {
  return reaction !== null && reaction !== 'cut' && reaction.status === 429
}

function killsBetween(from: Received, to: Received, kills: readonly number[]): number {
  return kills.filter((at) => at >= from.received_at - ON_ITS_WAY_MS && at <= to.received_at).length
}
