// What `demo` and `bench` have in common: sample events stored as a server would store them, exported to a folder, and
// read back.
import { closeParts, compose } from '../../app/compose.ts'
import { readConfig, type Config } from '../../app/config.ts'
import { makeFirstOwner, type FirstStart } from '../../app/first-start.ts'
import { createExport } from '../../features/batch-exports/create.ts'
import type { ExportRow, RunRow } from '../../features/batch-exports/rows.ts'
import { sendEvents } from '../../features/events/importing/send-events.ts'
import { openStoreSink } from '../../features/events/importing/store-sink.ts'
import { SAMPLE_EVENT_BYTES, sampleEvents } from '../../features/events/sample/sample-events.ts'
import type { ProjectRow } from '../../features/projects/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Services } from '../../platform/services.ts'
import { UserError, type CommandOptions } from '../command.ts'
import { exportRange } from '../exports/export-range.ts'
import { withWorkspace } from '../exports/open-workspace.ts'
import { showExportProgress } from '../exports/progress.ts'
import { verifyExports } from '../exports/verify-exports.ts'
import { showEventProgress } from '../events/progress.ts'
import { inDigits } from '../terminal/progress.ts'
import { stopSignal } from '../terminal/stop-signal.ts'

const DAY_MS = 86_400_000
const DAYS = 7

/** Where the steps take place; the events are of the days before `end`. */
export type Sample = {
  config: Config
  services: Services
  project: ProjectRow
  /** Who can sign in to it. */
  owner: Pick<FirstStart, 'email' | 'password'>
  end: Date
  signal: AbortSignal
}

type Delivery = { row: ExportRow; runs: RunRow[] }

export type Verified = { files: number; rows: number; bytes: number }

export type Format = { file_format: 'Parquet' | 'JSONLines'; compression: 'zstd' | 'gzip' }

/** A workspace of its own below `folder`, whatever the environment says. */
export async function withSample<T>(folder: string, work: (sample: Sample) => Promise<T>): Promise<T> {
  const config = readConfig({ PATH: process.env.PATH, DATA_DIR: folder })
  const signal = stopSignal()
  return withWorkspace(config, async (services) => {
    let owner = { email: '', password: '' }
    await makeFirstOwner(services, config, (first) => void (owner = first))
    const project = await services.db.only<ProjectRow>(sql`SELECT * FROM project`)
    const end = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS)
    return work({ config, services, project, owner, end, signal })
  })
}

export function countOf({ events }: CommandOptions): number {
  const count = Number(events)
  if (!Number.isSafeInteger(count) || count < 1) throw new UserError('--events must be a number, 1 or more')
  return count
}

export function assertGoingOn(signal: AbortSignal): void {
  if (signal.aborted) throw new UserError('stopped before the end')
}

/** How many there are afterwards. */
export async function storeSample(
  { config, services, project, end, signal }: Sample,
  count: number,
): Promise<number> {
  const parts = compose(services, config)
  const sink = openStoreSink(parts.ingest, project, services.now)
  const display = showEventProgress('storing  ')
  try {
    const events = sampleEvents({ count, seed: 1, days: DAYS, end })
    await sendEvents(sink, events, SAMPLE_EVENT_BYTES, signal, (sent) =>
      display.update({ share: sent / count, events: sent, kept_aside: 0 }),
    )
  } finally {
    display.stop()
    await closeParts(parts)
  }
  assertGoingOn(signal)
  return parts.ingest.tally.stored.total
}

export async function exportSample(
  { services, project, end, signal }: Sample,
  name: string,
  format: Format,
): Promise<Delivery> {
  const change = { services, db: services.db, caller: null, request: { ip: '' }, now: services.now() }
  const row = await createExport(change, project, {
    name,
    interval: 'day',
    paused: true,
    destination: { type: 'File', config: { prefix: name.toLowerCase(), ...format } },
  })
  const display = showExportProgress('exporting')
  const range = { start_at: null, end_at: end }
  const { runs } = await exportRange(services, row, range, signal, display.update).finally(display.stop)
  const failed = runs.find(({ status }) => status !== 'Completed')
  if (failed) throw new UserError(`the export did not complete: ${failed.latest_error ?? 'stopped'}`)
  return { row, runs }
}

/** Reads every file again; throws when one is not as its run says. */
export async function verifySample({ services, signal }: Sample, { row }: Delivery): Promise<Verified> {
  let verified: Verified = { files: 0, rows: 0, bytes: 0 }
  await verifyExports(services.db, services, [row], signal, (_row, result) => {
    if (result.verdict !== 'intact') {
      throw new UserError([...result.problems.map(({ message }) => message), ...result.notes].join('\n'))
    }
    verified = result
  })
  return verified
}

export type Timed<T> = { result: T; seconds: number }

export async function timed<T>(work: () => Promise<T>): Promise<Timed<T>> {
  const started = performance.now()
  const result = await work()
  return { result, seconds: (performance.now() - started) / 1000 }
}

export function rateLine(what: string, { seconds }: Timed<unknown>, count: number, note: string): string {
  const rate = `${inDigits(Math.round(count / seconds)).padStart(9)} rows/s`
  return `  ${what.padEnd(10)}${inDigits(count).padStart(12)} rows  ${seconds.toFixed(1).padStart(6)} s  ${rate}  ${note}\n`
}
