// How a run's rows join those of a warehouse's table: what tells rows apart, which of two is kept, and the statement
// that says so. For BigQuery, Snowflake and Databricks, which differ in names and types only.
import type { Model } from '../../definition.ts'
import { Refused, type RunFacts } from '../destination.ts'
import { notReplaceable } from '../not-replaceable.ts'

export type MergeKey = {
  /** Empty: rows cannot be told apart, all are added. */
  columns: readonly string[]
  /** A row takes the place of the one that is there when one of these is higher; empty: what is there stays. */
  versions: readonly string[]
}

const KEYS: Record<Model, MergeKey> = {
  events: { columns: ['uuid'], versions: [] },
  persons: {
    columns: ['team_id', 'distinct_id'],
    versions: ['person_version', 'person_distinct_id_version'],
  },
  sessions: { columns: ['team_id', 'session_id'], versions: ['end_timestamp'] },
}

/**
 * `columns` are those that both the run and the table have. `keeps_time`: the table's column for the time of an event has a
 * value that is the same as the run's, by the type that it has.
 */
export function mergeKey(
  { model, is_told_apart_by_time }: Pick<RunFacts, 'model' | 'is_told_apart_by_time'>,
  columns: readonly string[],
  keeps_time: boolean,
): MergeKey {
  const key = KEYS[model]
  const missing = [...key.columns, ...key.versions].filter((column) => !columns.includes(column))
  if (missing.length === 0) {
    const is_by_time = is_told_apart_by_time && keeps_time && columns.includes('timestamp')
    return is_by_time ? { ...key, columns: [...key.columns, 'timestamp'] } : key
  }
  if (model === 'events') return { columns: [], versions: [] }
  throw new Refused(
    `The table lacks the columns that tell ${model} apart: ${missing.join(', ')}. Add them, or export to a new table.`,
  )
}

export type Merge = {
  /** As SQL. */
  table: string
  /** As SQL, with the columns as the table has them. */
  source: string
  columns: readonly string[]
  key: MergeKey
  quote(name: string): string
  /** A condition on the table's rows `t` that holds for all that could be the same; spares reading the others. */
  within?: string
}

/** The statement by which a run's rows come into the table. */
export function takeRows({ model, is_repair }: Pick<RunFacts, 'model' | 'is_repair'>, merge: Merge): string {
  if (is_repair) return replaceRows(merge)
  return model === 'events' ? insertMissing(merge) : mergeRows(merge)
}

/** Adds the rows that are not there. Unlike MERGE it does not get in the way of other writers. */
function insertMissing(merge: Merge): string {
  const names = merge.columns.map(merge.quote)
  const all = `INSERT INTO ${merge.table} (${names.join(', ')}) SELECT ${names.map((name) => `s.${name}`).join(', ')} FROM ${merge.source} AS s`
  if (merge.key.columns.length === 0) return all
  return `${all} WHERE NOT EXISTS (SELECT 1 FROM ${merge.table} AS t WHERE ${isSame(merge)})`
}

/** Adds the rows that are not there, and replaces those of which it has a newer version. */
export function mergeRows(merge: Merge): string {
  const names = merge.columns.map(merge.quote)
  const newer = merge.key.versions
    .map(merge.quote)
    .map((name) => `t.${name} IS NULL OR s.${name} > t.${name}`)
    .join(' OR ')
  const update = `UPDATE SET ${names.map((name) => `${name} = s.${name}`).join(', ')}`
  return [
    `MERGE INTO ${merge.table} AS t USING ${merge.source} AS s ON ${isSame(merge)}`,
    ...(newer === '' ? [] : [`WHEN MATCHED AND (${newer}) THEN ${update}`]),
    `WHEN NOT MATCHED THEN INSERT (${names.join(', ')}) VALUES (${names.map((name) => `s.${name}`).join(', ')})`,
  ].join(' ')
}

/**
 * For a repair. Whatever the table has under the keys of these rows goes, however often it is there and whatever became
 * of it, and the rows come again as they were; only a newer version of a row stays.
 *
 * One statement, so that nobody sees the table without the rows, also where there are no transactions: each row comes
 * twice, once to delete what it matches and once to be inserted. Of rows with one key only one deletes: BigQuery refuses
 * two that match the same row.
 */
export function replaceRows(merge: Merge): string {
  const { table, columns, key, quote } = merge
  if (key.columns.length === 0) throw notReplaceable(table)
  const names = columns.map(quote)
  const keys = key.columns.map((name) => `r.${quote(name)}`)
  const twice = '(SELECT TRUE AS longshore_is_added UNION ALL SELECT FALSE AS longshore_is_added) AS c'
  const source = `(SELECT ${names.map((name) => `r.${name}`).join(', ')}, c.longshore_is_added FROM ${notOutdated(merge)} CROSS JOIN ${twice} WHERE TRUE QUALIFY c.longshore_is_added OR ROW_NUMBER() OVER (PARTITION BY ${keys.join(', ')}, c.longshore_is_added ORDER BY ${keys.join(', ')}) = 1)`
  return [
    `MERGE INTO ${table} AS t USING ${source} AS s ON ${equal(merge, 't', 's')} AND NOT s.longshore_is_added`,
    'WHEN MATCHED THEN DELETE',
    `WHEN NOT MATCHED AND s.longshore_is_added THEN INSERT (${names.join(', ')}) VALUES (${names.map((name) => `s.${name}`).join(', ')})`,
  ].join(' ')
}

/** As `r`: the rows of which the table has no newer version. */
function notOutdated(merge: Merge): string {
  const { table, source, columns, key, quote } = merge
  if (key.versions.length === 0) return `${source} AS r`
  const versions = key.versions.map(quote)
  const newer = [
    equal(merge, 'n', 's'),
    ...versions.map((name) => `n.${name} >= s.${name}`),
    `(${versions.map((name) => `n.${name} > s.${name}`).join(' OR ')})`,
  ]
  const names = columns.map(quote).map((name) => `s.${name}`)
  return `(SELECT ${names.join(', ')} FROM ${source} AS s LEFT JOIN ${table} AS n ON ${newer.join(' AND ')} WHERE n.${quote(key.columns[0]!)} IS NULL) AS r`
}

function equal({ key, quote }: Merge, one: string, other: string): string {
  return key.columns.map((name) => `${one}.${quote(name)} = ${other}.${quote(name)}`).join(' AND ')
}

function isSame(merge: Merge): string {
  return [equal(merge, 't', 's'), ...(merge.within === undefined ? [] : [merge.within])].join(' AND ')
}
