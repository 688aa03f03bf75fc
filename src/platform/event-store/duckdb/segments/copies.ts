// Copies of persons, distinct ids and groups. What changed goes into a small file; files that have grown are put together
// with the next, so that there are few, and each copy is written again only now and then. What stands in a newer file
// counts instead of what stands in older ones.
import {
  BIGINT,
  BOOLEAN,
  DuckDBTimestampValue,
  TIMESTAMP,
  UTINYINT,
  UUID,
  VARCHAR,
  type DuckDBConnection,
  type DuckDBValue,
} from '@duckdb/node-api'
import type { Copies } from '../../event-store.ts'
import { uuidValue } from './events.ts'
import type { CopyKind, Level } from './manifest.ts'
import { readParquet } from './parquet.ts'
import { appendRows, createTable, selectNone, type Columns } from './table.ts'
import { emptyRowsFor } from './vectors.ts'

/** Two vectors: those of long texts are put together with others again and again. */
export const COPIES_ROW_GROUP = 4_096

/** What a row is: `GONE` says that a person was deleted, an empty one is there for its room alone (vectors.ts). */
const [IS_THERE, GONE, EMPTY] = [0, 1, 2]

type Row = readonly DuckDBValue[]
type Shape = { columns: Columns; key: readonly string[] }

const SHAPES: Readonly<Record<CopyKind, Shape>> = {
  persons: {
    columns: [
      ['id', UUID],
      ['created_at', TIMESTAMP],
      ['is_identified', BOOLEAN],
      ['properties', VARCHAR],
      ['version', BIGINT],
      ['changed_at', TIMESTAMP],
    ],
    key: ['id'],
  },
  distinct_ids: {
    columns: [
      ['distinct_id', VARCHAR],
      ['person_id', UUID],
      ['version', BIGINT],
      ['changed_at', TIMESTAMP],
    ],
    key: ['distinct_id'],
  },
  groups: {
    columns: [
      ['index', UTINYINT],
      ['key', VARCHAR],
      ['created_at', TIMESTAMP],
      ['properties', VARCHAR],
    ],
    key: ['index', 'key'],
  },
}

const time = (micros: bigint) => new DuckDBTimestampValue(micros)
const NO_TIME = time(0n)

/** Rows by what they are a copy of. Later ones replace those before. */
export type Changes = Readonly<Record<CopyKind, ReadonlyMap<string, readonly Row[]>>>

/** Counts the copies of a file, without the rows that are there for their room, and finds its oldest deletion. */
export function describeCopies(kind: CopyKind, source: string): string {
  const gone_since = kind === 'persons' ? `epoch_us(min(changed_at) FILTER (kind = ${GONE}))` : 'NULL'
  return `SELECT count(*), ${gone_since} FROM ${source} WHERE kind <> ${EMPTY}`
}

export function gatherChanges(copies: readonly { copies: Copies; changed_at: bigint }[]): Changes {
  const changes: Record<CopyKind, Map<string, readonly Row[]>> = {
    persons: new Map(),
    distinct_ids: new Map(),
    groups: new Map(),
  }
  for (const { copies: some, changed_at } of copies) {
    for (const id of some.deleted_persons) {
      changes.persons.set(id, [[uuidValue(id), NO_TIME, false, '', 0n, time(changed_at), GONE]])
    }
    for (const { id, created_at, is_identified, properties, version } of some.persons) {
      const row = (text: string) => [
        uuidValue(id),
        time(created_at),
        is_identified,
        text,
        BigInt(version),
        time(changed_at),
      ]
      changes.persons.set(id, withRoom(row, properties))
    }
    for (const { distinct_id, person_id, version } of some.distinct_ids) {
      const row = [distinct_id, uuidValue(person_id), BigInt(version), time(changed_at), IS_THERE]
      changes.distinct_ids.set(distinct_id, [row])
    }
    for (const { index, key, created_at, properties } of some.groups) {
      const row = (text: string) => [index, key, time(created_at), text]
      changes.groups.set(`${index}/${key}`, withRoom(row, properties))
    }
  }
  return changes
}

function withRoom(row: (properties: string) => Row, properties: string): Row[] {
  const empty = [...row(''), EMPTY]
  return [[...row(properties), IS_THERE], ...Array.from({ length: emptyRowsFor(properties) }, () => empty)]
}

/** A table with the changed rows. */
export async function createChanges(
  connection: DuckDBConnection,
  table: string,
  kind: CopyKind,
  rows: readonly Row[],
): Promise<void> {
  const columns: Columns = [...SHAPES[kind].columns, ['kind', UTINYINT]]
  await connection.run(createTable(table, columns))
  await appendRows(connection, table, columns, rows, (part) =>
    columns.map((_, index) => part.map((row) => row[index]!)),
  )
}

/** A file of this size is quickly written again. */
const FEW_BYTES = 1024 * 1024
/** A larger one is written again when so many times fewer copies are to be put into it: there are never more than a few files. */
const GROWTH = 8

/** What is deleted is in no file once it was so for this long, and the copies change. */
const GONE_MICROS = 86_400_000_000n

/** How many of the newest files are put together with so many new copies, which came at `now`. */
export function levelsToMerge(levels: readonly Level[], new_copies: number, now: bigint): number {
  const isOverdue = ({ gone_since }: Level) =>
    gone_since !== undefined && now - BigInt(gone_since) >= GONE_MICROS
  if (levels.some(isOverdue)) return levels.length
  let copies = new_copies
  const kept = levels.findIndex((level) => {
    if (level.bytes > FEW_BYTES && level.copies > GROWTH * copies) return true
    copies += level.copies
    return false
  })
  return kept === -1 ? levels.length : kept
}

/** Selects, newest source first, each row that no newer source has; and drops what is gone when nothing older is left. */
export function newestRows(kind: CopyKind, sources: readonly string[], isLast: boolean): string {
  const same = SHAPES[kind].key.map((name) => `n."${name}" = o."${name}"`).join(' AND ')
  const selects = sources.map((source, index) => {
    const newer = sources
      .slice(0, index)
      .map((other) => `NOT EXISTS (SELECT 1 FROM ${other} AS n WHERE ${same})`)
    const kept = isLast ? [`o.kind <> ${GONE}`] : []
    const conditions = [...newer, ...kept]
    return `SELECT o.* FROM ${source} AS o${conditions.length > 0 ? ` WHERE ${conditions.join(' AND ')}` : ''}`
  })
  return selects.join(' UNION ALL ')
}

/** What everybody reads. */
export function copiesView(kind: CopyKind, files: readonly string[]): string {
  const names = SHAPES[kind].columns.map(([name]) => `"${name}"`).join(', ')
  if (files.length === 0) return selectNone(SHAPES[kind].columns)
  const sources = files.map((file) => readParquet([file]))
  return `SELECT ${names} FROM (${newestRows(kind, sources, true)}) WHERE kind = ${IS_THERE}`
}
