// Queries out of files, as teams keep them: SQL texts, and JSON as PostHog's API gives it.
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { errorCode } from '../../lib/error-code.ts'
import { isObject } from '../../lib/json-object.ts'
import { UserError } from '../command.ts'

export type SavedQuery = {
  file: string
  /** What the query is called there; null for one of an SQL file. */
  name: string | null
  /** As the query route takes it, as far as the file goes. */
  query: unknown
  /** Lines and columns before it, where its text is a part of the file. */
  at: { line: number; column: number } | null
}

export async function readSavedQueries(file: string): Promise<SavedQuery[]> {
  const text = await readText(file)
  return /\.json$/i.test(file) ? queriesOfJson(file, parsed(file, text)) : queriesOfSql(file, text)
}

async function readText(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).replace(/^\ufeff/, '')
  } catch (error) {
    throw new UserError(`${file} cannot be read: ${errorCode(error) ?? String(error)}`)
  }
}

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UserError(`${file} is no JSON`)
  }
}

/** Texts, names in quotes and comments, in which a semicolon ends nothing. */
const PARTS = /'(?:[^'\\]|\\[^]|'')*'|"(?:[^"\\]|\\[^])*"|`(?:[^`\\]|\\[^])*`|--[^\n]*|\/\*[^]*?\*\/|;/g
const COMMENTS = /--[^\n]*|\/\*[^]*?\*\//g

function queriesOfSql(file: string, text: string): SavedQuery[] {
  const ends = [...text.matchAll(PARTS)].flatMap(({ 0: part, index }) => (part === ';' ? [index] : []))
  return [...ends, text.length].flatMap((end, index) => {
    const start = index === 0 ? 0 : ends[index - 1]! + 1
    const query = text.slice(start, end).trimStart()
    if (query.replaceAll(COMMENTS, '').trim() === '') return []
    return [{ file, name: null, query: { kind: 'HogQLQuery', query }, at: placeIn(text, end - query.length) }]
  })
}

/** Line and column of an offset, from 1. */
export function placeIn(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset)
  const line = before.split('\n').length
  return { line, column: offset - before.lastIndexOf('\n') }
}

/** A query, an insight, a list of them, or a page of PostHog's listings. */
function queriesOfJson(file: string, content: unknown): SavedQuery[] {
  const list = isObject(content) && Array.isArray(content.results) ? content.results : content
  const items: unknown[] = Array.isArray(list) ? list : [list]
  return items.map((item, index) => {
    const name = nameOf(item) ?? (items.length === 1 ? basename(file) : `#${index + 1}`)
    return { file, name, query: queryOf(item), at: null }
  })
}

const NAMES = ['name', 'derived_name', 'short_id', 'id'] as const

function nameOf(item: unknown): string | null {
  if (!isObject(item)) return null
  for (const name of NAMES.map((key) => item[key])) {
    if ((typeof name === 'string' && name !== '') || typeof name === 'number') return String(name)
  }
  return null
}

/** What has a `kind` is the query itself; elsewhere it lies under `query`. A text is HogQL. */
function queryOf(item: unknown): unknown {
  const query = isObject(item) && !('kind' in item) ? item.query : item
  return typeof query === 'string' ? { kind: 'HogQLQuery', query } : query
}
