// Rows that are moved, as DuckDB selects and compares them.
import type { DuckDBConnection } from '@duckdb/node-api'
import { FIRST_TIME, LAST_TIME } from '../../clickhouse/rows.ts'
import type { Copies } from '../../event-store.ts'
import { tablesOf } from '../../layout.ts'
import {
  BLOCK,
  MOVED_COLUMNS,
  NOBODY,
  type BlockDigest,
  type CopyKind,
  type Digest,
  type MovedColumn,
  type MovedRow,
} from '../../moving/columns.ts'
import { rows } from '../statements.ts'

function selected([name, kind]: MovedColumn): string {
  if (kind === 'time') return `epoch_us("${name}")`
  return kind === 'id' ? `"${name}"::VARCHAR` : `"${name}"`
}

export function selectMoved(project_id: number, kind: 'events' | CopyKind): string {
  return `SELECT ${MOVED_COLUMNS[kind].map(selected).join(', ')} FROM ${tablesOf(project_id)[kind]}`
}

/** A few thousand at a time, in the order in which they lie. */
export async function* streamRows(connection: DuckDBConnection, sql: string): AsyncIterable<MovedRow[]> {
  const result = await connection.stream(sql)
  for (;;) {
    const chunk = await result.fetchChunk()
    if (chunk === null || chunk.rowCount === 0) return
    yield chunk.getRows()
  }
}

/** The same text on every engine. Times are those that every engine can hold. */
function compared([name, kind]: MovedColumn): string {
  switch (kind) {
    case 'time':
      return `greatest(least(epoch_us("${name}"), ${LAST_TIME}), ${FIRST_TIME})::VARCHAR`
    case 'id':
      return `coalesce("${name}"::VARCHAR, '${NOBODY}')`
    case 'text':
      return `coalesce(strlen("${name}") || ':' || "${name}", '-')`
    case 'flag':
      return `"${name}"::INTEGER::VARCHAR`
    case 'whole':
    case 'small':
      return `"${name}"::VARCHAR`
    default:
      return kind satisfies never
  }
}

function digestSql(kind: 'events' | CopyKind): string {
  const text = `concat_ws(',', ${MOVED_COLUMNS[kind].map(compared).join(', ')})`
  return `count(*), coalesce(sum(md5_number_lower(${text})), 0) % 18446744073709551616`
}

export async function digestEvents(connection: DuckDBConnection, project_id: number): Promise<BlockDigest[]> {
  const found = await rows(
    connection,
    `SELECT (seq - 1) // ${BLOCK} AS block, min(seq), max(seq), ${digestSql('events')}
       FROM ${tablesOf(project_id).events} GROUP BY block ORDER BY block`,
  )
  return found.map(([block, first, last, count, sum]) => ({
    block: Number(block),
    first: Number(first),
    last: Number(last),
    rows: Number(count),
    sum: String(sum),
  }))
}

export async function digestCopies(
  connection: DuckDBConnection,
  project_id: number,
  kind: CopyKind,
): Promise<Digest> {
  const [row] = await rows(connection, `SELECT ${digestSql(kind)} FROM ${tablesOf(project_id)[kind]}`)
  return { rows: Number(row![0]), sum: String(row![1]) }
}

const NONE: Copies = { persons: [], deleted_persons: [], distinct_ids: [], groups: [] }

/** Each with the time of its change, which exports of persons go by. */
export function copyOf(kind: CopyKind, row: MovedRow): { copies: Copies; changed_at: bigint } {
  switch (kind) {
    case 'persons': {
      const [id, created_at, is_identified, properties, version, changed_at] = row
      const person = { id, created_at, is_identified, properties, version: Number(version) }
      return { copies: { ...NONE, persons: [person] as Copies['persons'] }, changed_at: changed_at as bigint }
    }
    case 'distinct_ids': {
      const [distinct_id, person_id, version, changed_at] = row
      const mapping = { distinct_id, person_id, version: Number(version) }
      return {
        copies: { ...NONE, distinct_ids: [mapping] as Copies['distinct_ids'] },
        changed_at: changed_at as bigint,
      }
    }
    case 'groups': {
      const [index, key, created_at, properties] = row
      const group = { index, key, created_at, properties }
      return { copies: { ...NONE, groups: [group] as Copies['groups'] }, changed_at: 0n }
    }
    default:
      return kind satisfies never
  }
}
