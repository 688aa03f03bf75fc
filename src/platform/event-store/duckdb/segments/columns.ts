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

/** What has no column is read out of the JSON, all of it in one pass. */
function selectPart(part: Part, asked: readonly AskedProperty[], json: string, where: string): string {
  const hasColumn = ({ property }: AskedProperty) => part.columns.includes(property)
  const stored = [...new Set(asked.filter(hasColumn).map(({ property }) => columnOf(property)))]
  const tested = new Map(
    asked.flatMap((each) => {
      const test = hasColumn(each) ? null : testForTexts(each.values ?? [])
      return test === null ? [] : [[each.column, test] as const]
    }),
  )
  const extracted = [
    ...new Set(
      asked.filter((each) => !hasColumn(each) && !tested.has(each.column)).map(({ property }) => property),
    ),
  ]
  const valueOf = (each: AskedProperty) => {
    if (hasColumn(each)) return columnOf(each.property)
    const test = tested.get(each.column)
    if (test !== undefined) return `CASE WHEN ${test} THEN ${extract(json, path(each.property))} END`
    return extracted.length === 1 ? 'extracted' : `extracted[${extracted.indexOf(each.property) + 1}]`
  }
  const paths = extracted.map(path)
  const one_pass =
    paths.length === 0
      ? []
      : [`${extract(json, paths.length === 1 ? paths[0]! : `[${paths.join(', ')}]`)} AS extracted`]
  const inner = [EVENT_NAMES, ...stored, ...one_pass].join(', ')
  const outer = [EVENT_NAMES, ...asked.map((each) => `${valueOf(each)} AS ${each.column}`)].join(', ')
  return `SELECT ${outer} FROM (SELECT ${inner} FROM ${part.sql}${where})`
}

const path = (property: string) => textLiteral(jsonPath([property]))
const extract = (json: string, paths: string) => `json_extract_string(${json}, ${paths})`
