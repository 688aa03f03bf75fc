// HogQL that ClickHouse and DuckDB answer alike. Cases lie in text files, one to a line: an expression over one event, or
// a whole query over the fixture. What ClickHouse answered is recorded beside them.
import { join } from 'node:path'
import { readdirSync, readFileSync } from 'node:fs'

export type Case = {
  /** The line: what recorded answers are found by. */
  key: string
  hogql: string
  timezone: string
  is_query: boolean
}

/** Rows of an answer with ClickHouse's names of the types, or ClickHouse's word for why there is none. */
export type Answer = { types: readonly string[]; rows: readonly (readonly unknown[])[] } | { error: string }

const FOLDER = join(process.cwd(), 'src/hogql/differential')

export const AREAS = readdirSync(join(FOLDER, 'cases')).map((name) => name.replace('.txt', ''))

export const recordedFile = (area: string) => join(FOLDER, 'recorded', `${area}.json`)

export function casesOf(area: string): Case[] {
  const lines = readFileSync(join(FOLDER, 'cases', `${area}.txt`), 'utf8').split('\n')
  return lines.filter((line) => line.trim() !== '' && !line.startsWith('#')).map(caseOf)
}

/** `Europe/Berlin: toHour(timestamp)` is asked in a project of that zone. */
function caseOf(line: string): Case {
  const [, timezone = 'UTC', hogql = line] = /^([A-Z]\w+\/\w+): (.*)$/.exec(line) ?? []
  return { key: line, hogql, timezone, is_query: /^(select|with)\b/i.test(hogql) }
}

export function recordedOf(area: string): Map<string, Answer> {
  try {
    return new Map(
      Object.entries(JSON.parse(readFileSync(recordedFile(area), 'utf8')) as Record<string, Answer>),
    )
  } catch {
    return new Map()
  }
}
