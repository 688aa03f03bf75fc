// Rows that are moved, as ClickHouse selects, compares and takes them.
import {
  BLOCK,
  MOVED_COLUMNS,
  NOBODY,
  type CopyKind,
  type MovedColumn,
  type MovedRow,
} from '../../moving/columns.ts'
import { timeText } from '../rows.ts'

export type Moved = 'events' | CopyKind

function selected([name, kind]: MovedColumn): string {
  if (kind === 'time') return `toUnixTimestamp64Micro("${name}")`
  return kind === 'id' ? `toString("${name}")` : `"${name}"`
}

export const selectMoved = (kind: Moved) => `SELECT ${MOVED_COLUMNS[kind].map(selected).join(', ')}`

/** From the values of ClickHouse's JSON. */
export function readRow(kind: Moved, row: readonly unknown[]): MovedRow {
  return row.map((value, index) => {
    const of_column = MOVED_COLUMNS[kind][index]![1]
    return of_column === 'whole' || of_column === 'time' ? BigInt(String(value)) : value
  })
}

/** In the order of MOVED_COLUMNS. */
export function insertedRow(kind: Moved, row: MovedRow): unknown[] {
  return row.map((value, index) => {
    const of_column = MOVED_COLUMNS[kind][index]![1]
    if (of_column === 'time') return timeText(value as bigint)
    if (of_column === 'id') return value ?? NOBODY
    return typeof value === 'bigint' ? String(value) : value
  })
}

/** The same text on every engine. */
function compared([name, kind]: MovedColumn): string {
  switch (kind) {
    case 'time':
      return `toString(toUnixTimestamp64Micro("${name}"))`
    case 'text':
      return `ifNull(concat(toString(length("${name}")), ':', "${name}"), '-')`
    case 'flag':
      return `toString(toUInt8("${name}"))`
    case 'id':
    case 'whole':
    case 'small':
      return `toString("${name}")`
    default:
      return kind satisfies never
  }
}

/** How many rows, and the sum over the halves of their digests: it wraps around by itself. */
export function digestSql(kind: Moved): string {
  const text = `concat(${MOVED_COLUMNS[kind].map(compared).join(", ',', ")})`
  return `count(), sum(reinterpretAsUInt64(substring(MD5(${text}), 9, 8)))`
}

export const BLOCKS = {
  select: `SELECT intDiv(seq - 1, ${BLOCK}) AS block, min(seq), max(seq), ${digestSql('events')}`,
  order: 'GROUP BY block ORDER BY block',
}
