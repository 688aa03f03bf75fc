// Figures that do not add up. They are never smoothed over: the run ends, and says which positions are in question.
import { Refused } from '../destinations/destination.ts'
import type { FrozenRun } from '../runs/frozen.ts'

/** `account_open` is the word that people and their alerts look for. */
export class AccountOpen extends Refused {
  constructor({ areas }: Pick<FrozenRun, 'areas'>, what: string) {
    const positions = areas.map(({ seq_from, seq_to }) => `${seq_from + 1} to ${seq_to}`).join(', ')
    super(`account_open: ${what} Positions in question: ${positions || 'none'}.`)
  }
}

/** More rows than events: the ledger and the event store do not speak of the same events. */
export function assertWithinClaims(run: FrozenRun, rows: number, events: number): void {
  if (run.definition.model !== 'events' || rows <= events) return
  throw new AccountOpen(run, `The run found ${rows} rows, and has claimed ${events} events.`)
}

/** Before anything takes the place of what a repair finds there. */
export function assertWritten(run: FrozenRun, rows: number, written: number): void {
  if (rows === written || isUncertain(run)) return
  throw new AccountOpen(run, `The run counted ${rows} rows, and wrote ${written}.`)
}

export function assertDelivered(run: FrozenRun, rows: number, delivered: number): void {
  if (rows === delivered || isUncertain(run)) return
  throw new AccountOpen(run, `The run had ${rows} rows, and the destination says it has ${delivered}.`)
}

/** Persons and sessions may have changed since they were counted. */
const isUncertain = ({ definition }: FrozenRun) =>
  definition.model !== 'events' || definition.destination_type === 'NoOp'
