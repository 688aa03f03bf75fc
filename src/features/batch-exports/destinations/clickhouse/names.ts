// Names and texts as ClickHouse's SQL has them.
import { Refused } from '../destination.ts'
import type { ClickHouseConfig } from './kind.ts'

export function nameOf({ database }: Pick<ClickHouseConfig, 'database'>, table: string): string {
  return `${quote(database)}.${quote(table)}`
}

export function quote(name: string): string {
  if (/\p{Cc}/u.test(name))
    throw new Refused('A column name has a control character. Name the column with AS in the query.')
  return `\`${escaped(name, '`')}\``
}

export function literal(text: string): string {
  return `'${escaped(text, "'")}'`
}

function escaped(text: string, mark: string): string {
  return text.replaceAll('\\', String.raw`\\`).replaceAll(mark, `\\${mark}`)
}
