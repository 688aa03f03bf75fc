// A table as verification reads it back, whichever warehouse it is in.
import { createHash } from 'node:crypto'
import type { ColumnKind } from '../../../../platform/event-store/export-rows.ts'
import { parseExactly } from '../../../../lib/exact-json.ts'
import type { OutputColumn } from '../../definition.ts'
import type { TableInspection } from '../destination.ts'
import { digestOf } from './digest.ts'
import {
  digestStatement,
  maxValueBytes,
  rowsStatement,
  type ComparedTable,
  type Dialect,
} from './digest-sql.ts'
import { spellValue } from './spell.ts'

export type InspectedTable = {
  dialect: Dialect
  /** As SQL. */
  name: string
  /** By column, as the table has them; empty where there is no table. */
  types: ReadonlyMap<string, string>
  /** False unless told. */
  has_one_row_for_uuid?: boolean
  /** How the table has the name of one of our columns. */
  fold(name: string): string
  /** How JSON is spelled in a column of this kind; null where the delivery leaves it out. */
  spellJson(value: unknown, kind: 'json' | 'text'): string | null
  /** How it spells what a row has in a column of this type that it came without; null unless told. */
  spellUnfilled?(type: string): string | null
  /** Values as texts; the bucket is the parameter of the statement. */
  ask(statement: string, bucket: string | null): Promise<readonly (readonly (string | null)[])[]>
}

export function inspectTable(
  { dialect, name, types, has_one_row_for_uuid = false, fold, spellJson, spellUnfilled, ask }: InspectedTable,
  columns: readonly OutputColumn[],
): TableInspection {
  const kindInTable = (column: OutputColumn) => comparedAs(column, types.get(fold(column.name)), dialect)
  const compared = columns.filter((column) => kindInTable(column) !== null)
  const table: ComparedTable = {
    dialect,
    name,
    types,
    columns: compared.map((column) => ({ name: fold(column.name), kind: kindInTable(column)! })),
    has_uuid: compared.some((column) => fold(column.name) === 'uuid'),
  }
  const kinds = new Map(compared.map((column) => [column.name, kindInTable(column)!]))
  const limit = maxValueBytes(dialect, compared.length)
  const spell = (column: OutputColumn, value: unknown): string | null => {
    if (value === undefined) return spellUnfilled?.(types.get(fold(column.name)) ?? '') ?? null
    if (value === null) return null
    if (column.kind !== 'json') return shortened(spellValue(column.kind, value), limit)
    const json = spellJson(value, kinds.get(column.name) === 'json' ? 'json' : 'text')
    return json === null ? null : shortened(json, limit)
  }
  return {
    columns: compared,
    lacking: types.size === 0 ? [] : columns.map(({ name }) => name).filter((name) => !types.has(fold(name))),
    has_one_row_for_uuid,
    spell,
    async digest(scope) {
      if (compared.length === 0) return new Map()
      const buckets = await ask(digestStatement(table, scope), null)
      return new Map(
        buckets.map(([bucket, rows, first, second]) => [bucket ?? '', digestOf(rows!, first!, second!)]),
      )
    },
    async rows(scope, bucket) {
      if (compared.length === 0 || (!table.has_uuid && bucket !== '')) return []
      const rows = await ask(rowsStatement(table, scope), table.has_uuid ? bucket : null)
      return rows.map((row) => row.map((cell, index) => respelled(compared[index]!, cell, spell, limit)))
    },
  }
}

/** As which kind a column is compared; null where what is written there cannot be told from what is read. */
function comparedAs({ kind }: OutputColumn, type: string | undefined, dialect: Dialect): ColumnKind | null {
  const found = type === undefined ? null : dialect.kindOf(type)
  const isText = found === 'text' && (kind === 'json' || kind === 'integer')
  return found === kind || isText ? found : null
}

/**
 * JSON of the table in our own spelling: what an engine prints otherwise than we foretell makes digests differ, and then
 * the rows must not.
 */
function respelled(
  column: OutputColumn,
  cell: string | null,
  spell: TableInspection['spell'],
  limit: number | null,
): string | null {
  if (cell === null || column.kind !== 'json') return cell === null ? null : shortened(cell, limit)
  try {
    return spell(column, parseExactly(cell))
  } catch {
    return shortened(cell, limit)
  }
}

function shortened(text: string, limit: number | null): string {
  if (limit === null || Buffer.byteLength(text) <= limit) return text
  return createHash('md5').update(text).digest('hex')
}
