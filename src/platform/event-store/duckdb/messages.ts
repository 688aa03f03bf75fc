// What the main thread asks the engine's thread.
import type { ExportFormat, Measured, PositionBlock, PositionRange, StagedFile } from '../event-store.ts'
import type { Area, EventChoice, ExportRows } from '../export-rows.ts'
import type { ToFold } from './journal/journal.ts'
import type { EncodedIds } from './journal/section.ts'
import type { FoldOptions } from './segments/fold.ts'
import type { KeptColumn, Manifest, Segment } from './segments/manifest.ts'

export type EngineOptions = { folder: string; memory_mb: number }

export type EngineCalls = {
  manifest(project_id: number): Manifest
  fold(project_id: number, waiting: ToFold | null, options: FoldOptions): Manifest
  merge(project_id: number): Manifest | null
  keepColumns(project_id: number, columns: readonly KeptColumn[]): Manifest
  replaceSegment(project_id: number, file: string, made: Segment): Manifest | null
  removeProject(project_id: number): void
  /** The places of events that the files have. */
  findStored(project_id: number, ids: EncodedIds): number[]
  /** The first position that arrived at `time` or later; null when none did. Microseconds since 1970. */
  firstFrom(project_id: number, time: bigint): number | null
  arrivalsOf(project_id: number, positions: readonly number[]): (Date | null)[]
  measureAreas(events: EventChoice, areas: readonly Area[]): Measured[]
  countBlocks(rows: ExportRows, block_size: number): PositionBlock[]
  cutRows(rows: ExportRows, range: PositionRange, max_rows: number): PositionBlock[]
  cutForParquet(rows: ExportRows, block: PositionBlock): PositionBlock[]
  exportRows(rows: ExportRows, range: PositionRange, format: ExportFormat): StagedFile
}
