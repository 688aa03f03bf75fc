// Where pages of long lists ended, for clients that page by `offset`: the page that follows begins at its place, and
// nothing before it is counted again. Only a saving: without a place the offset is counted, and the answer is the same.
import { createHash } from 'node:crypto'

/** A row of a list ordered by time and id. */
export type PagePlace = { micros: bigint; id: string }

type Kept = PagePlace & { until_ms: number }

// A client that pages asks for the next page soon. Later the list may begin elsewhere, and is counted anew.
const LASTS_MS = 10 * 60_000
// For each caller, so that nobody displaces the places of others.
const MAX_PLACES = 20
const MAX_CALLERS = 1000

export class PagePlaces {
  readonly #callers = new Map<string, Map<string, Kept>>()

  /** `question` is all that decides which rows are listed, in which order. */
  find(caller: string, question: unknown, offset: number, now: Date): PagePlace | undefined {
    const kept = this.#callers.get(caller)?.get(nameOf(question, offset))
    return kept && now.getTime() < kept.until_ms ? kept : undefined
  }

  /** The row in front of `offset`. */
  keep(caller: string, question: unknown, offset: number, place: PagePlace, now: Date): void {
    const places = this.#callers.get(caller) ?? new Map<string, Kept>()
    putLast(places, nameOf(question, offset), { ...place, until_ms: now.getTime() + LASTS_MS }, MAX_PLACES)
    putLast(this.#callers, caller, places, MAX_CALLERS)
  }
}

/** Lets go of what was put longest ago. */
function putLast<Value>(map: Map<string, Value>, key: string, value: Value, max: number): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > max) map.delete(map.keys().next().value!)
}

function nameOf(question: unknown, offset: number): string {
  const hash = createHash('sha256').update(JSON.stringify(question)).digest('base64')
  return `${hash} ${offset}`
}
