// What an export can ask of the store: which rows of a project, and what becomes of their values. In the words of the
// product, so that each engine writes its own SQL.
import type { AskedProperty, Parameter } from './event-store.ts'
import type { Type } from './value-type.ts'

/** Events with positions in (seq_from, seq_to] and times of their own in [time_from, time_to); null: without a bound. */
export type Area = { seq_from: number; seq_to: number; time_from: Date | null; time_to: Date | null }

/** A SELECT over events that hogql/compile.ts has printed for the store's engine, and what some of its columns are called. */
export type EventQuery = {
  sql: string
  parameters: readonly Parameter[]
  position: string
  uuid: string
  /** When the event happened. */
  time: string
  /** What `asked` of layout.ts offers to the SQL besides the columns of events. */
  properties: readonly AskedProperty[]
}

/** All events of a project that a query lets through. */
export type EventChoice = { project_id: number; query: EventQuery }

/**
 * Where rows come from. Each has a position: that of the event, the place of the session in the order of ids, or what the
 * distinct id of a person alone tells. A row keeps it whatever becomes of other rows while a run reads one stretch after
 * the other.
 */
export type RowSource =
  /** The events that lie in any of the areas, which do not overlap. */
  | { model: 'events'; query: EventQuery; areas: readonly Area[] }
  /** One row for each distinct id, if it or its person changed last in [changed_from, changed_to). */
  | { model: 'persons'; changed_from: Date | null; changed_to: Date }
  /**
   * One row for each session with an event in `own`, put together from those events and from all others that happened
   * at `since` or later, or up to a day before the earliest of those events; up to the last position of `own`. Without
   * `since` from all.
   */
  | { model: 'sessions'; own: Area; since: Date | null }

/** Positions of persons are spread evenly over so many bits. Two may share one: they are then in the same stretch. */
export const PERSON_POSITION_BITS = 52

const text: Type = { kind: 'text' }
const integer: Type = { kind: 'integer' }
const datetime: Type = { kind: 'datetime' }

/** What there is of a distinct id and its person. */
export const PERSON_VALUES = {
  team_id: integer,
  distinct_id: text,
  person_id: { kind: 'uuid' },
  properties: { kind: 'json' },
  person_distinct_id_version: integer,
  person_version: integer,
  created_at: datetime,
  /** False: a person who was merged into another is no longer there, and their ids are the other's. */
  is_deleted: { kind: 'boolean' },
  /** When the last of the two changed. */
  _inserted_at: datetime,
} as const satisfies Record<string, Type>

/** What there is of a session; session-values.ts tells how it comes about. */
export const SESSION_VALUES = {
  session_id: text,
  session_id_v7: { kind: 'uuid' },
  team_id: integer,
  distinct_id: text,
  start_timestamp: datetime,
  end_timestamp: datetime,
  urls: { kind: 'array', item: text },
  num_uniq_urls: integer,
  entry_current_url: text,
  entry_pathname: text,
  entry_hostname: text,
  end_current_url: text,
  end_pathname: text,
  end_hostname: text,
  entry_utm_source: text,
  entry_utm_campaign: text,
  entry_utm_medium: text,
  entry_utm_term: text,
  entry_utm_content: text,
  entry_referring_domain: text,
  entry_gclid: text,
  entry_fbclid: text,
  entry_gad_source: text,
  pageview_count: integer,
  autocapture_count: integer,
  screen_count: integer,
  session_duration: integer,
  duration: integer,
  is_bounce: { kind: 'boolean' },
  last_external_click_url: text,
  page_screen_autocapture_count_up_to: integer,
  exit_current_url: text,
  exit_pathname: text,
  vitals_lcp: { kind: 'float' },
} as const satisfies Record<string, Type>

/** What a column of an export holds; json is JSON text. */
export type ColumnKind = 'text' | 'json' | 'integer' | 'float' | 'boolean' | 'timestamp'

export type ExportColumn = { name: string; kind: ColumnKind }

/**
 * How a value of the source becomes one of the column's kind. What has no place there is null: integers of more than 64
 * bits, NaN, infinities. Texts lose their NULs, which warehouses refuse.
 */
export type Form = {
  type: Type
  /** The text is to be JSON: one that is not goes out as a JSON text, because it would sink all rows with it. */
  is_json: boolean
  /** Longer texts are cut, never within a character; null: of any length. */
  max: { length: number; unit: 'characters' | 'bytes' } | null
}

export type ExportedColumn = ExportColumn & {
  /** The row's position, or what the source has under this name: a column of the query, PERSON_VALUES or SESSION_VALUES. */
  value: 'position' | { of: string; form: Form | null }
}

/** Properties of events that these rows are made of. */
export function propertiesOf({ source }: ExportRows): readonly AskedProperty[] {
  return source.model === 'events' ? source.query.properties : []
}

/** Rows of a project in a fixed order, the same whenever they are asked for; persons who have changed since are missing. */
export type ExportRows = {
  project_id: number
  source: RowSource
  columns: readonly ExportedColumn[]
}
