// What earlier runs over the same rows have left at the destination, for the run that does them again.
import type { FrozenRun } from '../runs/frozen.ts'
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

/** What the destination has acknowledged of these rows; a repair sends all of them again. */
export function progressOf({ progress, definition, past }: FrozenRun): unknown {
  if (progress !== null || past.completed !== null) return progress
  return lastDelivered(definition, past)?.progress ?? null
}
