// The differences that stay, as docs/hogql.md tells them to users: one row of its table each, with both answers.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Answer } from './cases.ts'

export type KnownDifference = { theirs: string; ours: string }

const DOCUMENT = join(process.cwd(), 'docs/hogql.md')
/** `| code | ClickHouse | here | why |` */
const ROW = /^\| `(.+?)` +\| (.+?) +\| (.+?) +\| .+ \|$/gm

export function knownDifferences(): ReadonlyMap<string, KnownDifference> {
  const rows = readFileSync(DOCUMENT, 'utf8').matchAll(ROW)
  return new Map(
    [...rows].map(([, key = '', theirs = '', ours = '']) => [
      plain(key),
      { theirs: plain(theirs), ours: plain(ours) },
    ]),
  )
}

/** Cells of a table have their bars escaped, and answers stand in code. */
const plain = (cell: string) => cell.replaceAll('\\|', '|').replaceAll(/^`|`$/g, '')

/** As the table shows it. */
export function shown(answer: Answer): string {
  if ('error' in answer) return 'fails'
  const [first = []] = answer.rows
  const isOne = answer.rows.length === 1 && first.length === 1
  return JSON.stringify(isOne ? first[0] : answer.rows)
}
