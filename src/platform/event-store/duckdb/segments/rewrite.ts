// A file of events written again with other columns: the same rows in the same order and row groups, under another name.
import type { DuckDBConnection } from '@duckdb/node-api'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { sync } from '../durable.ts'
import { partsOf, selectStored } from './columns.ts'
import { ROW_GROUP } from './events.ts'
import type { Segment } from './manifest.ts'
import { writeParquet } from './parquet.ts'

/** `file` is the name of the new one. */
export type Rewrite = { segment: Segment; columns: readonly string[]; file: string }

export async function rewriteSegment(
  connection: DuckDBConnection,
  folder: string,
  { segment, columns, file }: Rewrite,
): Promise<Segment> {
  const path = join(folder, file)
  const select = selectStored(partsOf(folder, [segment], columns), columns)
  await writeParquet(connection, select, path, ROW_GROUP)
  copyFileSync(join(folder, `${segment.file}.ids`), `${path}.ids`)
  sync(`${path}.ids`)
  return { ...segment, file, columns }
}

/** The first file that has other columns than it is to have. */
export function findOutdated(segments: readonly Segment[], wanted: readonly string[]): Segment | undefined {
  return segments.find(
    ({ columns = [] }) =>
      columns.length !== wanted.length || columns.some((property) => !wanted.includes(property)),
  )
}
