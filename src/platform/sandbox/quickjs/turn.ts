// What one call of an app may still use, however often it waits and goes on.
import { MAX_FETCHES_PER_CALL, MAX_LOG_LINES } from '../limits.ts'

/** Lines of the log: the events of a batch have them together. */
export type Lines = { left: number }

export const allLines = (): Lines => ({ left: MAX_LOG_LINES })

export class Turn {
  fetches_left = MAX_FETCHES_PER_CALL
  isAborted = false
  /** What takes back the requests it waits for, by their numbers. */
  readonly requests = new Map<number, () => void>()

  constructor(
    public cpu_left_ms: number,
    readonly lines = allLines(),
    /** How many apps the event has come through. */
    readonly hops = 0,
    /** Not to be inside any more at this time of `monotonicMs`: others wait for its answer. */
    readonly until = Infinity,
  ) {}

  abort(): void {
    this.isAborted = true
    for (const takeBack of this.requests.values()) takeBack()
    this.requests.clear()
  }
}
