// Tables of Redshift as verification reads them back. Tests run on PostgreSQL, with a STRTOL and a SUPER of their own.
import { stringifyExactly } from '../../../../lib/exact-json.ts'
import type { ColumnKind } from '../../../../platform/event-store/export-rows.ts'
import { withoutRefused } from '../sql-table/clean-json.ts'
import { quoted } from '../sql-table/identifiers.ts'
import type { SqlInspection } from '../sql-table/inspect.ts'
import type { Dialect } from '../warehouse/digest-sql.ts'
import { MAX_VALUE_BYTES } from './insert.ts'

/** As the catalogs name types. Those that cut values, such as `timestamp(3) …`, are not compared. */
const KINDS: Record<string, ColumnKind> = {
  'character varying': 'text',
  text: 'text',
  super: 'json',
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
  text_type: 'VARCHAR',
  integer_type: 'BIGINT',
  bucket_parameter: '$1',
  kindOf: (type) => KINDS[type.replace(/^character varying\(\d+\)$/, 'text')] ?? null,
  // EXTRACT gives whole seconds here, and leaves them out of what it gives of smaller parts.
  micros: (value) => {
    const second = `EXTRACT(EPOCH FROM DATE_TRUNC('second', CAST(${value} AS TIMESTAMP)))`
    return `CAST(${second} AS BIGINT) * 1000000 + CAST(TO_CHAR(CAST(${value} AS TIMESTAMP), 'US') AS BIGINT)`
  },
  json: (value) => `JSON_SERIALIZE(${value})`,
  md5: (text) => `MD5(${text})`,
  numberOf: (digits) => `STRTOL(${digits}, 16)`,
  moment: (text) => `CAST('${text}' AS TIMESTAMPTZ)`,
  max_text_bytes: MAX_VALUE_BYTES,
}

export const redshiftInspection: SqlInspection = {
  dialect,
  fold: (name) => name.toLowerCase(),
  // SUPER keeps the order of members.
  spellJson(value) {
    const json = withoutRefused(stringifyExactly(value))
    return Buffer.byteLength(json) > MAX_VALUE_BYTES ? null : json
  },
}
