// What somebody did to one run or backfill, as an entry of the activity log of its export.
import type { Db } from '../../../platform/db/database.ts'
import type { ProjectInReach } from '../../../platform/http/access.ts'
import { recordActivity, type Actor } from '../../activity-log/record.ts'
import { exportActivity } from '../create.ts'
import type { ExportRow, RunStatus } from '../rows.ts'

type ExportAction = Actor & { project: ProjectInReach }

export async function recordCancelled(
  tx: Db,
  context: ExportAction,
  row: ExportRow,
  field: 'run' | 'backfill',
  { id, status }: { id: string; status: RunStatus },
): Promise<void> {
  const [before, after] = [status, 'Cancelled'].map((each) => ({ id, status: each }))
  await recordActivity(tx, context, {
    ...exportActivity(context.project, row),
    activity: 'updated',
    changes: [{ type: 'BatchExport', action: 'changed', field, before, after }],
  })
}

export async function recordRunNow(
  tx: Db,
  context: ExportAction,
  row: ExportRow,
  { id }: { id: string },
): Promise<void> {
  await recordActivity(tx, context, {
    ...exportActivity(context.project, row),
    activity: 'updated',
    changes: [{ type: 'BatchExport', action: 'created', field: 'run', before: null, after: { id } }],
  })
}

export async function recordRetried(
  tx: Db,
  context: ExportAction,
  row: ExportRow,
  backfill: { id: string; retry_of: string },
): Promise<void> {
  await recordActivity(tx, context, {
    ...exportActivity(context.project, row),
    activity: 'updated',
    changes: [{ type: 'BatchExport', action: 'created', field: 'backfill', before: null, after: backfill }],
  })
}
