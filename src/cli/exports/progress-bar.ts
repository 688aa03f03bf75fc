// How far an export has got: a bar on a terminal, a line every few seconds elsewhere; both on standard error.
import { SingleBar } from 'cli-progress'
import { inDigits, perSecond } from '../events/progress-display.ts'
import type { ExportProgress } from './export-range.ts'

const LINE_EVERY_MS = 5_000
const STEPS = 1_000

export function showExportProgress(label: string): { update(progress: ExportProgress): void; stop(): void } {
  const started = Date.now()
  if (!process.stderr.isTTY) return showLines(label, started)
  const bar = new SingleBar({
    format: `${label} [{bar}] {percentage}% | {what} | {eta_formatted} left`,
    stream: process.stderr,
    hideCursor: true,
  })
  bar.start(STEPS, 0, { what: '' })
  return {
    update: (progress) =>
      bar.update(Math.round(shareOf(progress) * STEPS), { what: inWords(progress, started) }),
    stop: () => bar.stop(),
  }
}

function showLines(label: string, started: number) {
  let next = started + LINE_EVERY_MS
  return {
    update(progress: ExportProgress) {
      if (Date.now() < next) return
      next = Date.now() + LINE_EVERY_MS
      process.stderr.write(
        `${label}: ${Math.floor(shareOf(progress) * 100)} %, ${inWords(progress, started)}\n`,
      )
    },
    stop: () => undefined,
  }
}

function shareOf({ runs, total_runs }: ExportProgress): number {
  return total_runs === 0 ? 1 : runs / total_runs
}

function inWords({ runs, total_runs, rows, bytes }: ExportProgress, started: number): string {
  const megabytes = Math.round(bytes / 1_000_000)
  return `run ${runs} of ${total_runs}, ${inDigits(rows)} rows, ${inDigits(megabytes)} MB, ${inDigits(perSecond(rows, started))} rows/s`
}
