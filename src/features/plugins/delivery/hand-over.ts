// The events of a page to their app: a handful at a time, begun in order.
import type { Outcome } from './attempt.ts'

export type Settled = Exclude<Outcome, { kind: 'later' }>

/**
 * What became of the items, from the first on, as far as all of them are settled. Once one is put off, or `goesOn` says no,
 * no other is begun.
 */
export async function handOver<Item>(
  items: readonly Item[],
  in_flight: number,
  goesOn: () => boolean,
  attempt: (item: Item) => Promise<Outcome>,
): Promise<Settled[]> {
  const outcomes: Outcome[] = []
  let begun = 0
  let is_stopped = false
  const lane = async () => {
    while (begun < items.length && !is_stopped && goesOn()) {
      const index = begun++
      try {
        outcomes[index] = await attempt(items[index]!)
      } catch (error) {
        is_stopped = true
        throw error
      }
      if (outcomes[index].kind === 'later') is_stopped = true
    }
  }
  const lanes = await Promise.allSettled(Array.from({ length: in_flight }, lane))
  const settled: Settled[] = []
  for (const outcome of outcomes) {
    if (outcome === undefined || outcome.kind === 'later') break
    settled.push(outcome)
  }
  // What is settled is kept first; the fault comes again.
  const broken = lanes.find((result) => result.status === 'rejected')
  if (broken && settled.length === 0) throw broken.reason
  return settled
}
