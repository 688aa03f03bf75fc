// `longshore verify`: reads back what completed runs have delivered and compares it with what they say.
import { verifyRun, type Verified } from '../../features/batch-exports/verification/verify-run.ts'
import type { RunRow } from '../../features/batch-exports/rows.ts'
import { RUN_COLUMNS } from '../../features/batch-exports/runs/columns.ts'
import { isBegun, readFrozen } from '../../features/batch-exports/runs/frozen.ts'
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import { UserError, type Command } from '../command.ts'
import { takeConfig } from '../environment.ts'
import { inDigits, tableOf } from '../terminal/progress.ts'
import { stopSignal } from '../terminal/stop-signal.ts'
import { findExports } from './find-export.ts'
import { withWorkspace } from './open-workspace.ts'

export const verify: Command = {
  name: 'verify',
  description: 'read back what exports have delivered and compare it with their runs',
  options(command) {
    command.argument('[id]', 'id of an export; all of them without it')
  },
  async run(_options, [id]) {
    const signal = stopSignal()
    await withWorkspace(takeConfig(), async (services) => {
      const total = { runs: 0, skipped: 0, files: 0, rows: 0, bytes: 0, problems: 0 }
      for (const row of await findExports(services.db, id)) {
        for (const run of await listDelivered(services.db, row.project_id, row.id)) {
          if (signal.aborted) throw new UserError('stopped before the end')
          if (!isBegun(run)) continue
          const verified = await verifyRun(services, row, await readFrozen(services.db, run), signal)
          total.runs++
          total.skipped += verified.is_skipped ? 1 : 0
          total.files += verified.files
          total.rows += verified.rows
          total.bytes += verified.bytes
          total.problems += verified.problems.length
          tell(row.name, run, verified)
        }
      }
      process.stdout.write(tableOf(Object.entries(total)))
      if (total.problems > 0) throw new UserError(`${inDigits(total.problems)} problems were found`)
    })
  },
}

/** The last run of each delivery: what earlier ones brought was replaced. */
function listDelivered(db: Db, project_id: number, batch_export_id: string): Promise<RunRow[]> {
  return db.rows(sql`
    SELECT ${RUN_COLUMNS} FROM (
      SELECT DISTINCT ON (coalesce(repeats, id)) * FROM batch_export_run
      WHERE project_id = ${project_id} AND batch_export_id = ${batch_export_id} AND status = 'Completed'
      ORDER BY coalesce(repeats, id), created_at DESC, id DESC) AS delivered
    ORDER BY data_interval_end`)
}

function tell(name: string, run: RunRow, { problems }: Verified): void {
  for (const problem of problems) {
    process.stdout.write(`${name}, interval until ${run.data_interval_end.toISOString()}: ${problem}\n`)
  }
}
