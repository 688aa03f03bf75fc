// What became of the events that this process received, and how long each step of their way took. Once none is on its way:
// received = stored + repeated + dropped, whatever the reason.
import { NoRoom } from './no-room.ts'
import { EventTally } from './event-tally.ts'

/** Reading a request, taking its events through apps, and for a batch: their persons, and the write that makes them durable. */
export const STEPS = ['read', 'transform', 'persons', 'write'] as const

type Step = (typeof STEPS)[number]

/**
 * Why an event was not stored. `app`: an app dropped it. `held`: it waits for an app, and is received again when that can run.
 * All others were refused, and their senders keep them. `no_room`: too much waits. `too_large`: the properties of its request's
 * persons, taken once for each event. `project_deleted`. `failed`: a store, or an app that must not be passed by.
 */
export const REASONS = ['app', 'held', 'no_room', 'too_large', 'project_deleted', 'failed'] as const

export type Reason = (typeof REASONS)[number]

export class IngestTally {
  readonly stored = new EventTally()
  received = 0
  repeated = 0
  readonly dropped = zeros(REASONS)
  readonly seconds = zeros(STEPS)
  readonly runs = zeros(STEPS)

  drop(reason: Reason, count: number): void {
    this.dropped[reason] += count
  }

  /** What was to be written, and what the store did not have before. */
  wrote(count: number, written: readonly { stored: number }[], now: Date): void {
    const stored = written.reduce((sum, each) => sum + each.stored, 0)
    this.stored.add(stored, now)
    this.repeated += count - stored
  }

  async timed<T>(step: Step, work: () => Promise<T>): Promise<T> {
    const began_ms = performance.now()
    try {
      return await work()
    } finally {
      this.seconds[step] += (performance.now() - began_ms) / 1000
      this.runs[step]++
    }
  }
}

/** Why events could not be taken at all. */
export function reasonOf(error: unknown): Reason {
  return error instanceof NoRoom ? 'no_room' : 'failed'
}

function zeros<Name extends string>(names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>
}
