// What earlier runs over the same rows have left at the destination, for the run that does them again.
import type { Db } from '../../../platform/db/database.ts'
import type { OpenUpload } from '../destinations/destination.ts'
import type { FrozenRun } from '../runs/frozen.ts'
import { listUploads } from '../sweep/queries.ts'
import { isSamePlace, lastDelivered } from './redefine.ts'

/** Files that may be visible where this run goes. Those elsewhere cannot be removed any more: the owner is told. */
export function filesLeftBy({ definition, past }: FrozenRun, warn: (message: string) => void): string[] {
  const left = past.others.flatMap((run) =>
    run.definition === null
      ? []
      : (run.published ?? []).map((name) => ({ name, definition: run.definition! })),
  )
  const here = left.filter((file) => isSamePlace(definition, file.definition))
  const elsewhere = left.length - here.length
  if (elsewhere > 0) {
    warn(
      `${elsewhere} files of earlier runs over these rows are where the export went before: remove them there.`,
    )
  }
  return [...new Set(here.map(({ name }) => name))]
}

/** Those that no attempt is known to have finished, where this run goes. */
export async function uploadsLeftBy(
  db: Db,
  { id, project_id, attempt, definition, past }: FrozenRun,
): Promise<OpenUpload[]> {
  if (attempt === 1 && past.others.length === 0) return []
  const here = past.others.filter((run) => run.definition && isSamePlace(definition, run.definition))
  return listUploads(db, project_id, [id, ...here.map((run) => run.id)])
}

/** What the destination has acknowledged of these rows; a repair sends all of them again. */
export function progressOf({ progress, definition, past }: FrozenRun): unknown {
  if (progress !== null || past.completed !== null) return progress
  return lastDelivered(definition, past)?.progress ?? null
}
