// What earlier runs over the same rows have left at the destination, for the run that does them again.
import type { Db } from '../../../platform/db/database.ts'
import type { Definition } from '../definition.ts'
import type { OpenUpload } from '../destinations/destination.ts'
import { DESTINATIONS } from '../destinations/index.ts'
import { isSamePlace } from '../destinations/same-place.ts'
import type { FrozenRun } from '../runs/frozen.ts'
import { listUploads } from '../sweep/queries.ts'

/** Files that may be visible where this run goes. Those elsewhere cannot be removed any more: the owner is told. */
export function filesLeftBy({ definition, past }: FrozenRun, warn: (message: string) => void): string[] {
  const left = past.others.flatMap((run) =>
    run.definition === null
      ? []
      : (run.published ?? []).map((name) => ({ name, definition: run.definition! })),
  )
  const here = left.filter((file) => isHere(definition, file.definition))
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
  const here = past.others.filter((run) => isHere(definition, run.definition))
  return listUploads(db, project_id, [id, ...here.map((run) => run.id)])
}

/** What the destination has acknowledged of these rows; a repair sends all of them again. */
export function progressOf({ progress, definition, past }: FrozenRun): unknown {
  if (progress !== null || past.completed !== null) return progress
  const last = past.others.findLast((run) => run.progress !== null && isHere(definition, run.definition))
  return last?.progress ?? null
}

function isHere(one: Definition, other: Definition | null): boolean {
  if (one.destination_type !== other?.destination_type) return false
  return isSamePlace(DESTINATIONS.get(one.destination_type)!, one.config, other.config)
}
