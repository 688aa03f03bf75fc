// What every destination is: a description that is cheap to load (configuration, what it can take), and the part that
// connects, which is loaded when a run or a test needs it. The conformance suite holds all of them to the same promises.
import type { z } from 'zod'
import type { Outbound } from '../../../platform/outbound/outbound.ts'
import type { DataInterval, Model, OutputColumn } from '../definition.ts'
import type { Encoding, OutputFile } from '../formats/encoding.ts'
import type { Condition } from './described.ts'

/** Which list of default columns a destination has; columns.ts of the source names them. */
export type ColumnSet =
  | 'files'
  | 'postgres'
  | 'redshift'
  | 'bigquery'
  | 'snowflake'
  | 'databricks'
  | 'clickhouse'
  | 'http'

/** What is made there. */
export const CATEGORIES = ['files', 'database', 'warehouse', 'http', 'test'] as const
export type Category = (typeof CATEGORIES)[number]

export type DestinationKind<Config = Record<string, unknown>> = {
  type: string
  /** What people call it. */
  name: string
  category: Category
  /** One line. */
  description: string
  /** A strict object: unknown keys are refused. Coercions and defaults are its own. */
  config: z.ZodType<Config>
  /** For the documentation; secrets are cut short. */
  example: Readonly<Record<string, unknown>>
  /** Keys that are never given out, as paths: `password`, `copy_inputs.authorization`. */
  secrets: readonly string[]
  /** Keys that say where the secrets are sent: whoever changes one sends the secrets again. */
  aims: readonly string[]
  /** Keys of PostHog's clients that have no part here: dropped, never stored. */
  ignores?: readonly string[]
  models: readonly Model[]
  columns: ColumnSet
  /** Whether `hogql_query` may choose the columns. */
  takes_custom_columns: boolean
  /** The rules across fields, as far as a form can follow them. */
  conditions?: readonly Condition[]
  /** What the rules across fields find wrong with a complete configuration; `field` null for the whole. */
  faults?(config: Config): { field: string | null; message: string } | null
  /** Hosts to be asked of the outbound gate when a configuration is saved. */
  hosts(config: Config): string[]
  /** Rows are seen there as they are sent, before the run is finished. */
  is_piecewise?: true
  /** For files: where names are told apart. Two places with the same text are one. */
  place?(config: Config, project_id: number): string
  /** Where the data goes, for people: no secret in it. */
  target(config: Config): string
  /** The table that rows go into, as queries at the destination name it; none where they become files or requests. */
  table?(config: Config): string
  load(): Promise<Destination<Config>>
}

export type Destination<Config = Record<string, unknown>> = {
  /** How rows are written for it, and where one file ends. */
  encoding(config: Config, run: RunFacts): Encoding
  steps: readonly TestStep<Config>[]
  /** For tables: what the first run makes when there is none, as SQL. Tells of a table that cannot be by throwing Refused. */
  tableSql?(config: Config, run: TableFacts, columns: readonly OutputColumn[]): string
  /** For files: the first that a run writes, and what else it always writes. */
  fileNames?(config: Config, run: NamedRun): string[]
  open(context: DeliveryContext<Config>): Promise<Delivery>
  /** Reads back what was delivered, for verification; null where nothing can be read back. */
  inspect: ((context: InspectionContext<Config>) => Promise<Inspection>) | null
  /**
   * Removes what attempts left that died, and gives each thing once it is gone. Only what provably belongs to one of the
   * given runs; absent where nothing is left, or where it goes by itself.
   */
  sweep?(context: SweepContext<Config>): AsyncIterable<Removed>
}

export type SweepContext<Config = Record<string, unknown>> = Pick<
  DeliveryContext<Config>,
  'config' | 'outbound' | 'settings' | 'signal'
> & {
  /** All delivered with this configuration, and over: nobody works on them, nobody will. */
  runs: readonly SweptRun[]
}

export type SweptRun = RunFacts & {
  /** Those that no attempt is known to have finished. */
  uploads: readonly OpenUpload[]
}

export type Removed = {
  /** For people, in the singular. */
  kind: 'unfinished upload' | 'partial file' | 'staging table' | 'staging folder'
  name: string
}

/** What a new table depends on, besides its columns. */
export type TableFacts = Pick<RunFacts, 'model' | 'has_custom_columns'>

/** What names of files depend on. */
export type NamedRun = Pick<RunFacts, 'interval' | 'model' | 'batch_export_id' | 'backfill_id'>

/** What a destination may know of the run it serves. */
export const OWN_COLUMNS = ['timestamp', 'team_id'] as const
export type OwnColumn = (typeof OWN_COLUMNS)[number]

export type RunFacts = {
  /** The same for every run that delivers these rows: one that repeats another has the id of the first. */
  id: string
  /** What it was known by where the export went before: another name may lead to the same table. */
  other_ids: readonly string[]
  /** Rises with every attempt at these rows, whichever run makes it. */
  attempt: number
  batch_export_id: string
  project_id: number
  model: Model
  interval: DataInterval
  /** Set for a run that chose its rows by their time: its files have names that no run of the schedule has. */
  backfill_id: string | null
  /** The rows were delivered before, and are to be as they were: what is there of them is replaced. */
  is_repair: boolean
  /**
   * Columns that whatever was delivered of these rows has from the event itself: with the uuid they tell events apart. Two
   * projects may have events of one uuid, and one project may have them at two times.
   */
  told_apart_by: readonly OwnColumn[]
  /** With hogql_query. */
  has_custom_columns: boolean
}

export type DeliveryContext<Config = Record<string, unknown>> = {
  /** With secrets. */
  config: Config
  run: RunFacts
  columns: readonly OutputColumn[]
  outbound: Outbound
  settings: DestinationSettings
  /** Aborted on cancel, on loss of the lease and when the time is up: stop all I/O. */
  signal: AbortSignal
  log(level: 'DEBUG' | 'INFO' | 'WARNING', message: string): void
  /** Files that earlier runs over these rows may have left here: whatever this one does not write again has to go. */
  left_files: readonly string[]
  /** Uploads that earlier attempts began: a worker that wakes up late could still make their files visible. */
  left_uploads: readonly OpenUpload[]
  /** Durable between attempts. */
  progress: {
    last: unknown
    /** Fails once the run is no longer ours. */
    save(value: unknown): Promise<void>
    /** Writes down what nobody could tell for ours afterwards: the sweep ends it if this attempt dies. */
    began(upload: OpenUpload): Promise<void>
    /** Writes down which columns this run does not bring, because the table lacks them. */
    leftOut(columns: readonly string[]): Promise<void>
  }
}

export type InspectionContext<Config = Record<string, unknown>> = Omit<
  DeliveryContext<Config>,
  'progress' | 'left_files' | 'left_uploads'
>

/** An upload at an object store, by the name of its file and the id that the store has given it. */
export type OpenUpload = { name: string; id: string }

export type DestinationSettings = {
  /** Root of the `File` destination. */
  export_folder: string
  /** Also plain connections to databases are allowed: set-ups for development and tests. */
  allow_plaintext: boolean
  /** How long a run waits for a lock in a database; half a minute unless told. */
  lock_timeout_ms?: number
}

/** One attempt at one run. Nothing of it may be visible to a reader of the destination before `finish`. */
export type Delivery = {
  /** Files come in order. Returns once the file on disk is no longer needed. */
  write(file: OutputFile): Promise<void>
  /** The files that `finish` makes visible, once all are written; none for tables. */
  names?(): string[]
  /**
   * Makes the whole run visible, exactly once however often it is attempted. `confirm` is to be called before files are
   * removed that another run may have written again meanwhile.
   */
  finish(confirm: Confirm): Promise<Delivered>
  /** Drops what was sent and not finished. Never throws. */
  abort(): Promise<void>
}

/** Gives those of the files that may be removed. Throws when the run is no longer ours. */
export type Confirm = (files: readonly string[]) => Promise<readonly string[]>

export type Delivered = {
  /** Rows of this run that are at the destination now. */
  rows: number
  /** Named as the destination names them; empty for tables. */
  files: DeliveredFile[]
}

export type DeliveredFile = { name: string; rows: number; bytes: number; sha256: string }

export type TestStep<Config> = {
  name: string
  description: string
  /** Throws with a message for people, without secrets. */
  run(context: Pick<DeliveryContext<Config>, 'config' | 'outbound' | 'settings' | 'signal'>): Promise<void>
}

/** What verification reads back: files or a table, whichever the destination has. */
export type Inspection = {
  files?: FileInspection
  table?: TableInspection
  close(): Promise<void>
}

export type FileInspection = {
  /** The content of a delivered file, by its name; null when it is not there. */
  read(name: string): Promise<AsyncIterable<Uint8Array> | null>
  /** Names of all files right in a folder, which is the part of a name before its last `/`; '' for none. */
  list(folder: string): AsyncIterable<string>
}

/**
 * A table is compared by digests: for each bucket of rows their number and two sums over their hashes, so that their order
 * does not matter. The hash of a row is the MD5 of its spelled values (`rowText` of warehouse/digest.ts), the sums add up
 * its first and its second eight hexadecimal digits, and the bucket is the last three characters of the uuid (`bucketOf`).
 *
 * Digests that are the same prove that the rows are. Where they differ the rows decide: engines may print JSON otherwise
 * than we foretell.
 */
export type TableInspection = {
  /** The run's columns that the table has, in a type that can be compared. */
  columns: readonly OutputColumn[]
  /** Names of those that the table does not have; none where there is no table. */
  lacking: readonly string[]
  /** Never more than one row for a uuid, whatever is delivered: by a key that the owner has made, or an engine. */
  has_one_row_for_uuid: boolean
  /**
   * One statement for all buckets. Empty where there is no table. Where the rows of a project are asked for, rows that say
   * no project are in buckets of their own, whose names begin with `UNOWNED`.
   */
  digest(scope: TableScope): Promise<ReadonlyMap<string, Digest>>
  /** The spelled values of the rows in one bucket, in the order of `columns`. */
  rows(scope: TableScope, bucket: string): Promise<readonly (readonly (string | null)[])[]>
  /**
   * A value as JSON lines have it (see `exactColumns`), spelled as the table's own statements spell it. `undefined` is what
   * a row has that came without the column, as far as that is known.
   */
  spell(column: OutputColumn, value: unknown): string | null
}

/**
 * Which rows are looked at: of one project and of none where the table says so, and of these times where it has a timestamp.
 * Null: of any project, and of any time.
 */
export type TableScope = { project_id: number | null; times: readonly { from: Date; to: Date }[] | null }

export type Digest = { rows: number; sums: readonly [number, number] }

/** Before a run asks for a lock again that it did not get. */
const LOCK_PAUSE_MS = 60_000

/** Retrying is of no use before the user has changed something: the run fails at once. */
export class Refused extends Error {}
/** Nobody answers there. The user's matter, unless an earlier run of the export got through. */
export class Unreachable extends Error {}
/** Will pass: try again later. */
export class Passing extends Error {
  constructor(
    message: string,
    readonly retry_after_ms: number | null = null,
  ) {
    super(message)
  }
}
/** Somebody else holds a lock. Not a failure of the destination: the run makes way, and comes back until the lock is gone. */
export class Locked extends Passing {
  /** `lock` ends a sentence: “a lock on table x, held by process 1”. */
  constructor(readonly lock: string) {
    super(`The run waits for ${lock}; it is tried again until the lock is released.`, LOCK_PAUSE_MS)
  }
}
