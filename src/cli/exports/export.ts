// `longshore export`: one export over a range, now. Also beside a server, which then does the work.
import { readBackfillRange } from '../../features/batch-exports/backfills/range.ts'
import type { ExportRow } from '../../features/batch-exports/rows.ts'
import { boundaryAtOrBefore } from '../../features/batch-exports/schedule/grid.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { UserError, type Command } from '../command.ts'
import { takeInstalledConfig } from '../environment.ts'
import { inDigits, perSecond, tableOf } from '../terminal/progress.ts'
import { stopSignal } from '../terminal/stop-signal.ts'
import { deliveredBy, exportByServer, exportRange, type Range } from './export-range.ts'
import { findExports } from './find-export.ts'
import { withStores } from './open-workspace.ts'
import { showExportProgress } from './progress.ts'

export const runExport: Command = {
  name: 'export',
  description: 'deliver what a batch export has not delivered yet of a time range, and wait for it',
  options(command) {
    command
      .argument('<id>', 'id of the export')
      .option('--from <instant>', 'date or instant (default: the first event)')
      .option('--to <instant>', 'date or instant (default: the end of the last whole interval)')
  },
  async run(options, [id]) {
    const signal = stopSignal()
    await withStores(await takeInstalledConfig(), async (db, services) => {
      const row = (await findExports(db, id))[0]!
      const range = readOptions(options, row)
      const started = Date.now()
      const display = showExportProgress(row.name)
      const { runs } = await (
        services
          ? exportRange(services, row, range, signal, display.update)
          : exportByServer(db, row, range, signal, display.update)
      ).finally(display.stop)
      if (runs.length === 0)
        process.stdout.write(
          'Nothing of this range is left to deliver. repair/ delivers again what was lost at the destination.\n',
        )
      const completed = runs.filter(({ status }) => status === 'Completed')
      const { rows, bytes } = deliveredBy(runs)
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
          `${inDigits(failed.length)} ${failed.length === 1 ? 'run' : 'runs'} did not complete: ${failed[0]!.latest_error ?? 'stopped'}`,
        )
      }
    })
  },
}

/** What a body of the API may say, refused in the names of the options. */
function readOptions(options: { from?: string; to?: string }, row: ExportRow): Range {
  const now = new Date()
  const end_at = options.to ?? boundaryAtOrBefore(row, now).toISOString()
  try {
    const range = readBackfillRange({ start_at: options.from, end_at }, row, now)
    return { start_at: range.start_at, end_at: range.end_at! }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const option = error.attr === 'start_at' ? '--from' : '--to'
    const detail = error.detail.replaceAll('start_at', '--from').replaceAll('end_at', '--to')
    throw new UserError(detail.startsWith(option) ? detail : `${option}: ${detail}`)
  }
}
