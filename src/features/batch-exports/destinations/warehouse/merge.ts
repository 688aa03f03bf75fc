// How a run's rows join those of a warehouse's table: what tells rows apart, which of two is kept, and the statement
// that says so. For BigQuery, Snowflake and Databricks, which differ in names and types only.
import type { Model } from '../../definition.ts'
import { Refused, type OwnColumn, type RunFacts } from '../destination.ts'
import { isNewer, NEEDED_VERSIONS, VERSIONS } from '../newer.ts'
import { notReplaceable } from '../not-replaceable.ts'

export type MergeKey = {
  /** Empty: rows cannot be told apart, all are added. */
  columns: readonly string[]
  /** Decide which of two rows is the newer one, which stays; empty: what is there stays. */
  versions: readonly string[]
  /** The same for a repair, which heals the other columns. */
  needed_versions: readonly string[]
}

const BY_NOTHING: MergeKey = { columns: [], versions: [], needed_versions: [] }

const KEYS: Record<Model, MergeKey> = {
  events: { ...BY_NOTHING, columns: ['uuid'] },
  persons: {
    columns: ['team_id', 'distinct_id'],
    versions: VERSIONS.persons,
    needed_versions: NEEDED_VERSIONS.persons,
  },
  sessions: {
    columns: ['team_id', 'session_id'],
    versions: VERSIONS.sessions,
    needed_versions: NEEDED_VERSIONS.sessions,
  },
}

/**
 * `columns` are those that both the run and the table have. `keeps`: the table has the value of the run in such a column, and
 * a row for each.
 */
export function mergeKey(
  { model, told_apart_by }: Pick<RunFacts, 'model' | 'told_apart_by'>,
  columns: readonly string[],
  keeps: (name: OwnColumn) => boolean,
): MergeKey {
  const key = KEYS[model]
  const missing = [...key.columns, ...key.needed_versions].filter((column) => !columns.includes(column))
  if (missing.length === 0) {
    const own = told_apart_by.filter((name) => columns.includes(name) && keeps(name))
    const versions = key.versions.filter((column) => columns.includes(column))
    return { ...key, columns: [...key.columns, ...own], versions }
  }
  if (model === 'events') return BY_NOTHING
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
  const versions = merge.key.versions.map(merge.quote)
  const newer =
    versions.length === 0
      ? ''
      : [...versions.map((name) => `t.${name} IS NULL`), isNewer(versions, 's', 't')].join(' OR ')
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
  if (key.needed_versions.length === 0) return `${source} AS r`
  const versions = key.needed_versions.map(quote)
  const newer = [equal(merge, 'n', 's'), isNewer(versions, 'n', 's')]
  const names = columns.map(quote).map((name) => `s.${name}`)
  return `(SELECT ${names.join(', ')} FROM ${source} AS s LEFT JOIN ${table} AS n ON ${newer.join(' AND ')} WHERE n.${quote(key.columns[0]!)} IS NULL) AS r`
}

function equal({ key, quote }: Merge, one: string, other: string): string {
  return key.columns.map((name) => `${one}.${quote(name)} = ${other}.${quote(name)}`).join(' AND ')
}

function isSame(merge: Merge): string {
  return [equal(merge, 't', 's'), ...(merge.within === undefined ? [] : [merge.within])].join(' AND ')
}
