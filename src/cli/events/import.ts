// `longshore events import`: files of events into a project. What was stored is remembered beside each file, so that the
// same command goes on where it was cut short.
import { rm } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { importFile } from '../../features/events/importing/import-file.ts'
import { recogniseFile, type InputFile } from '../../features/events/importing/input-file.ts'
import { readProgress, type Progress } from '../../features/events/importing/progress-file.ts'
import type { Reject } from '../../features/events/importing/rejects.ts'
import { SERVER_BATCH, type Sink } from '../../features/events/importing/sink.ts'
import { UserError, type Command, type CommandOptions } from '../command.ts'
import { openTarget, targetOptions, type Target } from './open-sink.ts'
import { inDigits, perSecond, tableOf } from '../terminal/progress.ts'
import { showEventProgress } from './progress.ts'
import { stopSignal } from '../terminal/stop-signal.ts'

/** Sums over all files. */
type Totals = { rows: number; rejected: number; rejected_before: number }

const SHOWN_REASONS = 5
const TRIAL: Sink = {
  in_flight: 1,
  batch: SERVER_BATCH,
  accept: async () => [],
  stored: () => null,
  close: async () => undefined,
}

export const importEvents: Command = {
  name: 'events import',
  description:
    'import events from files: JSONLines, CSV or Parquet, plain or packed with gzip, zstd or brotli',
  options(command) {
    command.argument('<file...>', "files, such as PostHog's own exports")
    targetOptions(command)
    command
      .option('--rejects <file>', 'file for rows that cannot be used (default: <file>.rejects.jsonl)')
      .option('--restart', 'start from the beginning, whatever an earlier run has imported')
      .option('--dry-run', 'read and check everything, import nothing')
  },
  async run(options, paths) {
    if (options.rejects !== undefined && paths.length > 1)
      throw new UserError('--rejects works with one file only')
    const files: InputFile[] = []
    for (const path of paths) files.push(await recogniseFile(path).catch(explainMissing))
    const target = options.dryRun ? trial() : await openTarget(options)
    const started = Date.now()
    const totals: Totals = { rows: 0, rejected: 0, rejected_before: 0 }
    const signal = stopSignal()
    try {
      for (const file of files) if (!signal.aborted) await importOne(file, target, options, signal, totals)
    } finally {
      await target.close()
      process.stdout.write(summary(totals, target.sink, started))
    }
    if (totals.rejected + totals.rejected_before > 0) process.exitCode = 1
    if (signal.aborted)
      throw new UserError('stopped before the end: run the same command to continue from here')
  },
}

function trial(): Target {
  return { sink: TRIAL, token: '', where: '', close: () => TRIAL.close() }
}

async function importOne(
  file: InputFile,
  target: Target,
  options: CommandOptions,
  signal: AbortSignal,
  totals: Totals,
): Promise<void> {
  const progress_path = options.dryRun ? null : `${file.path}.progress.json`
  const progress = await findProgress(file, target, options, progress_path)
  totals.rejected_before += progress.rejected
  if (progress.is_done) {
    say(
      `${file.path}: imported before (${inDigits(progress.rows)} rows${aside(progress)}); --restart imports it again`,
    )
    return
  }
  if (progress.rows > 0) say(`${file.path}: continuing after row ${inDigits(progress.rows)}`)
  const display = showEventProgress(basename(file.path))
  const reasons: Reject[] = []
  const before = { ...totals }
  try {
    const { is_done } = await importFile({
      file,
      sink: target.sink,
      progress,
      progress_path,
      signal,
      onProgress({ rows, rejected, share }) {
        totals.rows = before.rows + rows
        totals.rejected = before.rejected + rejected
        display.update({ share, events: rows, kept_aside: rejected })
      },
      onReject(reject) {
        if (reasons.length < SHOWN_REASONS) reasons.push(reject)
      },
    })
    if (is_done && options.dryRun) say(`${file.path}: ${file.format}, can be read to its end`)
  } finally {
    display.stop()
    const rejected = totals.rejected - before.rejected
    if (rejected > 0) say(told(file, rejected, reasons, options.dryRun ? null : progress.rejects.path))
  }
}

async function findProgress(
  file: InputFile,
  { token }: Target,
  options: CommandOptions,
  path: string | null,
): Promise<Progress> {
  const rejects = options.rejects === undefined ? `${file.path}.rejects.jsonl` : String(options.rejects)
  const fresh = {
    identity: file.identity,
    target: token,
    started_at: new Date(),
    rows: 0,
    rejected: 0,
    rejects: { path: resolve(rejects), bytes: null },
    is_done: false,
  }
  if (path === null) return fresh
  if (options.restart) {
    const known = await readProgress(path).catch(() => null)
    if (known) await rm(known.rejects.path, { force: true })
    return fresh
  }
  const known = await readProgress(path)
  if (known === null) return fresh
  // Nothing of it has been imported yet.
  if (known.rows === 0) return { ...known, identity: file.identity, target: token }
  if (known.identity !== file.identity)
    throw new UserError(
      `${file.path} has changed since its import began: --restart starts from the beginning`,
    )
  if (known.target !== token)
    throw new UserError(
      `${file.path} was imported into another project so far: --restart starts from the beginning`,
    )
  return known
}

function told(file: InputFile, rejected: number, reasons: readonly Reject[], path: string | null): string {
  const head = `${file.path}: ${inDigits(rejected)} ${rejected === 1 ? 'row' : 'rows'} kept aside`
  const lines = reasons.map(({ line, reason }) => `  line ${line}: ${reason}`)
  const more = rejected > reasons.length ? [`  and ${inDigits(rejected - reasons.length)} more`] : []
  return [
    path === null ? `${head.replace('kept aside', 'cannot be used')}` : `${head} in ${path}`,
    ...lines,
    ...more,
  ].join('\n')
}

function aside({ rejected, rejects }: Progress): string {
  return rejected === 0 ? '' : `, ${inDigits(rejected)} kept aside in ${rejects.path}`
}

function summary({ rows, rejected }: Totals, sink: Sink, started: number): string {
  const stored = sink.stored()
  const outcome: [string, number][] =
    stored === null
      ? [[sink === TRIAL ? 'can be used' : 'accepted', rows - rejected]]
      : [
          ['stored', stored],
          ['already there', rows - rejected - stored],
        ]
  return tableOf([
    ['rows read', rows],
    ...outcome,
    ['kept aside', rejected],
    ['rows/s', perSecond(rows, started)],
  ])
}

function explainMissing(error: NodeJS.ErrnoException): never {
  if (error.code === 'ENOENT') throw new UserError(`there is no file ${error.path ?? ''}`)
  throw error
}

function say(text: string): void {
  process.stderr.write(`${text}\n`)
}
