// The statements that a run to ClickHouse consists of. Each takes effect by itself: there are no transactions.
import { LEDGER_TABLE } from '../ledger-name.ts'
import type { ClickHouseConfig } from './kind.ts'
import { literal, nameOf } from './names.ts'
import { RUN_COLUMN } from './new-table.ts'

type Place = Pick<ClickHouseConfig, 'database'>

/** Takes the parameter database. */
export const COUNT_DATABASES = 'SELECT count() FROM system.databases WHERE name = {database:String}'

/** An entry that is made twice counts once. */
export function createLedger(place: Place): string {
  return `CREATE TABLE IF NOT EXISTS ${nameOf(place, LEDGER_TABLE)} (\`run_id\` UUID, \`batch_export_id\` UUID, \`table_name\` String, \`rows\` UInt64, \`finished_at\` DateTime('UTC')) ENGINE = ReplacingMergeTree ORDER BY \`run_id\``
}

/** Takes the parameter run_id. */
export function findInLedger(place: Place): string {
  return `SELECT \`rows\` FROM ${nameOf(place, LEDGER_TABLE)} WHERE \`run_id\` = {run_id:UUID} LIMIT 1`
}

/** Takes the parameters run_id, batch_export_id, table_name and rows. */
export function enterInLedger(place: Place): string {
  return `INSERT INTO ${nameOf(place, LEDGER_TABLE)} SELECT {run_id:UUID}, {batch_export_id:UUID}, {table_name:String}, {rows:UInt64}, now('UTC')`
}

/** Takes the parameters database and table. */
export const FIND_TABLE =
  'SELECT engine, engine_full, storage_policy FROM system.tables WHERE database = {database:String} AND name = {table:String}'

/** Takes the parameters database and table. */
export const LIST_COLUMNS =
  'SELECT name, type, default_kind FROM system.columns WHERE database = {database:String} AND table = {table:String}'

export function createTestTable(table: string): string {
  return `CREATE TABLE ${table} (\`uuid\` UUID) ENGINE = MergeTree ORDER BY \`uuid\``
}

/** Nobody finds the table any more; returns once no statement uses it. */
export function dropTable(place: Place, table: string): string {
  return `DROP TABLE IF EXISTS ${nameOf(place, table)} SYNC`
}

/** Takes the parameters database and prefix. */
export const LIST_TABLES =
  'SELECT name FROM system.tables WHERE database = {database:String} AND startsWith(name, {prefix:String})'

/** Tables that were dropped and are still in use by a statement. Takes the parameters database and prefix. */
export const COUNT_DROPPED =
  'SELECT count() FROM system.dropped_tables WHERE database = {database:String} AND startsWith(table, {prefix:String})'

/** The user's table, as far as a stage must be like it. */
export type Target = {
  /** As SQL. */
  table: string
  /** How it is partitioned and ordered, as its definition has it: ClickHouse compares the words. */
  keys: string
  storage_policy: string
  /** The columns that tell whether the table has a row already; null where ClickHouse keeps the newer of two by itself. */
  key: readonly string[] | null
  /** Hashes a row's exported values, as SQL. */
  hash: string
  /** Whether `timestamp` is the time of the event, the same wherever the event turns up. */
  has_event_time: boolean
}

/** Loses no row as it merges, whatever the table's own engine does, and lets its parts be attached there. */
export function createStage(stage: string, { table, keys, storage_policy }: Target): string {
  return `CREATE TABLE ${stage} AS ${table} ENGINE = MergeTree ${keys} SETTINGS allow_nullable_key = 1, storage_policy = ${literal(storage_policy)}`
}

export function markStage(stage: string, run_id: string): string {
  return `ALTER TABLE ${stage} MODIFY COLUMN \`${RUN_COLUMN}\` MATERIALIZED toUUID(${literal(run_id)})`
}

/** Columns are found by their names in the file; what the table has besides gets its default. */
export function insertFile(stage: string): string {
  return `INSERT INTO ${stage} FORMAT Parquet`
}

export function countRows(table: string): string {
  return `SELECT count() FROM ${table}`
}

export function countMissing(stage: string, target: Target): string {
  return `SELECT count() FROM ${stage} WHERE ${tupleOf(target)} NOT IN (${keysInTable(stage, target)})`
}

export function dropPresent(stage: string, target: Target): string {
  return `ALTER TABLE ${stage} DELETE WHERE ${tupleOf(target)} IN (${keysInTable(stage, target)}) SETTINGS ${AT_ONCE}`
}

/** Deletions return when they are done, and may look into other tables. */
const AT_ONCE = 'mutations_sync = 2, allow_nondeterministic_mutations = 1'

/** For a repair: rows stay in the table that it has once, as they are. */
export function dropIntact(stage: string, target: Target): string {
  const { table, hash } = target
  const [names, key] = [namesOf(target), tupleOf(target)]
  return `ALTER TABLE ${stage} DELETE WHERE (${names}, ${hash}) IN (SELECT ${names}, any(${hash}) FROM ${table} WHERE ${key} IN (SELECT ${names} FROM ${stage}) GROUP BY ${names} HAVING count() = 1) SETTINGS ${AT_ONCE}`
}

/** For a repair: what the table has under the keys of the stage, whatever became of it. */
export function findKeys(stage: string, target: Target, limit: number): string {
  return `SELECT DISTINCT ${textsOf(target)} FROM ${target.table} WHERE ${tupleOf(target)} IN (SELECT ${namesOf(target)} FROM ${stage}) LIMIT ${limit}`
}

/**
 * Deletes nothing once the stage is gone: whoever dropped it has taken over the repair. The keys stand in the statement
 * because a deletion that reads a table fails for ever when that table is dropped, and holds up all later ones.
 */
export function deleteKeys(
  place: Place,
  stage: string,
  target: Target,
  keys: readonly (readonly string[])[],
): string {
  const list = keys.map((values) => inTuple(values.map(literal)))
  const isThere = `(SELECT count() FROM system.tables WHERE database = ${literal(place.database)} AND name = ${literal(stage)}) > 0`
  return `ALTER TABLE ${target.table} DELETE WHERE ${conditionOf(target)} IN (${list.join(', ')}) AND ${isThere} SETTINGS ${AT_ONCE}, mutations_execute_subqueries_on_initiator = 0`
}

/** Deletions by attempts at a run that are not done. Takes the parameters database, table and prefix. */
export const COUNT_DELETIONS =
  'SELECT count() FROM system.mutations WHERE database = {database:String} AND table = {table:String} AND is_done = 0 AND position(command, {prefix:String}) > 0'

/** Only those of the stage: the others are not kept in memory. */
function keysInTable(stage: string, target: Target): string {
  const { table, has_event_time } = target
  const bound = (edge: string) => `(SELECT ${edge}(\`timestamp\`) FROM ${stage})`
  const within = has_event_time ? ` AND \`timestamp\` BETWEEN ${bound('min')} AND ${bound('max')}` : ''
  return `SELECT ${namesOf(target)} FROM ${table} WHERE ${tupleOf(target)} IN (SELECT ${namesOf(target)} FROM ${stage})${within}`
}

const inTuple = (parts: readonly string[]) => (parts.length === 1 ? parts[0]! : `(${parts.join(', ')})`)
const quotedKey = ({ key }: Target) => key!.map((name) => `\`${name}\``)
const namesOf = (target: Target) => quotedKey(target).join(', ')
const tupleOf = (target: Target) => inTuple(quotedKey(target))

/** Also for times: each of their types has its own texts, and gives the same ones again. */
const textsOf = (target: Target) =>
  quotedKey(target)
    .map((name) => `toString(${name})`)
    .join(', ')
/** The uuid alone is read as it is: its column may be one that the table is ordered by. */
const conditionOf = (target: Target) => (target.key!.length === 1 ? namesOf(target) : `(${textsOf(target)})`)

/** All rows of the stage become visible at once, without being written again. Done twice it would add them twice. */
export function attach(stage: string, table: string): string {
  return `ALTER TABLE ${table} ATTACH PARTITION ALL FROM ${stage}`
}

/** Takes the parameter run_id. */
export function countOfRun({ table }: Target): string {
  return `SELECT count() FROM ${table} WHERE \`${RUN_COLUMN}\` = {run_id:UUID}`
}
