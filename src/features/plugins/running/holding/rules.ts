// Which held events wait by themselves and which hold up those behind them, and when they are tried again. No I/O.
import type { FaultKind } from '../../../../platform/sandbox/sandbox.ts'
import type { Hold, Passage } from '../ingestion/passage.ts'
import type { NewHeldEvent } from './queries.ts'

/** The app ran, and failed over this very event. */
const OF_THE_EVENT: ReadonlySet<FaultKind> = new Set(['threw', 'result'])
/** May be the fault of any event that it got with this one. */
const OF_A_BATCH: ReadonlySet<FaultKind> = new Set(['cpu', 'memory', 'killed', 'time'])

const FIRST_PAUSE_MS = 60_000
const LONGEST_PAUSE_MS = 3_600_000

/** `was_only`: the app got no other event with it. */
export function isAlone({ fault }: Hold, was_only: boolean): boolean {
  return fault !== null && (OF_THE_EVENT.has(fault) || (was_only && OF_A_BATCH.has(fault)))
}

/** Behind an event that holds up others, those that are through wait as well. True when there is one. */
export function keepOrder(passages: readonly Passage[], was_only = false): boolean {
  const first = passages.findIndex(({ held }) => held && !isAlone(held, was_only))
  if (first === -1) return false
  const { config_id } = passages[first]!.held!
  for (const passage of passages.slice(first)) {
    if (passage.event && !passage.held) passage.hold({ config_id, fault: null })
  }
  return true
}

/** After so many tries of its own. */
export function nextTry(attempts: number, now: Date): Date {
  return new Date(now.getTime() + Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempts))
}

/** The first time. */
export function toHeld(passage: Passage, now: Date): NewHeldEvent {
  const { timestamp } = passage.event!
  const { config_id } = passage.held!
  const alone = isAlone(passage.held!, false)
  return {
    config_id,
    uuid: passage.own_uuid,
    timestamp: new Date(Number(timestamp / 1000n)),
    contents: passage.freeze(),
    alone,
    due_at: alone ? nextTry(0, now) : now,
  }
}
