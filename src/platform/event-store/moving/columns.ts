// What is moved, column by column: both engines select and compare the same values.
import { HOT_PROPERTIES, hotColumn } from '../layout.ts'

export type CopyKind = 'persons' | 'distinct_ids' | 'groups'

export const COPY_KINDS: readonly CopyKind[] = ['persons', 'distinct_ids', 'groups']

/** `whole` has 64 bits and comes as bigint, as a `time` does, in microseconds since 1970; an `id` comes as text. */
export type ValueKind = 'whole' | 'small' | 'time' | 'id' | 'text' | 'flag'

export type MovedColumn = readonly [name: string, kind: ValueKind]

/** One value for each column. */
export type MovedRow = readonly unknown[]

export const MOVED_COLUMNS: Readonly<Record<'events' | CopyKind, readonly MovedColumn[]>> = {
  events: [
    ['seq', 'whole'],
    ['inserted_at', 'time'],
    ['uuid', 'id'],
    ['event', 'text'],
    ['distinct_id', 'text'],
    ['timestamp', 'time'],
    ['created_at', 'time'],
    ['elements_chain', 'text'],
    ['person_mode', 'small'],
    ['person_id', 'id'],
    ['person_properties', 'text'],
    ['properties', 'text'],
    ...HOT_PROPERTIES.map((property) => [hotColumn(property), 'text'] as const),
  ],
  persons: [
    ['id', 'id'],
    ['created_at', 'time'],
    ['is_identified', 'flag'],
    ['properties', 'text'],
    ['version', 'whole'],
    ['changed_at', 'time'],
  ],
  distinct_ids: [
    ['distinct_id', 'text'],
    ['person_id', 'id'],
    ['version', 'whole'],
    ['changed_at', 'time'],
  ],
  groups: [
    ['index', 'small'],
    ['key', 'text'],
    ['created_at', 'time'],
    ['properties', 'text'],
  ],
}

/** Events of versions that knew no persons have none; ClickHouse has no word for that. */
export const NOBODY = '00000000-0000-0000-0000-000000000000'

/** Positions whose events are compared together. */
export const BLOCK = 1_000_000

/** Events of one block, or copies: how many, and a sum over the digests of their values, in any order. */
export type Digest = { rows: number; sum: string }
export type BlockDigest = Digest & { block: number; first: number; last: number }
