// The ledger by a model of its own: no event belongs to two runs of an export, and none that a run could choose from was
// left to nobody.
import type { SimulatedEvent } from './event-store.ts'
import { isClaimed, runText, type DeliveryFacts, type Facts } from './facts.ts'

export function checkLedger(facts: Facts): void {
  for (const { id } of facts.exports) {
    const deliveries = [...facts.deliveries.values()].filter(({ first }) => first.batch_export_id === id)
    const holders = new Map<SimulatedEvent, DeliveryFacts[]>()
    for (const event of facts.world.store.events) {
      holders.set(
        event,
        deliveries.filter(({ claims }) => claims.some((claim) => isClaimed(event, claim))),
      )
    }
    for (const [{ uuid }, holding] of holders) {
      if (holding.length > 1)
        facts.world.wrong(`event ${uuid} belongs to ${holding.length} runs of export ${id}`)
    }
    for (const delivery of deliveries) checkDelivery(facts, delivery, holders)
  }
}

/** Its claims lie within what it could choose from, and all of that belongs to somebody. */
function checkDelivery(
  { world }: Facts,
  { first, runs, claims }: DeliveryFacts,
  holders: ReadonlyMap<SimulatedEvent, DeliveryFacts[]>,
): void {
  if (runs.every(({ definition }) => definition === null)) {
    if (claims.length > 0) world.wrong(`${runText(first)} has claims and was never begun`)
    return
  }
  for (const [event, holding] of holders) {
    const isOwn = claims.some((claim) => isClaimed(event, claim))
    const isCandidate = isAmong(event, first)
    if (isOwn && !isCandidate)
      world.wrong(`${runText(first)} has claimed event ${event.uuid}, which is not its own`)
    if (isCandidate && holding.length === 0)
      world.wrong(`${runText(first)} has left event ${event.uuid} to nobody`)
  }
}

function isAmong({ seq, timestamp }: SimulatedEvent, run: DeliveryFacts['first']): boolean {
  if (seq <= run.seq_from! || seq > run.seq_to!) return false
  if (run.selection === 'arrival') return true
  const isLate = run.data_interval_start !== null && timestamp < run.data_interval_start
  return !isLate && timestamp < run.data_interval_end
}
