// The statements that read a table back: one that counts and hashes all rows by bucket, and one that gives the rows of a
// bucket. The same for every warehouse but for what its dialect says. Our side of the same spelling is in spell.ts.
import type { ColumnKind } from '../../../../platform/event-store/export-rows.ts'
import type { TableScope } from '../destination.ts'
import { ABSENT, BUCKET_LENGTH, PRESENT, SEPARATOR_CODE, UNOWNED } from './digest.ts'
import { FLOAT_UNIT } from './spell.ts'

/** Arguments and answers are SQL. */
export type Dialect = {
  quote(name: string): string
  /** Types for casts. */
  text_type: string
  integer_type: string
  /** What stands for the name of the bucket that is asked for. */
  bucket_parameter: string
  /** What values of a type are; null where they cannot be compared. */
  kindOf(type: string): ColumnKind | null
  /** A timestamp as whole microseconds since 1970. */
  micros(value: string): string
  /** JSON as text. */
  json(value: string): string
  /** In small letters. */
  md5(text: string): string
  /** Eight hexadecimal digits as a number. */
  numberOf(digits: string): string
  /** A moment, given as text, for comparison with values of the type. */
  moment(text: string, type: string): string
  /** What ends the rows that are hashed, where an engine would otherwise hash each of them once for every sum. */
  once?: string
  /** The function that gives a character by its code; CHR unless told. */
  chr?: string
  /** The longest text there is. Values are hashed one by one where all of them together might be longer. */
  max_text_bytes?: number
}

export type ComparedColumn = {
  /** As the table has it. */
  name: string
  /** In the table. */
  kind: ColumnKind
}

type HashedRows = Pick<ComparedTable, 'dialect' | 'columns'>

export type ComparedTable = {
  dialect: Dialect
  /** As SQL. */
  name: string
  /** By column, as the table has them. */
  types: ReadonlyMap<string, string>
  columns: readonly ComparedColumn[]
  /** Rows have a uuid that puts them into buckets. */
  has_uuid: boolean
}

/** Answers with the bucket, the number of its rows and the two sums, all as texts. */
export function digestStatement(table: ComparedTable, scope: TableScope): string {
  const { dialect, name } = table
  const [bucket, hash] = [dialect.quote('bucket'), dialect.quote('hash')]
  const asText = (value: string) => `CAST(${value} AS ${dialect.text_type})`
  const sum = (from: number) => asText(`SUM(${dialect.numberOf(`SUBSTRING(${hash}, ${from}, 8)`)})`)
  const hashed = `SELECT ${bucketSql(table, scope)} AS ${bucket}, ${rowHash(table)} AS ${hash} FROM ${name}${where(scopeConditions(table, scope))}${dialect.once ?? ''}`
  return `SELECT ${bucket}, ${asText('COUNT(*)')} AS ${dialect.quote('row_count')}, ${sum(1)} AS ${dialect.quote('first_sum')}, ${sum(9)} AS ${dialect.quote('second_sum')} FROM (${hashed}) AS hashed GROUP BY ${bucket}`
}

/** The hash of a row, as `rowText` of digest.ts has it. */
export function rowHash(table: HashedRows): string {
  const { dialect, columns } = table
  const separator = `${dialect.chr ?? 'CHR'}(${SEPARATOR_CODE})`
  const marked = columns.map(
    (column) => `COALESCE('${PRESENT}' || ${shortened(table, column)}, '${ABSENT}') || ${separator}`,
  )
  return dialect.md5(marked.join(' || '))
}

/** Takes the name of the bucket as its parameter where there are buckets. */
export function rowsStatement(table: ComparedTable, scope: TableScope): string {
  const { dialect, columns, name, has_uuid } = table
  const list = columns.map(
    (column, index) => `${spelled(dialect, column)} AS ${dialect.quote(`c${index + 1}`)}`,
  )
  const inBucket = has_uuid ? [`${bucketSql(table, scope)} = ${dialect.bucket_parameter}`] : []
  return `SELECT ${list.join(', ')} FROM ${name}${where([...scopeConditions(table, scope), ...inBucket])}`
}

function bucketSql(table: ComparedTable, scope: TableScope): string {
  const { quote, text_type } = table.dialect
  const uuid = `LOWER(CAST(${quote('uuid')} AS ${text_type}))`
  const bucket = table.has_uuid
    ? `COALESCE(RIGHT(${uuid}, ${BUCKET_LENGTH}), '')`
    : `CAST('' AS ${text_type})`
  const team_id = ownerColumn(table, scope)
  return team_id === null ? bucket : `CASE WHEN ${team_id} IS NULL THEN '${UNOWNED}' ELSE '' END || ${bucket}`
}

/** The column that rows of one project are found by; null where they are not asked for, or cannot be found. */
function ownerColumn({ dialect, types }: ComparedTable, { project_id }: TableScope): string | null {
  const is_there = dialect.kindOf(types.get('team_id') ?? '') === 'integer'
  return project_id !== null && is_there ? dialect.quote('team_id') : null
}

function where(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
}

function scopeConditions(table: ComparedTable, scope: TableScope): string[] {
  const { dialect, types } = table
  const { project_id, times } = scope
  const conditions: string[] = []
  const team_id = ownerColumn(table, scope)
  if (team_id !== null) conditions.push(`(${team_id} = ${project_id} OR ${team_id} IS NULL)`)
  if (times !== null && dialect.kindOf(types.get('timestamp') ?? '') === 'timestamp') {
    const at = dialect.quote('timestamp')
    const moment = (date: Date) => dialect.moment(momentText(date), types.get('timestamp')!)
    const ranges = times.map(({ from, to }) => `${at} >= ${moment(from)} AND ${at} < ${moment(to)}`)
    conditions.push(ranges.length === 0 ? '1 = 0' : `(${ranges.join(' OR ')})`)
  }
  return conditions
}

/** What every warehouse can read. */
const [FIRST_MOMENT, LAST_MOMENT] = ['0001-01-01', '9999-12-31'].map((day) => Date.parse(day)) as [
  number,
  number,
]

function momentText(date: Date): string {
  const within = new Date(Math.min(Math.max(date.getTime(), FIRST_MOMENT), LAST_MOMENT))
  return within.toISOString().replace('T', ' ').replace('Z', '+00:00')
}

/** A value as text, null where it is null. */
function spelled(dialect: Dialect, { name, kind }: ComparedColumn): string {
  const { quote, text_type, integer_type, micros, json } = dialect
  const value = quote(name)
  const whole = (number: string) => `CAST(CAST(${number} AS ${integer_type}) AS ${text_type})`
  switch (kind) {
    case 'text':
      return `CAST(${value} AS ${text_type})`
    case 'integer':
      return whole(value)
    case 'boolean':
      return `CASE WHEN ${value} THEN 'true' WHEN NOT ${value} THEN 'false' END`
    case 'timestamp':
      return `CAST(${micros(value)} AS ${text_type})`
    case 'json':
      return json(value)
    case 'float':
      return spelledFloat(value, whole)
  }
}

/**
 * The whole part, and the rest in steps of 2^-60; of larger ones both in units of 2^60. Splitting, and multiplying by powers
 * of two, is exact: engines round and print floats differently.
 */
function spelledFloat(value: string, whole: (number: string) => string): string {
  const parts = (size: string) =>
    `${whole(`FLOOR(${size})`)} || ':' || ${whole(`FLOOR((${size} - FLOOR(${size})) * ${FLOAT_UNIT})`)}`
  const size = `ABS(${value})`
  const spelling = `CASE WHEN ${size} < 1e18 THEN ${parts(size)} WHEN ${size} < 1e36 THEN ${parts(`(${size} / ${FLOAT_UNIT})`)} || 'u' WHEN ${value} IS NOT NULL THEN 'huge' END`
  return `CASE WHEN ${value} < 0 THEN '-' ELSE '' END || ${spelling}`
}

function shortened({ dialect, columns }: HashedRows, column: ComparedColumn): string {
  const value = spelled(dialect, column)
  const limit = maxValueBytes(dialect, columns.length)
  return limit === null
    ? value
    : `CASE WHEN OCTET_LENGTH(${value}) > ${limit} THEN ${dialect.md5(value)} ELSE ${value} END`
}

/** Up to so many bytes a value is hashed as it is; null: always. */
export function maxValueBytes({ max_text_bytes }: Dialect, columns: number): number | null {
  return max_text_bytes === undefined ? null : Math.floor(max_text_bytes / columns) - MARKS_BYTES
}

/** Before and after a value. */
const MARKS_BYTES = 2
