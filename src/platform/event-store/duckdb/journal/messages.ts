// What the main thread asks the journal's thread.
import type { Manifest } from '../segments/manifest.ts'
import type { Damage } from './files.ts'
import type { Appended, NotAppended, ToFold } from './journal.ts'
import type { EncodedIds, EncodedWrite } from './section.ts'

/** What its thread is started with. */
export type JournalOptions = { folder: string }

export type JournalCalls = {
  /** What it found: projects with something waiting since before, those deleted, and what could not be read. */
  recovered(): { waiting: number[]; deleted: number[]; damages: readonly Damage[] }
  append(writes: readonly EncodedWrite[], now: bigint, copies_position: bigint | null): Appended | NotAppended
  /** Before files are looked into. Gives the number of the look-up, which is open until it is ended. */
  beginLookUp(project_id: number): number
  /** What no file has: as long as the look-up is open, these can be written. */
  foundAbsent(project_id: number, look_up: number, ids: EncodedIds): void
  endLookUp(project_id: number, look_up: number): void
  /** From here on nothing arrives before `time`. Gives the project's last position until now. */
  raiseTime(time: bigint, project_id: number): number
  lastPosition(project_id: number): number
  copiesPosition(): bigint
  seal(project_id: number): ToFold | null
  folded(project_id: number, manifest: Manifest): void
  replaced(project_id: number, manifest: Manifest): void
  deleteProject(project_id: number): void
}
