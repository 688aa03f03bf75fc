// How ClickHouse spells values, for the statements that hash rows.
import type { ColumnKind } from '../../../../platform/event-store/export-rows.ts'
import type { Dialect } from '../warehouse/digest-sql.ts'
import { quote } from './names.ts'

/** What wraps a type without changing its values. */
const WRAPPED = /^(?:Nullable|LowCardinality)\((.+)\)$/

const KINDS: readonly [RegExp, ColumnKind][] = [
  [/^(String|UUID)$/, 'text'],
  [/^U?Int\d+$/, 'integer'],
  [/^Float64$/, 'float'],
  [/^Bool$/, 'boolean'],
  // Fewer digits than microseconds have would be other values than were delivered.
  [/^DateTime64\([6-9]\b/, 'timestamp'],
]

export const dialect: Dialect = {
  quote,
  text_type: 'Nullable(String)',
  integer_type: 'Nullable(Int64)',
  bucket_parameter: '{bucket:String}',
  kindOf,
  micros: (value) => `toUnixTimestamp64Micro(${value})`,
  // Always texts: the type JSON drops members that are null, and so is not compared.
  json: (value) => value,
  md5: (text) => `lower(hex(MD5(${text})))`,
  numberOf: (digits) => `reinterpretAsUInt32(reverse(unhex(${digits})))`,
  moment: (text) => `fromUnixTimestamp64Micro(${BigInt(Date.parse(text)) * 1000n}, 'UTC')`,
  chr: 'char',
}

/** What a row that lacks the column gets in a type that cannot be null, in the spelling of verification. */
const FILLED: Partial<Record<ColumnKind, string>> = {
  text: '',
  integer: '0',
  float: '0:0',
  boolean: 'false',
  timestamp: '0',
}

/** A default of the user's is not known here: then digests differ, and rows decide. */
export function spellUnfilled(type: string): string | null {
  if (/Nullable\(/.test(type)) return null
  if (type === 'UUID') return '00000000-0000-0000-0000-000000000000'
  const kind = kindOf(type)
  return kind === null ? null : (FILLED[kind] ?? null)
}

function kindOf(type: string): ColumnKind | null {
  const inner = WRAPPED.exec(type)?.[1]
  if (inner !== undefined) return kindOf(inner)
  return KINDS.find(([pattern]) => pattern.test(type))?.[1] ?? null
}
