// What the main thread asks the journal's thread.
import type { Manifest } from '../segments/manifest.ts'
import type { Damage } from './files.ts'
import type { Appended, ToFold } from './journal.ts'
import type { Cleared, Suspicion } from './repeats.ts'
import type { EncodedWrite } from './section.ts'

/** What its thread is started with. */
export type JournalOptions = { folder: string }

export type JournalCalls = {
  /** What it found: projects with something waiting since before, those deleted, and what could not be read. */
  recovered(): { waiting: number[]; deleted: number[]; damages: readonly Damage[] }
  append(
    writes: readonly EncodedWrite[],
    now: bigint,
    copies_position: bigint | null,
    cleared: Cleared | null,
  ): Appended | Suspicion
  /** From here on nothing arrives before `time`. Gives the project's last position until now. */
  raiseTime(time: bigint, project_id: number): number
  lastPosition(project_id: number): number
  copiesPosition(): bigint
  seal(project_id: number): ToFold | null
  folded(project_id: number, manifest: Manifest): void
  replaced(project_id: number, manifest: Manifest): void
  deleteProject(project_id: number): void
}
