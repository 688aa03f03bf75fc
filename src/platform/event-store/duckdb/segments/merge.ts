// Many files of about the same size become one: a question opens few files, however long events have been coming in.
import type { DuckDBConnection } from '@duckdb/node-api'
import { statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { partsOf, selectStored } from './columns.ts'
import { ROW_GROUP } from './events.ts'
import { describeSegment, splitSegments } from './fold.ts'
import type { Manifest, Segment } from './manifest.ts'
import type { NewFiles } from './new-files.ts'
import { readParquet, writeParquet } from './parquet.ts'

const TOGETHER = 8
/** Files of more than some four million rows stay as they are. */
const MAX_TIER = 3

const tierOf = ({ rows }: Segment) => Math.floor(Math.log(rows / ROW_GROUP) / Math.log(TOGETHER) + 1e-9)

/** The first neighbours that are to become one; null when there are none. */
export function findNeighbours({ segments }: Manifest): readonly Segment[] | null {
  const { settled } = splitSegments(segments)
  for (let start = 0; start + TOGETHER <= settled.length; start++) {
    const some = settled.slice(start, start + TOGETHER)
    const tier = tierOf(some[0]!)
    if (tier < MAX_TIER && some.every((segment) => tierOf(segment) <= tier)) return some
  }
  return null
}

/** What is being merged stays until the new file stands, and ingestion goes on beside it. */
export function hasRoomToMerge(folder: string, neighbours: readonly Segment[]): boolean {
  const { bavail, bsize } = statfsSync(folder)
  const needed = neighbours.reduce((bytes, { file }) => bytes + statSync(join(folder, file)).size, 0)
  return bavail * bsize >= 2 * needed
}

export async function mergeSegments(
  connection: DuckDBConnection,
  files: NewFiles,
  neighbours: readonly Segment[],
  columns: readonly string[],
): Promise<Segment> {
  const { folder } = files
  const file = files.name()
  const select = selectStored(partsOf(folder, neighbours, columns), columns)
  await writeParquet(connection, select, join(folder, file), ROW_GROUP)
  return describeSegment(connection, folder, file, {
    first_row: neighbours[0]!.first_row,
    rows: neighbours.reduce((total, { rows }) => total + rows, 0),
    within: `FROM ${readParquet([join(folder, file)])} WHERE true`,
    columns,
  })
}
