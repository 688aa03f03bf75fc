// What goes wrong, by chance: crashes, stalls, refusals and lost answers, more or fewer of them from seed to seed.
import { Passing, Refused, Unreachable } from '../../src/features/batch-exports/destinations/destination.ts'
import { StoreBusy } from '../../src/platform/event-store/event-store.ts'
import type { Random } from '../crash/random.ts'
import type { Call, Fate, Place } from './turnstile.ts'

/** Thrown where the simulation takes a connection away. */
export class ConnectionLost extends Error {
  constructor() {
    super('the connection was lost')
  }
}

const GO: Fate = { kind: 'go' }
const PER_MILLE: Record<Place, number> = { database: 35, store: 60, destination: 200 }

export class Faults {
  readonly #random: Random
  /** Each place has its own: most calls are to the database, and would use all of them up. */
  #left: Record<Place, number>
  readonly #has_poison: boolean
  #poison: string | null = null

  constructor(random: Random) {
    this.#random = random
    this.#has_poison = random.chance(3)
    const few = () => random.pick([0, 2, 4, 6])
    this.#left = { database: random.pick([0, 3, 6, 10]), store: few(), destination: few() }
  }

  /** The delivery that ends every process which works on it; null when there is none. */
  get poison(): string | null {
    return this.#poison
  }

  /** From now on all goes well. */
  end(): void {
    this.#left = { database: 0, store: 0, destination: 0 }
  }

  draw({ place, label }: Pick<Call, 'place' | 'label'>): Fate {
    if (this.#isPoison(place, label)) return { kind: 'crash', when: 'before' }
    if (this.#left[place] === 0 || this.#random.below(1000) >= PER_MILLE[place]) return GO
    this.#left[place]--
    const when = this.#random.pick(['before', 'after'] as const)
    const kind = this.#random.pick(['crash', 'freeze', 'freeze', 'fail', 'fail'] as const)
    return kind === 'fail' ? { kind, when, error: this.#error(place, when) } : { kind, when }
  }

  /** In a few worlds one run ends every process that works on it, to the very end. */
  #isPoison(place: Place, label: string): boolean {
    if (!this.#has_poison || place !== 'destination') return false
    // Names of files may hold another.
    const run_id = label.match(/[0-9a-f-]{36}/g)?.at(-1) ?? null
    this.#poison ??= run_id
    return run_id !== null && run_id === this.#poison
  }

  #error(place: Place, when: 'before' | 'after'): Error {
    if (place === 'database') return new ConnectionLost()
    if (place === 'store') return new StoreBusy('The store is busy.')
    if (when === 'after') return new Passing('The answer was lost.')
    const draw = this.#random.below(10)
    if (draw < 6) return new Passing('Try again later.', draw < 2 ? 20_000 : null)
    return draw < 9 ? new Unreachable('Nobody answers.') : new Refused('Not like this.')
  }
}
