// Where every call to the database, the event store and the destinations waits for its turn: one at a time, in an order
// that the seed decides, and with the fate that the seed gives it. A statement that waits for a lock in PostgreSQL stays
// there, as it would; the next is let through when nothing moves any more.
import { setImmediate as immediate } from 'node:timers/promises'

export type Place = 'database' | 'store' | 'destination'

/** Whoever makes calls. One that has crashed gets no more answers; one that is frozen gets them later. */
export type Actor = { kind: 'worker' | 'person'; name: string; is_alive: boolean; is_frozen: boolean }

export type Call = {
  actor: Actor
  place: Place
  label: string
  /** Of a transaction of the actor's own. */
  is_inside?: boolean
  /** May have to wait for somebody else's transaction. */
  takes_locks?: boolean
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

type Outcome = { value: unknown } | { error: unknown }
type Waiting = Call & { work(): Promise<unknown>; answer(outcome: Outcome): void }

const CRASHED: Outcome = { error: new Crashed() }

export class Turnstile {
  /** How many statements wait for locks. */
  readonly #countLockWaits: () => Promise<number>
  #waiting: Waiting[] = []
  /** Let through, and waiting for a lock. */
  readonly #locked_out = new Set<Waiting>()
  readonly #held: { actor: Actor; give(): void }[] = []
  #moving = 0
  #whenStill: (() => void) | null = null
  #transactions = 0

  /** Told of calls that must wait for a lock. */
  readonly #onLock: (call: Call) => void

  constructor(countLockWaits: () => Promise<number>, onLock: (call: Call) => void) {
    this.#countLockWaits = countLockWaits
    this.#onLock = onLock
  }

  pass<T>(call: Call, work: () => Promise<T>): Promise<T> {
    if (!call.actor.is_alive) return Promise.reject(new Crashed())
    return new Promise<T>((resolve, reject) => {
      const answer = (outcome: Outcome) =>
        'error' in outcome ? reject(outcome.error as Error) : resolve(outcome.value as T)
      this.#waiting.push({ ...call, work, answer })
    })
  }

  /** While this is at work outside the turnstile, nobody is let through. */
  async move<T>(work: () => Promise<T>): Promise<T> {
    this.#moving++
    try {
      return await work()
    } finally {
      this.#stop()
    }
  }

  /** Work within a `move` that is itself made of calls. */
  async rest<T>(work: () => Promise<T>): Promise<T> {
    this.#stop()
    this.#transactions++
    try {
      return await work()
    } finally {
      this.#transactions--
      this.#moving++
    }
  }

  /** Calls that could be let through, in an order that does not hang on how fast the machine is. */
  eligible(): readonly Waiting[] {
    const awake = this.#waiting.filter(({ actor }) => !actor.is_frozen)
    awake.sort((a, b) => compare(a.actor.name, b.actor.name) || compare(a.label, b.label))
    // Of two who wait for the same lock, PostgreSQL does not say who gets it first: rather not have two.
    const free = this.is_locked ? awake.filter((call) => !call.takes_locks) : []
    return free.length > 0 ? free : awake
  }

  get is_locked(): boolean {
    return this.#locked_out.size > 0
  }

  async release(call: Waiting, fate: Fate): Promise<void> {
    if (fate.kind === 'freeze' && fate.when === 'before') {
      call.actor.is_frozen = true
      return
    }
    this.#waiting = this.#waiting.filter((each) => each !== call)
    if (fate.kind === 'crash' && fate.when === 'before') {
      call.answer(CRASHED)
      this.crash(call.actor)
    } else if (fate.kind === 'fail' && fate.when === 'before') call.answer({ error: fate.error })
    else await this.#let(call, fate)
    await this.quiet()
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

  /** Until nothing moves by itself any more: everybody waits here, or for a lock. */
  async quiet(): Promise<void> {
    for (;;) {
      if (this.#moving > 0) await new Promise<void>((resolve) => (this.#whenStill = resolve))
      await immediate()
      if (this.#moving > 0 || isDiskBusy()) continue
      const locked_out = this.#locked_out.size
      if (locked_out === 0) return
      // What has got its lock meanwhile is on its way.
      if ((await this.#countLockWaits()) === locked_out && this.#locked_out.size === locked_out) return
    }
  }

  /** When all wait for each other, PostgreSQL ends one of them. */
  async untilDeadlockEnds(): Promise<void> {
    for (const { size } = this.#locked_out; this.#locked_out.size === size;) await immediate()
    await this.quiet()
  }

  #stop(): void {
    this.#moving--
    if (this.#moving === 0) this.#whenStill?.()
  }

  async #let(call: Waiting, fate: Fate): Promise<void> {
    let is_done = false
    const done = call.work().then(
      (value): Outcome => ({ value }),
      (error: unknown): Outcome => ({ error }),
    )
    void done.then((outcome) => {
      is_done = true
      this.#locked_out.delete(call)
      this.#answer(call, outcome, fate)
    })
    const mayWait = call.takes_locks === true && this.#transactions > (call.is_inside ? 1 : 0)
    while (mayWait && !is_done) {
      const locked_out = this.#locked_out.size
      if ((await this.#countLockWaits()) > locked_out && !is_done) {
        this.#locked_out.add(call)
        this.#onLock(call)
        return
      }
    }
    await done
  }

  #answer(call: Waiting, outcome: Outcome, fate: Fate): void {
    const { actor } = call
    if (fate.kind === 'crash') this.crash(actor)
    if (!actor.is_alive) return call.answer(CRASHED)
    const said = fate.kind === 'fail' ? { error: fate.error } : outcome
    if (fate.kind === 'freeze') actor.is_frozen = true
    if (!actor.is_frozen) return call.answer(said)
    this.#held.push({ actor, give: () => call.answer(actor.is_alive ? said : CRASHED) })
  }

  #giveHeld(actor: Actor): void {
    const theirs = this.#held.filter((each) => each.actor === actor)
    for (const held of theirs) {
      this.#held.splice(this.#held.indexOf(held), 1)
      held.give()
    }
  }
}

function isDiskBusy(): boolean {
  return process.getActiveResourcesInfo().some((name) => name.startsWith('FS') || name.startsWith('Close'))
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
