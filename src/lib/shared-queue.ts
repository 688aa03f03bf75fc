// A queue that is shared in two ways at once: by address and by project, say. Turns alternate between the two orders, so
// that neither one address over many projects nor many addresses over one project makes the others wait.
import { FairQueue } from './fair-queue.ts'

const SPARE = 100

type Waiting<Item> = { item: Item; is_taken: boolean }

export class SharedQueue<Item> {
  readonly #orders: readonly [FairQueue<Waiting<Item>>, FairQueue<Waiting<Item>>] = [
    new FairQueue(),
    new FairQueue(),
  ]
  #turn = 0
  #length = 0

  get length(): number {
    return this.#length
  }

  push(item: Item, senders: readonly [string, string], cost: number): void {
    const waiting = { item, is_taken: false }
    this.#orders.forEach((order, way) => order.push(waiting, senders[way]!, cost))
    this.#length += 1
  }

  /** What goes next, unless it does not fit: then it stays where it is. */
  shift(fits: (item: Item) => boolean = () => true): Item | undefined {
    const order = this.#orders[this.#turn % this.#orders.length]!
    if (order.length > 2 * this.#length + SPARE) order.keep(({ is_taken }) => !is_taken)
    // It may have gone in the other order.
    while (order.first?.is_taken) order.shift()
    const next = order.first
    if (!next || !fits(next.item)) return undefined
    order.shift()
    next.is_taken = true
    this.#turn += 1
    this.#length -= 1
    return next.item
  }
}
