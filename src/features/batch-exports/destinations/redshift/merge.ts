// From the stage into the table: out of the stage goes what the table has already, out of the table what the stage has
// newer, and the rest of the stage goes in.
import type { Model, OutputColumn } from '../../definition.ts'
import type { RunFacts } from '../destination.ts'
import { isNewer, versionsIn } from '../newer.ts'
import { quoted, quotedList } from '../sql-table/identifiers.ts'
import type { Session } from '../sql-table/session.ts'
import { KEYS, type Table } from '../sql-table/table.ts'
import { STAGE } from './insert.ts'

export type Move = {
  session: Session
  table: Table
  columns: readonly OutputColumn[]
  run: Pick<RunFacts, 'model' | 'is_repair' | 'told_apart_by'>
  /** No row of the stage can be in the table. */
  is_clear: boolean
  has_uuid: boolean
}

export async function moveRows({ session, table, columns, run, is_clear, has_uuid }: Move): Promise<void> {
  const names = columns.map(({ name }) => name)
  const { model, is_repair } = run
  const key = ['uuid', ...run.told_apart_by.filter((name) => names.includes(name))]
  if (model !== 'events') await replaceOlder(session, table, names, { model, is_repair })
  else if (is_repair) await removeEvents(session, table, key)
  else if (has_uuid && !is_clear) await dropKnownEvents(session, table, names, key)
  const values = columns.map(({ name }) =>
    table.types.get(name) === 'super' ? `JSON_PARSE(${quoted(name)})` : quoted(name),
  )
  await session.run(
    `INSERT INTO ${table.name} (${quotedList(names)}) SELECT ${values.join(', ')} FROM ${STAGE}`,
  )
}

/** However often they are there and whatever became of them: they come again as they were. */
async function removeEvents(session: Session, table: Table, key: readonly string[]): Promise<void> {
  await session.run(
    `DELETE FROM ${table.name} USING ${STAGE} stage WHERE ${isSame(table.name, 'stage', key)}`,
  )
}

const isSame = (one: string, other: string, key: readonly string[]) =>
  key.map((name) => `${one}.${quoted(name)} = ${other}.${quoted(name)}`).join(' AND ')

/** An event keeps its timestamp, so only the time that the stage spans is searched. */
async function dropKnownEvents(
  session: Session,
  table: Table,
  names: readonly string[],
  key: readonly string[],
): Promise<void> {
  const within = names.includes('timestamp')
    ? `AND (there."timestamp" IS NULL OR there."timestamp" >= (SELECT min("timestamp") FROM ${STAGE})
            AND there."timestamp" <= (SELECT max("timestamp") FROM ${STAGE}))`
    : ''
  await session.run(
    `DELETE FROM ${STAGE} USING ${table.name} there WHERE ${isSame(STAGE, 'there', key)} ${within}`,
  )
}

/** A repair also replaces the same version. */
async function replaceOlder(
  session: Session,
  table: Table,
  names: readonly string[],
  { model, is_repair }: { model: Exclude<Model, 'events'>; is_repair: boolean },
): Promise<void> {
  const same = KEYS[model]!.map((key) => `${STAGE}.${quoted(key)} = there.${quoted(key)}`)
  const versions = versionsIn(names, { model, is_repair }).map(quoted)
  if (versions.length > 0) {
    const newer = isNewer(versions, 'there', STAGE)
    const equal = versions.map((version) => `there.${version} = ${STAGE}.${version}`).join(' AND ')
    const stays = [...same, is_repair ? newer : `(${newer} OR ${equal})`]
    await session.run(`DELETE FROM ${STAGE} USING ${table.name} there WHERE ${stays.join(' AND ')}`)
  }
  const replaced = KEYS[model]!.map((key) => `${table.name}.${quoted(key)} = stage.${quoted(key)}`)
  await session.run(`DELETE FROM ${table.name} USING ${STAGE} stage WHERE ${replaced.join(' AND ')}`)
}
