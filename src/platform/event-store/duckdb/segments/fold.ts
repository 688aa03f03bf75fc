// From the journal into files: new events become a loose file, or are put together with loose ones to files of whole row
// groups and one loose rest; new copies become a file, or are put together with the newest ones.
import type { DuckDBConnection } from '@duckdb/node-api'
import { randomUUID } from 'node:crypto'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildIdFilter } from '../journal/id-filter.ts'
import { rows } from '../statements.ts'
import {
  COPIES_ROW_GROUP,
  countCopies,
  createChanges,
  gatherChanges,
  hasDeleted,
  levelsToMerge,
  newestRows,
  type Changes,
} from './copies.ts'
import { EVENT_NAMES, selectStored } from './columns.ts'
import { appendEvents, EVENT_COLUMNS, ROW_GROUP, type PlacedEvents } from './events.ts'
import {
  wantedColumns,
  type CopyKind,
  type Level,
  type Manifest,
  type Segment,
  type SegmentChange,
} from './manifest.ts'
import { readParquet, writeParquet } from './parquet.ts'
import { readIds } from './read-ids.ts'
import type { Gathered } from './sections.ts'
import { createTable } from './table.ts'
import { EMPTY_MODE } from './vectors.ts'

/** More would make questions slow. */
const MAX_LOOSE = 8

const TABLE = 'fold'

/** `isTidy` asks for at most one loose file, which is what exports read. */
export type FoldOptions = { isTidy: boolean }

export type Folded = SegmentChange & Pick<Manifest, 'folded' | 'vector' | 'copies'>

/** Writes files and gives what is to be written down of them. */
export async function fold(
  connection: DuckDBConnection,
  folder: string,
  manifest: Manifest,
  { upto, events, copies }: Gathered,
  { isTidy }: FoldOptions,
): Promise<Folded> {
  return {
    folded: upto ?? manifest.folded,
    ...(await foldEvents(connection, folder, manifest, events, isTidy)),
    copies: await foldCopies(connection, folder, manifest.copies, gatherChanges(copies)),
  }
}

/** Files of whole row groups, and what comes after them. */
export function splitSegments(segments: readonly Segment[]): {
  settled: readonly Segment[]
  loose: readonly Segment[]
} {
  const first = segments.findIndex(({ rows: count }) => count % ROW_GROUP !== 0)
  const end = first === -1 ? segments.length : first
  return { settled: segments.slice(0, end), loose: segments.slice(end) }
}

async function foldEvents(
  connection: DuckDBConnection,
  folder: string,
  manifest: Manifest,
  events: PlacedEvents,
  isTidy: boolean,
): Promise<SegmentChange & Pick<Manifest, 'vector'>> {
  const { segments, vector } = manifest
  const { settled, loose } = splitSegments(segments)
  const together = sum(loose) + events.seq.length
  const isGathered = (isTidy && loose.length > 0) || loose.length >= MAX_LOOSE || together >= ROW_GROUP
  if (events.seq.length === 0 && !(isTidy && loose.length > 1)) return { gone: [], made: [], vector }
  const gone = isGathered ? loose : []
  await connection.run(createTable(TABLE, EVENT_COLUMNS))
  try {
    if (gone.length > 0) {
      const files = gone.map(({ file }) => join(folder, file))
      await connection.run(`INSERT INTO ${TABLE} SELECT ${EVENT_NAMES} FROM ${readParquet(files)}`)
    }
    const appended = await appendEvents(connection, TABLE, events, vector)
    const total = sum(gone) + appended.rows
    const first_row = sum(isGathered ? settled : segments)
    const whole = isGathered ? total - (total % ROW_GROUP) : 0
    const parts = [
      { from: 0, to: whole },
      { from: whole, to: total },
    ].filter(({ from, to }) => to > from)
    const made: Segment[] = []
    for (const part of parts)
      made.push(await writeSegment(connection, folder, first_row, part, wantedColumns(manifest)))
    return { gone, made, vector: appended.vector }
  } finally {
    await connection.run(`DROP TABLE ${TABLE}`)
  }
}

const sum = (segments: readonly Segment[]) => segments.reduce((total, segment) => total + segment.rows, 0)

async function writeSegment(
  connection: DuckDBConnection,
  folder: string,
  first_row: number,
  { from, to }: { from: number; to: number },
  columns: readonly string[],
): Promise<Segment> {
  const within = `FROM ${TABLE} WHERE rowid >= ${from} AND rowid < ${to}`
  const file = `${randomUUID()}.parquet`
  const source = { sql: `(SELECT ${EVENT_NAMES} ${within})`, columns: [] }
  await writeParquet(connection, selectStored([source], columns), join(folder, file), ROW_GROUP)
  const described = { first_row: first_row + from, rows: to - from, within, columns }
  return describeSegment(connection, folder, file, described)
}

type Described = Pick<Segment, 'first_row' | 'rows'> & { within: string; columns: readonly string[] }

/** Writes the filter for its ids; `within` are the rows of the file. */
export async function describeSegment(
  connection: DuckDBConnection,
  folder: string,
  file: string,
  { first_row, rows: count, within, columns }: Described,
): Promise<Segment> {
  const stored = `${within} AND person_mode < ${EMPTY_MODE}`
  const [bounds] = await rows(
    connection,
    `SELECT min(seq) - 1, max(seq), epoch_us(min(timestamp)), epoch_us(max(timestamp)), count(*) ${stored}`,
  )
  const [seq_from, seq_to, first_time, last_time, ids] = bounds!
  const filter = buildIdFilter(await readIds(connection, `SELECT uuid ${stored}`), Number(ids))
  const path = join(folder, `${file}.ids`)
  writeFileSync(path, filter, { mode: 0o600, flush: true })
  return {
    file,
    first_row,
    rows: count,
    seq_from: Number(seq_from),
    seq_to: Number(seq_to),
    first_time: String(first_time),
    last_time: String(last_time),
    filter_bytes: filter.length,
    columns,
  }
}

async function foldCopies(
  connection: DuckDBConnection,
  folder: string,
  copies: Manifest['copies'],
  changes: Changes,
): Promise<Manifest['copies']> {
  const next: Record<CopyKind, readonly Level[]> = { ...copies }
  for (const kind of Object.keys(changes) as CopyKind[]) {
    const levels = copies[kind]
    const changed = [...changes[kind].values()].flat()
    if (changed.length === 0) continue
    const merged = hasDeleted(changed) ? levels.length : levelsToMerge(levels, changes[kind].size)
    const files = levels.slice(0, merged).map(({ file }) => readParquet([join(folder, file)]))
    await createChanges(connection, TABLE, kind, changed)
    try {
      const select = newestRows(kind, [TABLE, ...files], merged === levels.length)
      next[kind] = [...(await writeLevel(connection, folder, select)), ...levels.slice(merged)]
    } finally {
      await connection.run(`DROP TABLE ${TABLE}`)
    }
  }
  return next
}

/** None when nothing is left. */
async function writeLevel(connection: DuckDBConnection, folder: string, select: string): Promise<Level[]> {
  const file = `${randomUUID()}.parquet`
  const path = join(folder, file)
  await writeParquet(connection, select, path, COPIES_ROW_GROUP)
  const [counted] = await rows(connection, countCopies(readParquet([path])))
  const copies = Number(counted![0])
  return copies === 0 ? [] : [{ file, copies, bytes: statSync(path).size }]
}
