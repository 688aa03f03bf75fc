// Stops a backfill and the runs it has at work. Called by the routes, and where an export is paused for its failures.
import type { Db } from '../../../platform/db/database.ts'
import { invalid } from '../../../platform/http/errors.ts'
import type { BackfillRow, ExportRow } from '../rows.ts'
import { cancelLiveRuns } from '../runs/queries.ts'
import { endBackfill, listLiveBackfills } from './queries.ts'

type Addressed = Pick<BackfillRow, 'project_id' | 'id'>

export async function cancelBackfill(tx: Db, backfill: Addressed, now: Date): Promise<void> {
  if (await stop(tx, backfill, now)) return
  throw invalid(null, 'invalid_input', 'The backfill has ended already.')
}

/** All that an export has at work. */
export async function cancelLiveBackfills(
  tx: Db,
  row: Pick<ExportRow, 'project_id' | 'id'>,
  now: Date,
): Promise<void> {
  for (const backfill of await listLiveBackfills(tx, row)) await stop(tx, backfill, now)
}

async function stop(tx: Db, { project_id, id }: Addressed, now: Date): Promise<boolean> {
  // The backfill first: from here on nobody adds runs to it.
  const wasLive = await endBackfill(tx, { project_id, id }, 'Cancelled', now)
  if (wasLive) await cancelLiveRuns(tx, { project_id, backfill_id: id }, now)
  return wasLive
}
