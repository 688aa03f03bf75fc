// Properties of events in columns of their own, beside `properties`. A file has those that were wanted when it was
// written; from the others the same property is read out of the JSON, so that it is the same text everywhere.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { AskedProperty } from '../../event-store.ts'
import { jsonPath } from '../json-path.ts'
import { EVENT_COLUMNS } from './events.ts'
import type { Segment } from './manifest.ts'
import { readParquet, textLiteral } from './parquet.ts'
import { testForTexts } from './text-test.ts'
import { EMPTY_MODE } from './vectors.ts'

/** Rows with the columns of events, and the properties that have columns there. */
export type Part = { sql: string; columns: readonly string[] }

export const EVENT_NAMES = EVENT_COLUMNS.map(([name]) => `"${name}"`).join(', ')

/** A digest: a name of any bytes and any length makes a column, and names that differ by case make two. */
export function columnOf(property: string): string {
  return `x_${createHash('sha256').update(property).digest('hex').slice(0, 32)}`
}

/** Neighbours are one part when they have columns for the same ones of the properties. */
export function partsOf(
  folder: string,
  segments: readonly Segment[],
  properties: readonly string[],
): readonly Part[] {
  const runs: { files: string[]; columns: readonly string[] }[] = []
  for (const { file, columns: all = [] } of segments) {
    const columns = properties.filter((property) => all.includes(property))
    const last = runs.at(-1)
    if (last && JSON.stringify(last.columns) === JSON.stringify(columns)) last.files.push(join(folder, file))
    else runs.push({ files: [join(folder, file)], columns })
  }
  return runs.map(({ files, columns }) => ({ sql: readParquet(files), columns }))
}

/** All rows as a file holds them, with columns for these properties. */
export function selectStored(parts: readonly Part[], properties: readonly string[]): string {
  const asked = properties.map((property) => ({ property, column: columnOf(property) }))
  // An empty row has no JSON.
  const json = `CASE WHEN person_mode < ${EMPTY_MODE} THEN properties END`
  return parts.map((part) => selectPart(part, asked, json, '')).join(' UNION ALL ')
}

/** Events, with the properties that a question asks for. */
export function selectAsked(parts: readonly Part[], asked: readonly AskedProperty[]): string {
  const where = ` WHERE person_mode < ${EMPTY_MODE}`
  return parts.map((part) => selectPart(part, asked, 'properties', where)).join(' UNION ALL ')
}

/**
 * The same in one scan, with the columns that all files have: rows come in the same order and portions whichever those are,
 * so an export gives the same bytes.
 */
export function selectExported(
  folder: string,
  segments: readonly Segment[],
  asked: readonly AskedProperty[],
): string {
  const files = segments.map(({ file }) => join(folder, file))
  const columns = asked
    .map(({ property }) => property)
    .filter((property) => segments.every(({ columns: all = [] }) => all.includes(property)))
  return selectAsked([{ sql: readParquet(files), columns }], asked)
}

/** The engine copies what reads the JSON to each place that tests one of its values, with all of the names in it. */
const MAX_TOGETHER = 16

/** What has no column is read out of the JSON, several properties in one pass. */
function selectPart(part: Part, asked: readonly AskedProperty[], json: string, where: string): string {
  const stored = new Set<string>()
  const extracted: string[] = []
  const valueOf = ({ property, values = [] }: AskedProperty): string => {
    if (part.columns.includes(property)) {
      stored.add(columnOf(property))
      return columnOf(property)
    }
    const test = testForTexts(values)
    if (test !== null) return `CASE WHEN ${test} THEN ${extract(json, [property])}[1] END`
    if (!extracted.includes(property)) extracted.push(property)
    const place = extracted.indexOf(property)
    return `extracted${Math.floor(place / MAX_TOGETHER)}[${(place % MAX_TOGETHER) + 1}]`
  }
  const list = asked.map((each) => `${valueOf(each)} AS ${each.column}`)
  const passes = chunksOf(extracted, MAX_TOGETHER).map(
    (some, index) => `${extract(json, some)} AS extracted${index}`,
  )
  const inner = [EVENT_NAMES, ...stored, ...passes].join(', ')
  return `SELECT ${[EVENT_NAMES, ...list].join(', ')} FROM (SELECT ${inner} FROM ${part.sql}${where})`
}

/** A list of their texts. */
function extract(json: string, properties: readonly string[]): string {
  const paths = properties.map((property) => textLiteral(jsonPath([property])))
  return `json_extract_string(${json}, [${paths.join(', ')}])`
}

function chunksOf<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  )
}
