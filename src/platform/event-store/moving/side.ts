// A store as one side of a move: opened by the command itself, with nobody else at work in it.
import type { EventStore, PositionRange } from '../event-store.ts'
import type { BlockDigest, CopyKind, Digest, MovedRow } from './columns.ts'

/** What a project has besides events and copies. */
export type ProjectState = {
  /** The last position that was given: it is never given again, though there may be no event. */
  last_position: number
  /** Nothing may arrive before, in microseconds since 1970. */
  arrived_at: bigint
  holes: readonly PositionRange[]
}

/** What the store has besides projects. */
export type StoreState = { deleted: readonly number[]; copies_position: bigint }

export type ReadSide = {
  engine: EventStore['engine']
  /** Nothing of any project is in it. */
  isEmpty(): Promise<boolean>
  state(): Promise<StoreState>
  /** Those that something is known of and that were not deleted. */
  projects(): Promise<number[]>
  project(project_id: number): Promise<ProjectState>
  /** Events after the position, in order, a few at a time. */
  events(project_id: number, after: number): AsyncIterable<readonly MovedRow[]>
  copies(project_id: number, kind: CopyKind): AsyncIterable<readonly MovedRow[]>
  /** By blocks of positions, in order. */
  digestEvents(project_id: number): Promise<BlockDigest[]>
  digestCopies(project_id: number, kind: CopyKind): Promise<Digest>
  close(): Promise<void>
}

export type MoveSide = ReadSide & {
  /** Before the first move to a side that is empty. */
  begin(): Promise<void>
  /** Before the first event, whenever a move begins or goes on. */
  prepare(project_id: number): Promise<void>
  /** The last position whose event is here. */
  lastMoved(project_id: number): Promise<number>
  /** All of them or none, durable when it returns. */
  addEvents(project_id: number, rows: readonly MovedRow[]): Promise<void>
  removeCopies(project_id: number): Promise<void>
  /** `change` is the number of the last change that is in the copies. */
  addCopies(project_id: number, kind: CopyKind, rows: readonly MovedRow[], change: bigint): Promise<void>
  finishProject(project_id: number, state: ProjectState): Promise<void>
  /** The projects that were deleted are so here, and what was moved of them goes. */
  finish(state: StoreState): Promise<void>
}
