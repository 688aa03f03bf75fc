// A heap: many things that each have a moment, of which the soonest is wanted.

export class SoonestFirst<T> {
  readonly #momentOf: (item: T) => number
  readonly #items: T[] = []

  constructor(momentOf: (item: T) => number) {
    this.#momentOf = momentOf
  }

  first(): T | undefined {
    return this.#items[0]
  }

  add(item: T): void {
    let at = this.#items.push(item) - 1
    for (let parent = (at - 1) >> 1; at > 0 && this.#isBefore(at, parent); parent = (at - 1) >> 1) {
      this.#swap(at, parent)
      at = parent
    }
  }

  removeFirst(): void {
    const last = this.#items.pop()
    if (last === undefined || this.#items.length === 0) return
    this.#items[0] = last
    this.firstChanged()
  }

  /** To be called when the moment of the first has become a later one. */
  firstChanged(): void {
    for (let at = 0; ;) {
      let soonest = at
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < this.#items.length && this.#isBefore(child, soonest)) soonest = child
      }
      if (soonest === at) return
      this.#swap(at, soonest)
      at = soonest
    }
  }

  #isBefore(one: number, other: number): boolean {
    return this.#momentOf(this.#items[one]!) < this.#momentOf(this.#items[other]!)
  }

  #swap(one: number, other: number): void {
    ;[this.#items[one], this.#items[other]] = [this.#items[other]!, this.#items[one]!]
  }
}
