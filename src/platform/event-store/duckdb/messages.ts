// What the main thread and the store's thread say to each other: calls by number, and their answers.
import {
  QueryFault,
  QueryTimeout,
  StoreBusy,
  StoreGone,
  StoreTaken,
  type CutTexts,
  type ExportFormat,
  type Measured,
  type PositionBlock,
  type PositionRange,
  type StagedFile,
  type StoreAnswer,
  type StoreQuery,
  type StoreValue,
  type StretchLimit,
  type Written,
} from '../event-store.ts'
import type { Area, EventChoice, ExportRows } from '../export-rows.ts'
import type { ProjectColumns } from './columns.ts'
import type { DatabaseOptions } from './database.ts'

export type ThreadOptions = DatabaseOptions & { readers: number; query_timeout_ms: number }

export type Calls = {
  write(writes: readonly ProjectColumns[], now: bigint, copies_position: bigint | null): Written[]
  /** Long answers come in parts, so that taking one in never holds the main thread up: ask `more` until none is left. */
  query(query: StoreQuery): Part & Pick<StoreAnswer, 'columns'>
  more(rest: number): Part
  /** Microseconds since 1970. */
  positionAt(project_id: number, time: bigint): number
  lastPosition(project_id: number): number
  arrivalsOf(project_id: number, positions: readonly number[]): (Date | null)[]
  measureAreas(events: EventChoice, areas: readonly Area[]): Measured[]
  countBlocks(rows: ExportRows, block_size: number): PositionBlock[]
  cutRows(rows: ExportRows, range: PositionRange, limit: StretchLimit): PositionBlock[]
  exportRows(rows: ExportRows, range: PositionRange, format: ExportFormat): StagedFile
  findCutTexts(rows: ExportRows): CutTexts
  copiesPosition(): bigint
  deleteProject(project_id: number): void
  close(): void
}

export type Part = { rows: readonly (readonly StoreValue[])[]; rest: number | null }

export type Call = {
  [Name in keyof Calls]: { id: number; name: Name; args: Parameters<Calls[Name]> }
}[keyof Calls]

/** The call of that number need not go on. It is answered all the same. */
export type Abort = { abort: number }

export type Answer =
  | { id: number; result: unknown }
  | { id: number; fault: Fault }
  /** Sent once, when the file is open; `failure` when it could not be opened. */
  | { ready: true; failure?: Fault }

const FAULTS = { QueryFault, QueryTimeout, StoreBusy, StoreGone, StoreTaken, Error } as const
type FaultKind = keyof typeof FAULTS
type Fault = { kind: FaultKind; message: string }

/** Classes do not survive the way between threads. */
export function describeFault(error: unknown): Fault {
  const kinds = Object.keys(FAULTS) as FaultKind[]
  const kind = kinds.find((name) => error instanceof FAULTS[name]) ?? 'Error'
  return { kind, message: error instanceof Error ? error.message : String(error) }
}

export function restoreFault({ kind, message }: Fault): Error {
  return new FAULTS[kind](message)
}
