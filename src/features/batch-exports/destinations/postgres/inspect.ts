// Tables of PostgreSQL as verification reads them back.
import { stringifyExactly } from '../../../../lib/exact-json.ts'
import type { ColumnKind } from '../../../../platform/event-store/export-rows.ts'
import { withoutRefused } from '../sql-table/clean-json.ts'
import { quoted } from '../sql-table/identifiers.ts'
import type { SqlInspection } from '../sql-table/inspect.ts'
import type { Dialect } from '../warehouse/digest-sql.ts'
import { jsonbText } from './jsonb-text.ts'

/** As the catalogs name types. Those that cut values, such as `timestamp(3) …`, are not compared. */
const KINDS: Record<string, ColumnKind> = {
  'character varying': 'text',
  text: 'text',
  uuid: 'text',
  // Kept as it was written.
  json: 'text',
  jsonb: 'json',
  smallint: 'integer',
  integer: 'integer',
  bigint: 'integer',
  'double precision': 'float',
  boolean: 'boolean',
  'timestamp with time zone': 'timestamp',
  'timestamp without time zone': 'timestamp',
}

const dialect: Dialect = {
  quote: quoted,
  text_type: 'TEXT',
  integer_type: 'BIGINT',
  bucket_parameter: '$1',
  kindOf: (type) => KINDS[type.replace(/^character varying\(\d+\)$/, 'text')] ?? null,
  // An infinity that somebody wrote must not be the end of the statement.
  micros: (value) =>
    `CASE WHEN ISFINITE(${value}) THEN CAST(EXTRACT(EPOCH FROM ${value}) * 1000000 AS BIGINT) END`,
  json: (value) => `CAST(${value} AS TEXT)`,
  // The database may have another encoding.
  md5: (text) => `MD5(CONVERT_TO(${text}, 'UTF8'))`,
  numberOf: (digits) => `CAST(CAST('x' || ${digits} AS BIT(32)) AS BIGINT)`,
  moment: (text) => `CAST('${text}' AS TIMESTAMPTZ)`,
  // Keeps it from merging the two levels of the statement: half the CPU.
  once: ' OFFSET 0',
}

export const postgresInspection: SqlInspection = {
  dialect,
  fold: (name) => name,
  spellJson: (value, kind) => (kind === 'json' ? jsonbText(value) : withoutRefused(stringifyExactly(value))),
}
