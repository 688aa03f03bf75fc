// `longshore export`: one export over a range, now, with the server stopped.
import { readBackfillRange } from '../../features/batch-exports/backfills/range.ts'
import { UserError, type Command } from '../command.ts'
import { takeConfig } from '../environment.ts'
import { inDigits, perSecond, tableOf } from '../terminal/progress.ts'
import { stopSignal } from '../terminal/stop-signal.ts'
import { exportRange } from './export-range.ts'
import { findExports } from './find-export.ts'
import { withWorkspace } from './open-workspace.ts'
import { showExportProgress } from './progress.ts'

export const runExport: Command = {
  name: 'export',
  description: 'run one batch export over a range now, and wait for it',
  options(command) {
    command
      .argument('<id>', 'id of the export')
      .option('--from <instant>', 'date or instant; from the first event on without it')
      .option('--to <instant>', 'date or instant; until now without it')
  },
  async run(options, [id]) {
    const signal = stopSignal()
    await withWorkspace(takeConfig(), async (services) => {
      const row = (await findExports(services.db, id))[0]!
      const now = services.now()
      const asked = { start_at: options.from, end_at: options.to ?? now.toISOString() }
      const { start_at, end_at } = readBackfillRange(asked, row, now)
      const started = Date.now()
      const display = showExportProgress(row.name)
      const { runs } = await exportRange(
        services,
        row,
        { start_at, end_at: end_at! },
        signal,
        display.update,
      ).finally(display.stop)
      const completed = runs.filter(({ status }) => status === 'Completed')
      const rows = completed.reduce((sum, run) => sum + run.records_completed!, 0)
      const bytes = completed.reduce((sum, run) => sum + run.bytes_exported!, 0)
      process.stdout.write(
        tableOf([
          ['runs', runs.length],
          ['completed', completed.length],
          ['rows', rows],
          ['bytes', bytes],
          ['rows/s', perSecond(rows, started)],
        ]),
      )
      const failed = runs.filter(({ status }) => status !== 'Completed')
      if (failed.length > 0) {
        throw new UserError(
          `${inDigits(failed.length)} runs did not complete: ${failed[0]!.latest_error ?? 'stopped'}`,
        )
      }
    })
  },
}
