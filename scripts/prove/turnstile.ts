// Where every call to the database, the event store and the destinations waits for its turn: one at a time, in an order
// that the seed decides, and with the fate that the seed gives it. A statement that would have to wait for a lock comes
// back and waits here until a transaction has ended.
import { setImmediate as immediate } from 'node:timers/promises'
import { errorCode } from '../../src/lib/error-code.ts'

export type Place = 'database' | 'store' | 'destination'

/** Whoever makes calls. One that has crashed gets no more answers; one that is frozen gets them later. */
export type Actor = { kind: 'worker' | 'person'; name: string; is_alive: boolean; is_frozen: boolean }

export type Call = {
  actor: Actor
  place: Place
  label: string
  /** The call is part of a transaction that the actor has open. */
  is_inside?: boolean
}

/** What becomes of a call: `before` it has taken effect, or `after`. */
export type Fate =
  | { kind: 'go' }
  | { kind: 'crash' | 'freeze'; when: 'before' | 'after' }
  | { kind: 'fail'; when: 'before' | 'after'; error: Error }

export class Crashed extends Error {
  constructor() {
    super('the process died')
  }
}

/** The error of PostgreSQL when two transactions wait for each other. */
export class Deadlock extends Error {
  readonly code = '40P01'
}

type Outcome = { value: unknown } | { error: unknown }
export type Waiting = Call & {
  work(): Promise<unknown>
  answer(outcome: Outcome): void
  is_locked_out: boolean
}

const CRASHED: Outcome = { error: new Crashed() }
const LOCK_NOT_AVAILABLE = '55P03'

export class Turnstile {
  #waiting: Waiting[] = []
  /** Answers that those who are frozen will get. */
  #held: { actor: Actor; give(): void }[] = []
  #moving = 0
  #whenStill: (() => void) | null = null

  pass<T>(call: Call, work: () => Promise<T>): Promise<T> {
    if (!call.actor.is_alive) return Promise.reject(new Crashed())
    return new Promise<T>((resolve, reject) => {
      const answer = (outcome: Outcome) =>
        'error' in outcome ? reject(outcome.error as Error) : resolve(outcome.value as T)
      this.#waiting.push({ ...call, work, answer, is_locked_out: false })
    })
  }

  /** While this is at work beside the turnstile, nobody is let through. */
  async move<T>(work: () => Promise<T>): Promise<T> {
    this.#moving++
    try {
      return await work()
    } finally {
      this.#stop()
    }
  }

  /** The part of a `move` that is made of calls: a transaction. */
  async rest<T>(work: () => Promise<T>): Promise<T> {
    this.#stop()
    try {
      return await work()
    } finally {
      this.#moving++
    }
  }

  /** The locks of a transaction are free. */
  endTransaction(): void {
    for (const call of this.#waiting) call.is_locked_out = false
  }

  /** Calls that could be let through, in an order that does not depend on the speed of the machine. */
  eligible(): readonly Waiting[] {
    const free = this.#waiting.filter(({ actor, is_locked_out }) => !actor.is_frozen && !is_locked_out)
    return free.sort((a, b) => compare(a.actor.name, b.actor.name) || compare(a.label, b.label))
  }

  /** When all that is left waits for each other's locks, one of the calls is told so. */
  async breakDeadlock(): Promise<boolean> {
    const victim = this.#waiting.find((call) => call.is_locked_out && call.is_inside && !call.actor.is_frozen)
    if (!victim) return false
    this.#remove(victim)
    victim.answer({ error: new Deadlock() })
    await this.quiet()
    return true
  }

  /** False: it has to wait for a lock. */
  async release(call: Waiting, fate: Fate): Promise<boolean> {
    if (fate.kind === 'freeze' && fate.when === 'before') {
      call.actor.is_frozen = true
      return true
    }
    this.#remove(call)
    if (fate.kind === 'crash' && fate.when === 'before') {
      call.answer(CRASHED)
      this.crash(call.actor)
    } else if (fate.kind === 'fail' && fate.when === 'before') call.answer({ error: fate.error })
    else if (!(await this.#letThrough(call, fate))) return false
    await this.quiet()
    return true
  }

  crash(actor: Actor): void {
    actor.is_alive = false
    actor.is_frozen = false
    const theirs = this.#waiting.filter((each) => each.actor === actor)
    this.#waiting = this.#waiting.filter((each) => each.actor !== actor)
    for (const call of theirs) call.answer(CRASHED)
    this.#giveHeld(actor)
  }

  async thaw(actor: Actor): Promise<void> {
    actor.is_frozen = false
    this.#giveHeld(actor)
    await this.quiet()
  }

  /** Waits until nothing moves by itself any more and everybody waits here. */
  async quiet(): Promise<void> {
    do {
      if (this.#moving > 0) await new Promise<void>((resolve) => (this.#whenStill = resolve))
      await immediate()
    } while (this.#moving > 0 || isDiskBusy())
  }

  async #letThrough(call: Waiting, fate: Fate): Promise<boolean> {
    // On a busy machine PostgreSQL may give up before it has looked, so a call that finds a lock taken tries twice.
    const first = await attempt(call)
    const outcome = isLockedOut(first) ? await attempt(call) : first
    if (isLockedOut(outcome)) {
      call.is_locked_out = true
      this.#waiting.push(call)
      return false
    }
    this.#answer(call, outcome, fate)
    return true
  }

  #answer(call: Waiting, outcome: Outcome, fate: Fate): void {
    const { actor } = call
    if (fate.kind === 'crash') {
      call.answer(CRASHED)
      return this.crash(actor)
    }
    const said = fate.kind === 'fail' ? { error: fate.error } : outcome
    if (fate.kind !== 'freeze') return call.answer(said)
    actor.is_frozen = true
    this.#held.push({ actor, give: () => call.answer(actor.is_alive ? said : CRASHED) })
  }

  #giveHeld(actor: Actor): void {
    const theirs = this.#held.filter((each) => each.actor === actor)
    this.#held = this.#held.filter((each) => each.actor !== actor)
    for (const held of theirs) held.give()
  }

  #remove(call: Waiting): void {
    this.#waiting = this.#waiting.filter((each) => each !== call)
  }

  #stop(): void {
    this.#moving--
    if (this.#moving === 0) this.#whenStill?.()
  }
}

function attempt({ work }: Waiting): Promise<Outcome> {
  return work().then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
}

function isLockedOut(outcome: Outcome): boolean {
  return 'error' in outcome && errorCode(outcome.error) === LOCK_NOT_AVAILABLE
}

function isDiskBusy(): boolean {
  return process.getActiveResourcesInfo().some((name) => name.startsWith('FS') || name.startsWith('Close'))
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
