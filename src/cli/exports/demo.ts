// `longshore demo`: the whole first minute in one command. Sample events are stored, exported as Parquet to a folder, and
// every file is read back and compared.
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { readConfig } from '../../app/config.ts'
import { makeFirstOwner } from '../../app/first-start.ts'
import { createExport } from '../../features/batch-exports/create.ts'
import type { RunRow } from '../../features/batch-exports/rows.ts'
import { isFrozen } from '../../features/batch-exports/runs/frozen.ts'
import { verifyRun } from '../../features/batch-exports/verification/verify-run.ts'
import { sendEvents } from '../../features/events/importing/send-events.ts'
import { countingStore, openStoreSink } from '../../features/events/importing/store-sink.ts'
import { Ingest } from '../../features/events/ingest.ts'
import { sampleEvents } from '../../features/events/sample/sample-events.ts'
import type { ProjectRow } from '../../features/projects/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Services } from '../../platform/services.ts'
import { UserError, type Command } from '../command.ts'
import { inDigits } from '../terminal/progress.ts'
import { showEventProgress } from '../events/progress.ts'
import { stopSignal } from '../terminal/stop-signal.ts'
import { exportRange } from './export-range.ts'
import { withWorkspace } from './open-workspace.ts'
import { showExportProgress } from './progress.ts'

const DAY_MS = 86_400_000
const DAYS = 7
const EVENT_BYTES = 800
const MARK = '.longshore-demo'

export const demo: Command = {
  name: 'demo',
  description: 'store sample events, export them as Parquet to a folder and verify the files',
  options(command) {
    command
      .option('--events <n>', 'how many events', '1000000')
      .option('--folder <path>', 'where everything goes; emptied first', './longshore-demo')
  },
  async run(options) {
    const began = Date.now()
    const count = Number(options.events)
    if (!Number.isSafeInteger(count) || count < 1) throw new UserError('--events takes a number from 1 on')
    const folder = resolve(String(options.folder))
    await makeFolder(folder)
    const config = readConfig({ PATH: process.env.PATH, DATA_DIR: folder })
    const signal = stopSignal()
    await withWorkspace(config, async (services) => {
      await makeFirstOwner(services, config)
      const project = await services.db.only<ProjectRow>(sql`SELECT * FROM project`)
      const end = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS)
      const stored = await timed(() => store(services, project, count, end, signal))
      const exported = await timed(() => exportAll(services, project, end, signal))
      const verified = await timed(() => verifyAll(services, exported.result, signal))
      tell({ stored, exported, verified, folder: services.settings.export_folder, began })
    })
  },
}

/** Only what an earlier demo has made is removed. */
async function makeFolder(folder: string): Promise<void> {
  if (existsSync(folder) && !existsSync(join(folder, MARK))) {
    throw new UserError(`${folder} exists and is not of an earlier demo: name another with --folder`)
  }
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, MARK), '')
}

async function store(services: Services, project: ProjectRow, count: number, end: Date, signal: AbortSignal) {
  const counting = countingStore(services.eventStore)
  const ingest = new Ingest({ ...services, eventStore: counting.store })
  const sink = openStoreSink(ingest, project, counting.count, services.now)
  const display = showEventProgress('storing  ')
  try {
    const events = sampleEvents({ count, seed: 1, days: DAYS, end })
    await sendEvents(sink, events, EVENT_BYTES, signal, (sent) =>
      display.update({ share: sent / count, events: sent, kept_aside: 0 }),
    )
  } finally {
    display.stop()
    await sink.close()
  }
  if (signal.aborted) throw new UserError('stopped before the end')
  return counting.count.stored
}

type Delivery = { row: Awaited<ReturnType<typeof createExport>>; runs: RunRow[] }

async function exportAll(
  services: Services,
  project: ProjectRow,
  end: Date,
  signal: AbortSignal,
): Promise<Delivery> {
  const change = { services, db: services.db, caller: null, request: { ip: '' }, now: services.now() }
  const row = await createExport(change, project, {
    name: 'Demo',
    interval: 'day',
    paused: true,
    destination: { type: 'File', config: { prefix: 'events', file_format: 'Parquet', compression: 'zstd' } },
  })
  const display = showExportProgress('exporting')
  const range = { start_at: null, end_at: end }
  const { runs } = await exportRange(services, row, range, signal, display.update).finally(display.stop)
  const failed = runs.find(({ status }) => status !== 'Completed')
  if (failed) throw new UserError(`the export did not complete: ${failed.latest_error ?? 'stopped'}`)
  return { row, runs }
}

async function verifyAll(services: Services, { row, runs }: Delivery, signal: AbortSignal) {
  const total = { files: 0, rows: 0, bytes: 0 }
  for (const run of runs.filter(isFrozen)) {
    const { problems, files, rows, bytes } = await verifyRun(services, row, run, signal)
    if (problems.length > 0) throw new UserError(problems.join('\n'))
    total.files += files
    total.rows += rows
    total.bytes += bytes
  }
  return total
}

type Timed<T> = { result: T; seconds: number }

async function timed<T>(work: () => Promise<T>): Promise<Timed<T>> {
  const started = Date.now()
  const result = await work()
  return { result, seconds: Math.max(1, Date.now() - started) / 1000 }
}

function tell({
  stored,
  exported,
  verified,
  folder,
  began,
}: {
  stored: Timed<number>
  exported: Timed<Delivery>
  verified: Timed<{ files: number; rows: number; bytes: number }>
  folder: string
  began: number
}): void {
  const { files, rows, bytes } = verified.result
  const line = (what: string, { seconds }: Timed<unknown>, count: number, note: string) =>
    `  ${what.padEnd(10)}${inDigits(count).padStart(12)} rows  ${seconds.toFixed(1).padStart(6)} s  ${inDigits(Math.round(count / seconds)).padStart(9)} rows/s  ${note}\n`
  const isWhole = rows === stored.result
  process.stdout.write(
    '\n' +
      line('stored', stored, stored.result, 'each durable before it was acknowledged') +
      line(
        'exported',
        exported,
        rows,
        `${files} Parquet files, ${inDigits(Math.round(bytes / 1_000_000))} MB, zstd`,
      ) +
      line('verified', verified, rows, 'rows, bytes and SHA-256 as the runs say') +
      `\n  ${isWhole ? 'Every event is in the files exactly once.' : `${inDigits(stored.result - rows)} events are missing.`}` +
      ` ${((Date.now() - began) / 1000).toFixed(0)} seconds in all.\n` +
      `  Look at them in ./${relative(process.cwd(), folder)}\n\n`,
  )
  if (!isWhole) throw new UserError('the files do not hold what was stored')
}
