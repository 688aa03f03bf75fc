// Every event that was ever sent, whether it was acknowledged, and how often it came out where.

import type { Batch } from '../../crash/events/sender.ts'

/** Batches that a sender may send again: old ones would no longer be known, events are recognised for a day. */
const KEPT_BATCHES = 20

export class Ledger {
  readonly #numbers = new Map<string, number>()
  readonly #places = new Map<string, { counts: Uint8Array; delivered: number }>()
  readonly #fault: (text: string) => void
  /** Acknowledged, and not looked for yet. */
  #promised: string[] = []

  constructor(fault: (text: string) => void) {
    this.#fault = fault
  }

  get sent(): number {
    return this.#numbers.size
  }

  get promised(): readonly string[] {
    return this.#promised
  }

  has(uuid: string): boolean {
    return this.#numbers.has(uuid)
  }

  send(uuids: readonly string[]): void {
    for (const uuid of uuids) if (!this.#numbers.has(uuid)) this.#numbers.set(uuid, this.#numbers.size)
  }

  promise(uuids: readonly string[]): void {
    for (const uuid of uuids) this.#promised.push(uuid)
  }

  /** What was acknowledged of a sender's batches is promised from now on. Most of these need not be kept. */
  take(batches: Batch[]): void {
    for (const { uuids, is_acknowledged } of batches) {
      this.send(uuids)
      if (is_acknowledged) this.promise(uuids)
    }
    const acknowledged = batches.filter(({ is_acknowledged }) => is_acknowledged)
    const forgotten = new Set(acknowledged.slice(0, -KEPT_BATCHES))
    batches.splice(0, batches.length, ...batches.filter((batch) => !forgotten.has(batch)))
  }

  /** Each may come to a place once, and nothing that was never sent. */
  deliver(place: string, uuids: readonly string[], by: string): void {
    const at = this.#placeOf(place)
    let [repeated, unknown] = [0, 0]
    for (const uuid of uuids) {
      const number = this.#numbers.get(uuid)
      if (number === undefined) unknown++
      else if (++at.counts[number]! > 1) repeated++
    }
    at.delivered += uuids.length
    if (repeated > 0) this.#fault(`${place}: ${repeated} events of ${by} had come before`)
    if (unknown > 0) this.#fault(`${place}: ${unknown} events of ${by} were never sent`)
  }

  delivered(place: string): number {
    return this.#placeOf(place).delivered
  }

  /** Whatever is promised must be there by now. */
  expectPromised(place: string): void {
    const { counts } = this.#placeOf(place)
    const missing = this.#promised.filter((uuid) => counts[this.#numbers.get(uuid)!] === 0)
    if (missing.length > 0)
      this.#fault(`${place}: ${missing.length} acknowledged events are missing, ${missing[0]} among them`)
  }

  /** They were looked for everywhere. */
  promisesKept(): void {
    this.#promised = []
  }

  #placeOf(name: string) {
    const place = this.#places.get(name) ?? { counts: new Uint8Array(0), delivered: 0 }
    if (place.counts.length < this.#numbers.size) {
      const counts = new Uint8Array(2 * this.#numbers.size)
      counts.set(place.counts)
      place.counts = counts
    }
    this.#places.set(name, place)
    return place
  }
}
