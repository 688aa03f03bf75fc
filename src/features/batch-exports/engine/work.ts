// One attempt at one run, as its steps see it.
import type { Redactor } from '../../../platform/secrets/redactor.ts'
import type { Services } from '../../../platform/services.ts'
import type { ExportRow, RunRow } from '../rows.ts'
import type { Lease } from '../runs/queries.ts'
import type { RunLog } from './run-log.ts'
import type { RunTally } from './tally.ts'
import type { Watch } from './watch.ts'

export type Work = {
  services: Services
  row: ExportRow
  project: { id: number; timezone: string }
  /** As it was claimed. */
  run: RunRow
  lease: Lease
  log: RunLog
  /** Knows the secrets of the destination. */
  redactor: Redactor
  /** Given with Stopped, or with what the attempt has failed of. */
  signal: AbortSignal
  watch: Watch
  tally: RunTally
  onProgress: OnProgress | undefined
}

/** Told of each file that the destination has. */
export type OnProgress = (written: { rows: number; bytes: number }) => void

/** Why an attempt is stopped from outside: the reason of its signal. */
export class Stopped extends Error {
  constructor(readonly why: 'lost' | 'closing' | 'time is up') {
    super(why)
  }
}
