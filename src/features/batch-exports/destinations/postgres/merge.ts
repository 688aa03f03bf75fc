// From the stage into the table, in one statement.
import type { Model } from '../../definition.ts'
import { Refused, type OwnColumn } from '../destination.ts'
import { isNewer, versionsIn } from '../newer.ts'
import { quoted, quotedList } from '../sql-table/identifiers.ts'
import type { Session } from '../sql-table/session.ts'
import { KEYS, type Table } from '../sql-table/table.ts'

export const STAGE = 'pg_temp."longshore_stage"'

/** Events that cannot be there yet, or that nothing tells apart. */
export async function insertAll(session: Session, table: Table, columns: readonly string[]): Promise<void> {
  await session.run(
    `INSERT INTO ${table.name} (${quotedList(columns)}) SELECT ${quotedList(columns)} FROM ${STAGE}`,
  )
}

/** What tells events of a table apart. */
export type EventKey = {
  /** The uuid, and what else may be used. */
  columns: readonly string[]
  /** Columns of a unique index that takes one row alone of several: the owner has made it. */
  unique: readonly string[] | null
}

/** A unique index on uuid leaves one row for each, whatever is not in it. */
export async function findEventKey(
  session: Session,
  table: Table,
  columns: readonly string[],
  told_apart_by: readonly OwnColumn[],
): Promise<EventKey> {
  const keys = await listEventKeys(session, table, columns)
  const unique = keys.find(hasNoTime) ?? keys[0] ?? null
  const isKept = (name: string) => keys.every((key) => key.includes(name))
  return {
    columns: ['uuid', ...told_apart_by.filter((name) => columns.includes(name) && isKept(name))],
    unique,
  }
}

/** `columns` are those that a run brings. */
export async function hasOneRowForUuid(
  session: Session,
  table: Table,
  columns: readonly string[],
): Promise<boolean> {
  return (await listEventKeys(session, table, columns)).some(hasNoTime)
}

const hasNoTime = (key: readonly string[]) => !key.includes('timestamp')

/** Unique keys that two events of one uuid may run into, the narrowest first. Another column makes each row another one. */
async function listEventKeys(
  session: Session,
  table: Table,
  columns: readonly string[],
): Promise<readonly (readonly string[])[]> {
  const keys = await listUniqueKeys(session, table)
  return keys
    .filter((key) => key.includes('uuid') && key.every((name) => columns.includes(name)))
    .toSorted((one, other) => one.length - other.length)
}

/** Every row of these events goes, however often it is there and whatever became of it, and comes again as it was. */
export async function replaceAll(
  session: Session,
  table: Table,
  columns: readonly string[],
  key: EventKey,
): Promise<void> {
  await session.run(`DELETE FROM ${table.name} there USING ${STAGE} stage WHERE ${isSame(key)}`)
  await session.run(`${insertion(table, columns)} ${passingOver(key)}`)
}

const insertion = (table: Table, columns: readonly string[]) =>
  `INSERT INTO ${table.name} (${quotedList(columns)}) SELECT ${quotedList(columns)} FROM ${STAGE} stage`
const isSame = ({ columns }: EventKey) =>
  columns.map((name) => `there.${quoted(name)} = stage.${quoted(name)}`).join(' AND ')
const passingOver = ({ unique }: EventKey) =>
  unique === null ? '' : `ON CONFLICT (${quotedList(unique)}) DO NOTHING`

/** Events that are not there yet. An event keeps its timestamp, so only the time that the stage spans is searched. */
export async function insertNew(
  session: Session,
  table: Table,
  columns: readonly string[],
  key: EventKey,
): Promise<void> {
  const insert = insertion(table, columns)
  if (key.unique?.length === 1) {
    await session.run(`${insert} ${passingOver(key)}`)
    return
  }
  const span = columns.includes('timestamp') ? await spanOfStage(session) : null
  const type = table.types.get('timestamp')
  const within = span === null ? '' : `AND there."timestamp" BETWEEN $1::${type} AND $2::${type}`
  await session.run(
    `${insert} WHERE NOT EXISTS (SELECT FROM ${table.name} there WHERE ${isSame(key)} ${within}) ${passingOver(key)}`,
    span === null ? [] : [span.first, span.last],
  )
}

async function spanOfStage(session: Session): Promise<{ first: string; last: string } | null> {
  const [span] = await session.rows<{ first: string | null; last: string | null; none: string }>(
    `SELECT min("timestamp")::text AS first, max("timestamp")::text AS last,
            count(*) FILTER (WHERE "timestamp" IS NULL) AS none
       FROM ${STAGE}`,
  )
  if (span === undefined || span.first === null || span.last === null || span.none !== '0') return null
  return { first: span.first, last: span.last }
}

/** Persons and sessions: one row for each, and the newer one stays. A repair also replaces the same version. */
export async function upsert(
  session: Session,
  table: Table,
  columns: readonly string[],
  { model, is_repair }: { model: Exclude<Model, 'events'>; is_repair: boolean },
): Promise<void> {
  const key = KEYS[model]!
  const changed = columns.filter((column) => !key.includes(column)).map(quoted)
  const versions = versionsIn(columns, { model, is_repair }).map(quoted)
  const newer = versions.map((column) => `there.${column} IS NULL`)
  if (versions.length > 0) newer.push(isNewer(versions, 'excluded', 'there'))
  if (is_repair && versions.length > 0)
    newer.push(versions.map((column) => `there.${column} = excluded.${column}`).join(' AND '))
  await session.run(
    `INSERT INTO ${table.name} AS there (${quotedList(columns)}) SELECT ${quotedList(columns)} FROM ${STAGE}
     ON CONFLICT (${quotedList(key)}) DO UPDATE
        SET ${changed.map((column) => `${column} = excluded.${column}`).join(', ')}
      ${newer.length === 0 ? '' : `WHERE ${newer.join(' OR ')}`}`,
  )
}

export async function assertKey(session: Session, table: Table, model: Model): Promise<void> {
  const key = KEYS[model]
  const wanted = key?.toSorted().join()
  if (
    key === null ||
    (await listUniqueKeys(session, table)).some((each) => each.toSorted().join() === wanted)
  )
    return
  throw new Refused(
    `The table ${table.name} has no primary key on (${key.join(', ')}). Add one, or export to a new table.`,
  )
}

/** What ON CONFLICT can go by: no part of the rows left out, no expressions, checked at once. */
async function listUniqueKeys(session: Session, table: Table): Promise<string[][]> {
  const keys = await session.rows<{ columns: string[] }>(
    `SELECT array_agg(a.attname::text) AS columns
       FROM pg_index i
       JOIN pg_attribute a
         ON a.attrelid = i.indrelid AND a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1])
      WHERE i.indrelid = $1::regclass AND i.indisunique AND i.indimmediate AND i.indisvalid
        AND i.indpred IS NULL AND i.indexprs IS NULL
      GROUP BY i.indexrelid`,
    [table.name],
  )
  return keys.map(({ columns }) => columns)
}
