// How far an export has got, in words.
import { inDigits, perSecond, showProgress } from '../terminal/progress.ts'
import type { ExportProgress } from './export-range.ts'

export function showExportProgress(label: string): { update(progress: ExportProgress): void; stop(): void } {
  const started = Date.now()
  const display = showProgress(label)
  return {
    update({ runs, total_runs, rows, bytes }) {
      const share = total_runs === 0 ? 1 : runs / total_runs
      const size = `${inDigits(rows)} rows, ${inDigits(Math.round(bytes / 1_000_000))} MB`
      const rate = `${inDigits(perSecond(rows, started))} rows/s`
      display.update(share, `run ${runs} of ${total_runs}, ${size}, ${rate}`)
    },
    stop: () => display.stop(),
  }
}
