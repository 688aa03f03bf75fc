// Where events live. DuckDB and ClickHouse implement this interface; no feature knows which. A project's events carry `seq`,
// which rises from 1 in the order of their commits and may leave numbers out, and `inserted_at`, which never runs backwards.
import type { Db } from '../db/database.ts'
import type { Area, EventChoice, ExportRows } from './export-rows.ts'

/** An event as it is stored. `seq` and `inserted_at` are given by the store when it commits. */
export type StoredEvent = {
  uuid: string
  event: string
  distinct_id: string
  /** Microseconds since 1970, UTC. */
  timestamp: bigint
  created_at: bigint
  elements_chain: string
  /** False: the event asked for no person profile. */
  has_person: boolean
  /** Who did it, and their properties as JSON text, as known when the event was stored: what exports hand on. */
  person_id: string
  person_properties: string
  /** JSON text, returned as it is. */
  properties: string
  /** Text of the properties in HOT_PROPERTIES (layout.ts), in that order. */
  hot: readonly (string | null)[]
}

/** What the relational store knows of people and groups, copied here so that queries can join it. */
export type PersonCopy = {
  id: string
  created_at: bigint
  is_identified: boolean
  /** JSON text. */
  properties: string
  /** Rises with every change. */
  version: number
}
export type DistinctIdCopy = { distinct_id: string; person_id: string; version: number }
export type GroupCopy = { index: number; key: string; created_at: bigint; properties: string }

export type Copies = {
  persons: readonly PersonCopy[]
  deleted_persons: readonly string[]
  distinct_ids: readonly DistinctIdCopy[]
  groups: readonly GroupCopy[]
}

export type ProjectWrite = {
  project_id: number
  events: readonly StoredEvent[]
  /** The state of the project that the copies are of: those of a later state win, in whatever order they come. */
  head?: bigint
} & Copies

/** Changes of persons and groups by their numbers: those after the one, up to the other. */
export type ChangeRange = { after: bigint; last: bigint }

/** Changes whose copies may be missing. `last` is null where all since then may be. */
export type MissingCopies = { after: bigint; last: bigint | null; owed: readonly bigint[] }

/** Copies that are made: of changes up to this one, of these ranges, which are named by their last change. */
export type Copied = { until: bigint; owed: readonly bigint[] }

/** What one commit did to a project. */
export type Written = {
  project_id: number
  /** Events stored; the rest were there already. */
  stored: number
  last_seq: number
  inserted_at: bigint
}

/** Events that no file of their project has, as far as it has been looked through for them. */
export type LookedUp = {
  events: readonly StoredEvent[]
  /** To be called once they were written, or will not be. */
  end(): void
}

export type Parameter = string | number | bigint | boolean

export type StoreQuery = {
  project_id: number
  sql: string
  parameters: readonly Parameter[]
  /** Zone in which date-times are written. */
  timezone: string
  /** Further rows are not fetched. */
  max_rows: number
  /** What `asked` of layout.ts offers to the statement besides the columns of events. */
  properties?: readonly AskedProperty[]
  /** The answer tells where each of them was read. */
  isExplained?: boolean
}

/** A property of events that a question reads by its name, as a column of text: NULL for JSON null and what is missing. */
export type AskedProperty = {
  property: string
  /** What the statement calls it. */
  column: string
  /** Set when the statement looks for these texts alone: where the property is none of them, it may be NULL. */
  values?: readonly string[]
}

/** Where a property was read, counted in events, and how many bytes of JSON had to be read for it. */
export type PropertySource = {
  property: string
  from_column: number
  from_json: number
  json_bytes: number
}

export type StoreAnswer = {
  /** Types by ClickHouse's names. */
  columns: readonly { name: string; type: string }[]
  rows: readonly (readonly StoreValue[])[]
  /** Set when the question is to be explained, and names `properties`. */
  sources?: readonly PropertySource[]
}

/** As JSON has them: date-times as ISO text, 64-bit integers beyond 2^53 as text, tuples and arrays as arrays. */
export type StoreValue = string | number | boolean | null | readonly StoreValue[]

export type ParquetCompression = 'zstd' | 'snappy' | 'lz4' | 'gzip' | 'brotli' | 'none'

/**
 * How rows are written: one JSON object to a line, with json columns nested and instants in ISO 8601 (UTC, six digits);
 * CSV as in RFC 4180 without a header, with null as nothing, an empty text as `""`, json as text and instants as in JSON
 * lines; PostgreSQL's COPY text; Parquet with json as text.
 */
export type ExportFormat =
  | { kind: 'json-lines' | 'csv' | 'copy-text' }
  /** `level` is for zstd, 1 to 22; without it the engine chooses. */
  | { kind: 'parquet'; compression: ParquetCompression; level?: number }

/** A file in the store's staging folder. The caller deletes it. */
export type StagedFile = { path: string; rows: number; bytes: number }

/** Positions (from, to]. Where the store has given `times`, all rows there have times in [times.from, times.to). */
export type PositionRange = { from: number; to: number; times?: TimeSpan | undefined }
export type TimeSpan = { from: Date; to: Date }
/** A range of positions and the number of rows in it. */
export type PositionBlock = PositionRange & { rows: number }

/** How many rows there are in an area, and the earliest and latest of their times; null when there are none. */
export type Measured = { rows: number; first_at: Date | null; last_at: Date | null }

/** Rows with cut texts: how many, how people find the first one, and which columns are cut in any of them. */
export type CutTexts = { rows: number; first: string | null; columns: readonly string[] }

export type EventStore = {
  /** Whose SQL it speaks. */
  engine: 'duckdb' | 'clickhouse'
  /** Another process may have been at work with it a moment ago, or still be. */
  is_shared: boolean
  /**
   * Writes all of it or nothing; durable when it returns. An event whose uuid the project already has within a day of
   * its time, or has earlier in the same call, is left out. `now` is the time of arrival; if the clock was set back,
   * the last time given is used again. `copied` says which copies are here with that. Files are looked into before others
   * have to wait. With `at_once` they are not: it throws LookFirst and writes nothing when they may have some of the events.
   */
  write(
    writes: readonly ProjectWrite[],
    now: Date,
    copied?: Copied | null,
    at_once?: boolean,
  ): Promise<Written[]>
  /** Looks into the project's files, which may take long, for what is to be written next. */
  lookUp(project_id: number, events: readonly StoredEvent[]): Promise<LookedUp>
  /** Resolves once what the project was given is where questions read it. Whoever writes a lot waits for that now and then. */
  caughtUp(project_id: number): Promise<void>
  /** In the transaction that changes persons and groups: the copies are owed until `write` is told of `range.last`. */
  oweCopies(tx: Db, range: ChangeRange): Promise<void>
  /** What nobody else is about to copy; null for nothing. Whoever is told makes the copies soon, or others do. */
  missingCopies(): Promise<MissingCopies | null>
  /** Who was to make the copies of these ranges has failed: anybody may make them at once. */
  giveUpCopies(owed: readonly bigint[]): Promise<void>
  /** Queries that project's tables alone (layout.ts). Throws QueryTimeout, QueryFault, StoreBusy, or the signal's reason. */
  query(query: StoreQuery, signal?: AbortSignal): Promise<StoreAnswer>
  /**
   * The project's last position that arrived before `time`. After this call no event can arrive before that time,
   * however the clock is set.
   */
  positionAt(project_id: number, time: Date): Promise<number>
  /** The project's last position; 0 when it has no events. */
  lastPosition(project_id: number): Promise<number>
  /** The positions that have no event, in order: whoever counts positions leaves them out. */
  holes(project_id: number): Promise<PositionRange[]>
  /** When the events at these positions arrived, in the same order; null where there is no event. */
  arrivalsOf(project_id: number, positions: readonly number[]): Promise<(Date | null)[]>
  /** What each area holds of the chosen events. The areas do not overlap. */
  measureAreas(events: EventChoice, areas: readonly Area[], signal: AbortSignal): Promise<Measured[]>
  /**
   * How many rows there are in each stretch of `block_size` positions, each up to its last row; stretches without rows
   * are left out.
   */
  countBlocks(rows: ExportRows, block_size: number, signal: AbortSignal): Promise<PositionBlock[]>
  /**
   * Cuts the positions (from, to] into stretches of so many rows, at least one; the last has the rest. The same rows are
   * always cut the same way.
   */
  cutRows(
    rows: ExportRows,
    range: PositionRange,
    max_rows: number,
    signal: AbortSignal,
  ): Promise<PositionBlock[]>
  /** Cuts further what the engine cannot make one Parquet file of within its memory. The same rows are always cut the same way. */
  cutForParquet(rows: ExportRows, block: PositionBlock, signal: AbortSignal): Promise<PositionBlock[]>
  /**
   * Writes the rows with positions in (from, to], in order, to a new file: the same rows always give the same bytes.
   * Throws the signal's reason when aborted, and leaves no file then.
   */
  exportRows(
    rows: ExportRows,
    range: PositionRange,
    format: ExportFormat,
    signal: AbortSignal,
  ): Promise<StagedFile>
  /** The rows with the highest positions, highest first, each as one JSON line of an export has it. Throws as `query` does. */
  lastRows(rows: ExportRows, count: number): Promise<string[]>
  /** Finds rows whose texts are cut because they are too long for their column. Throws as `query` does. */
  findCutTexts(rows: ExportRows): Promise<CutTexts>
  /** Throws when it cannot answer. */
  ping(): Promise<void>
  /** Deletes the project's events and copies for good; later writes for it store nothing. */
  deleteProject(project_id: number): Promise<void>
  close(): Promise<void>
}

/** The store may have some of these, and would have to look. */
export class LookFirst extends Error {
  constructor(readonly events: readonly StoredEvent[]) {
    super('files may have some of the events')
  }
}
/** The query ran too long and was stopped. */
export class QueryTimeout extends Error {}
/** The engine could not do what the query asks: a bad pattern, a value that cannot be cast. */
export class QueryFault extends Error {}
/** Too much is waiting: try again later. */
export class StoreBusy extends Error {}
/** Another process has the store open. */
export class StoreTaken extends Error {}
/** The project's events were deleted, before the question or while it was answered. */
export class ProjectGone extends Error {}
/** The store was closed, or its thread died. */
export class StoreGone extends Error {}
