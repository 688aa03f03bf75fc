// What a project has in files: a list that is replaced as a whole, so that files and list never disagree. A file that is
// on no list was left by a process that was killed, or is still read by somebody.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PositionRange } from '../../event-store.ts'
import { sync } from '../durable.ts'
import type { Vector } from './vectors.ts'

/** A Parquet file of events, in order of position. Its rows are numbered over all files of the project, from 0 on. */
export type Segment = {
  file: string
  first_row: number
  rows: number
  seq_from: number
  seq_to: number
  /** First and last time of its events, in microseconds since 1970, as text. */
  first_time: string
  last_time: string
  /** Size of the file with the filter for its ids, `<file>.ids`. */
  filter_bytes: number
  /** Properties that have a column of their own in it (columns.ts). */
  columns?: readonly string[]
}

/** A property that new files have a column for, and the last day on which a question read it, counted from 1970. */
export type KeptColumn = { property: string; day: number }

/** A Parquet file with so many copies of persons, distinct ids or groups. */
export type Level = {
  file: string
  copies: number
  bytes: number
  /** When the first of the deletions that it tells of was made, in microseconds since 1970, as text. */
  gone_since?: string
}

export type CopyKind = 'persons' | 'distinct_ids' | 'groups'

export type Manifest = {
  /** Rises with each change. */
  version: number
  /** Records of the journal up to this number are in the files. */
  folded: number
  segments: readonly Segment[]
  /** How the last vector of its rows is filled. */
  vector: Vector
  /** Newest first: what stands in one counts instead of what stands in those after it. */
  copies: Readonly<Record<CopyKind, readonly Level[]>>
  columns?: readonly KeptColumn[]
  /** Positions without an event, in order: events that came from another store have some. */
  holes?: readonly PositionRange[]
}

export const EMPTY_MANIFEST: Manifest = {
  version: 0,
  folded: 0,
  segments: [],
  vector: { rows: 0, bytes: 0 },
  copies: { persons: [], distinct_ids: [], groups: [] },
}

export const MANIFEST_NAME = 'manifest.json'

export function projectsFolder(folder: string): string {
  return join(folder, 'projects')
}

export function projectFolder(folder: string, project_id: number): string {
  return join(projectsFolder(folder), String(project_id))
}

/** The last one that was given, whether or not there is an event at it: it is never given again. */
export function lastPosition({ segments, holes = [] }: Manifest): number {
  return Math.max(segments.at(-1)?.seq_to ?? 0, holes.at(-1)?.to ?? 0)
}

/** Properties that its files are to have columns for. */
export function wantedColumns({ columns = [] }: Manifest): string[] {
  return columns.map(({ property }) => property)
}

export function readManifest(folder: string, project_id: number): Manifest {
  try {
    return JSON.parse(
      readFileSync(join(projectFolder(folder, project_id), MANIFEST_NAME), 'utf8'),
    ) as Manifest
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return EMPTY_MANIFEST
    throw error
  }
}

/** What it names is on the disk already. */
export function writeManifest(folder: string, project_id: number, manifest: Manifest): void {
  const path = join(projectFolder(folder, project_id), MANIFEST_NAME)
  const draft = `${path}.new`
  writeFileSync(draft, JSON.stringify(manifest), { mode: 0o600, flush: true })
  renameSync(draft, path)
  sync(projectFolder(folder, project_id))
}

/** Files whose rows stand in others from now on, and those others. */
export type SegmentChange = { gone: readonly Segment[]; made: readonly Segment[] }

/** What was made stands where what is gone stood, or at the end. */
export function changeSegments(segments: readonly Segment[], { gone, made }: SegmentChange): Segment[] {
  const files = new Set(gone.map(({ file }) => file))
  const first = segments.findIndex(({ file }) => files.has(file))
  const kept = segments.filter(({ file }) => !files.has(file))
  // Its rows stand in another file by now: the project would have them twice.
  if (kept.length + files.size !== segments.length) throw new Error('a file is no longer on the list')
  return kept.toSpliced(first === -1 ? kept.length : first, 0, ...made)
}

export const segmentFiles = ({ file }: Pick<Segment, 'file'>): string[] => [file, `${file}.ids`]

export function filesOf({ segments, copies }: Manifest): string[] {
  const levels = Object.values(copies).flat()
  return [...segments.flatMap(segmentFiles), ...levels.map(({ file }) => file)]
}
