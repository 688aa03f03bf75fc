// Where the properties of a question are read: from columns of their own, or out of how much JSON.
import type { DuckDBConnection } from '@duckdb/node-api'
import { join } from 'node:path'
import type { AskedProperty, PropertySource } from '../../event-store.ts'
import { countEvents } from '../../holes.ts'
import type { Manifest, Segment } from '../segments/manifest.ts'
import { textLiteral } from '../segments/parquet.ts'
import { rows } from '../statements.ts'

export async function explainSources(
  connection: DuckDBConnection,
  folder: string,
  { segments, holes = [] }: Manifest,
  asked: readonly AskedProperty[],
): Promise<PropertySource[]> {
  const eventsIn = (some: readonly Segment[]) =>
    some.reduce((sum, { seq_from, seq_to }) => sum + countEvents({ from: seq_from, to: seq_to }, holes), 0)
  const properties = [...new Set(asked.map(({ property }) => property))]
  const sizes = properties.length === 0 ? new Map() : await jsonSizes(connection, folder, segments)
  return properties.map((property) => {
    const without = segments.filter(({ columns = [] }) => !columns.includes(property))
    const from_json = eventsIn(without)
    return {
      property,
      from_column: eventsIn(segments) - from_json,
      from_json,
      json_bytes: without.reduce((sum, { file }) => sum + (sizes.get(file) ?? 0), 0),
    }
  })
}

/** Bytes of the JSON of each file, unpacked, as its footer tells. */
async function jsonSizes(
  connection: DuckDBConnection,
  folder: string,
  segments: readonly Segment[],
): Promise<Map<string, number>> {
  if (segments.length === 0) return new Map()
  const paths = segments.map(({ file }) => textLiteral(join(folder, file)))
  const found = await rows(
    connection,
    `SELECT file_name, sum(total_uncompressed_size) FROM parquet_metadata([${paths.join(', ')}])
       WHERE path_in_schema = 'properties' GROUP BY file_name`,
  )
  return new Map(found.map(([path, bytes]) => [String(path).slice(folder.length + 1), Number(bytes)]))
}
