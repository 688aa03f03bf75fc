// After a crash: what became of the requests that got no answer? Those with an Idempotency-Key are sent again, as a
// client would; of the others the activity log tells. Then every change is held against the log.
import type { Client } from './client.ts'
import { keysOf, type Change, type Entry, type Tally } from './ledger.ts'

export type Closed = { answered: number; open: number; retried: number }

type Tools = {
  readEntries(): Promise<Entry[]>
  tally: Tally
  random: { chance(percent: number): boolean }
  fault(text: string): void
}

/** Takes the changes of the round from the clients. */
export async function closeChanges(
  clients: readonly Client[],
  tools: Tools,
): Promise<Closed & { changes: Change[] }> {
  const count = { answered: 0, open: 0, retried: 0 }
  const all: Change[] = []
  for (const client of clients) {
    for (const change of client.takeChanges()) {
      all.push(change)
      count[change.state]++
      // Some clients give up instead: what they asked for may have happened once all the same.
      if (change.state === 'answered' || change.again === null || tools.random.chance(25)) continue
      count.retried++
      client.close(change, await change.again())
    }
  }
  for (const change of all) if (change.state === 'answered') tools.tally.add(change.entry_key)
  const entries = byKey(await tools.readEntries())
  const entriesOf = (change: Change) => entries.get(change.entry_key) ?? []
  for (const change of all) if (change.state === 'open') settle(change, entriesOf(change), tools.tally)
  for (const change of all) compare(change, entriesOf(change).length, tools)
  return { ...count, changes: all }
}

/** One entry more than there were changes tells that an open one has happened. */
function settle(change: Change, entries: readonly Entry[], tally: Tally): void {
  if (entries.length !== tally.of(change.entry_key) + 1) return
  tally.add(change.entry_key)
  change.apply(null, entries.at(-1)!)
}

function compare({ what, state, entry_key }: Change, found: number, { tally, fault }: Tools): void {
  const wanted = tally.of(entry_key)
  if (found !== wanted) fault(`${what} (${state}): ${found} entries "${entry_key}" instead of ${wanted}`)
}

function byKey(entries: readonly Entry[]): Map<string, Entry[]> {
  const map = new Map<string, Entry[]>()
  for (const entry of entries) {
    for (const key of keysOf(entry)) map.set(key, [...(map.get(key) ?? []), entry])
  }
  return map
}
