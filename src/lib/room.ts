// Room in a queue: so much for all, and a share of it for each sender, so that none fills the queue alone.

export type Amount = { events: number; bytes: number }

/** `share` is a part of the whole, from 0 to 1. */
export type Sender = { name: string; share: number }

const ALL: Sender = { name: '', share: 1 }

export class Room {
  readonly #held = new Map<string, Amount>()

  constructor(private readonly limit: Amount) {}

  /**
   * Null when there is no room. One amount may be larger than a share or the whole, but only whoever holds nothing gets
   * it.
   */
  take(senders: readonly Sender[], amount: Amount): Reservation | null {
    const holders = [ALL, ...senders]
    if (holders.some((holder) => !this.#fits(holder, amount))) return null
    const reservation = new Reservation((change) => {
      for (const { name } of holders) this.#add(name, change)
    })
    reservation.add(amount)
    return reservation
  }

  /** What all senders hold together. */
  held(): Amount {
    return { ...(this.#held.get(ALL.name) ?? { events: 0, bytes: 0 }) }
  }

  #fits({ name, share }: Sender, { events, bytes }: Amount): boolean {
    const held = this.#held.get(name)
    if (!held) return true
    return held.events + events <= share * this.limit.events && held.bytes + bytes <= share * this.limit.bytes
  }

  #add(name: string, { events, bytes }: Amount): void {
    const held = this.#held.get(name) ?? { events: 0, bytes: 0 }
    const now = { events: held.events + events, bytes: held.bytes + bytes }
    if (now.events === 0 && now.bytes === 0) this.#held.delete(name)
    else this.#held.set(name, now)
  }
}

/** What was taken, until it is left. */
export class Reservation {
  #held: Amount = { events: 0, bytes: 0 }

  constructor(private readonly tell: (change: Amount) => void) {}

  add({ events, bytes }: Amount): void {
    this.#held = { events: this.#held.events + events, bytes: this.#held.bytes + bytes }
    this.tell({ events, bytes })
  }

  /** Keeps the room for these events and for all of its bytes. */
  shrinkTo(events: number): void {
    this.add({ events: events - this.#held.events, bytes: 0 })
  }

  leave(): void {
    this.add({ events: -this.#held.events, bytes: -this.#held.bytes })
  }
}
