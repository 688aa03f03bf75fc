// From the journal into files: new events become a loose file, or are put together with loose ones to files of whole row
// groups and one loose rest; new copies become a file, or are put together with the newest ones.
import type { DuckDBConnection } from '@duckdb/node-api'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildIdFilter } from '../journal/id-filter.ts'
import { rows } from '../statements.ts'
import {
  COPIES_ROW_GROUP,
  createChanges,
  describeCopies,
  gatherChanges,
  levelsToMerge,
  newestRows,
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
import type { NewFiles } from './new-files.ts'
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
  files: NewFiles,
  manifest: Manifest,
  { upto, events, copies }: Gathered,
  { isTidy }: FoldOptions,
): Promise<Folded> {
  return {
    folded: upto ?? manifest.folded,
    ...(await foldEvents(connection, files, manifest, events, isTidy)),
    copies: await foldCopies(connection, files, manifest.copies, copies),
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
  files: NewFiles,
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
      const paths = gone.map(({ file }) => join(files.folder, file))
      await connection.run(`INSERT INTO ${TABLE} SELECT ${EVENT_NAMES} FROM ${readParquet(paths)}`)
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
      made.push(await writeSegment(connection, files, first_row, part, wantedColumns(manifest)))
    return { gone, made, vector: appended.vector }
  } finally {
    await connection.run(`DROP TABLE ${TABLE}`)
  }
}

const sum = (segments: readonly Segment[]) => segments.reduce((total, segment) => total + segment.rows, 0)

async function writeSegment(
  connection: DuckDBConnection,
  files: NewFiles,
  first_row: number,
  { from, to }: { from: number; to: number },
  columns: readonly string[],
): Promise<Segment> {
  const within = `FROM ${TABLE} WHERE rowid >= ${from} AND rowid < ${to}`
  const file = files.name()
  const source = { sql: `(SELECT ${EVENT_NAMES} ${within})`, columns: [] }
  await writeParquet(connection, selectStored([source], columns), join(files.folder, file), ROW_GROUP)
  const described = { first_row: first_row + from, rows: to - from, within, columns }
  return describeSegment(connection, files.folder, file, described)
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
  files: NewFiles,
  copies: Manifest['copies'],
  gathered: Gathered['copies'],
): Promise<Manifest['copies']> {
  const changes = gatherChanges(gathered)
  const now = gathered.at(-1)?.changed_at ?? 0n
  const next: Record<CopyKind, readonly Level[]> = { ...copies }
  for (const kind of Object.keys(changes) as CopyKind[]) {
    const levels = copies[kind]
    const changed = [...changes[kind].values()].flat()
    if (changed.length === 0) continue
    const merged = levelsToMerge(levels, changes[kind].size, now)
    const sources = levels.slice(0, merged).map(({ file }) => readParquet([join(files.folder, file)]))
    await createChanges(connection, TABLE, kind, changed)
    try {
      const select = newestRows(kind, [TABLE, ...sources], merged === levels.length)
      next[kind] = [...(await writeLevel(connection, files, kind, select)), ...levels.slice(merged)]
    } finally {
      await connection.run(`DROP TABLE ${TABLE}`)
    }
  }
  return next
}

/** None when nothing is left. */
async function writeLevel(
  connection: DuckDBConnection,
  files: NewFiles,
  kind: CopyKind,
  select: string,
): Promise<Level[]> {
  const file = files.name()
  const path = join(files.folder, file)
  await writeParquet(connection, select, path, COPIES_ROW_GROUP)
  const [described] = await rows(connection, describeCopies(kind, readParquet([path])))
  const [copies, gone_since] = described!
  if (Number(copies) === 0) return []
  const level = { file, copies: Number(copies), bytes: statSync(path).size }
  return [gone_since === null ? level : { ...level, gone_since: String(gone_since) }]
}
