// Whether one saved query would be answered: it goes the way of a question, to a store that holds nothing.
import { runInsight } from '../../features/events/insights/run.ts'
import { innermost, runRows } from '../../features/events/query/run.ts'
import { QueryBody } from '../../features/events/query/schema.ts'
import { parseSelect } from '../../hogql/parser.ts'
import { isObject } from '../../lib/json-object.ts'
import { emptyStore } from '../../platform/event-store/empty-store.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { validate } from '../../platform/http/validate.ts'
import { differencesIn } from './differences.ts'
import { placeIn, type SavedQuery } from './saved-queries.ts'

export type Verdict = {
  file: string
  name: string | null
  /** Where the fault is, or where the query begins in its file; from 1. */
  line: number | null
  column: number | null
  state: 'runs' | 'differs' | 'fails'
  details: string[]
}

const PROJECT = { id: 0, timezone: 'UTC' }

const NOTHING: Parameters<typeof runRows>[0] = {
  eventStore: emptyStore,
  now: () => new Date(),
  // Asked for the ids of a person alone, and checks name none.
  db: undefined as never,
}

export async function checkSavedQuery(saved: SavedQuery): Promise<Verdict> {
  const { file, name, query, at } = saved
  const verdict = { file, name, line: at?.line ?? null, column: at?.column ?? null }
  try {
    const hogql = await answered(query)
    const details = hogql === null ? [] : differencesIn(parseSelect(hogql))
    return { ...verdict, state: details.length > 0 ? 'differs' : 'runs', details }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { ...verdict, ...placeOf(error, saved), state: 'fails', details: [detailOf(error)] }
  }
}

/** The HogQL that was run for it. */
async function answered(given: unknown): Promise<string | null> {
  if (given === undefined || given === null)
    throw new ApiError('required', 'It has no query: PostHog shows older insights as filters alone.', null)
  const { query, attr } = innermost(validate(QueryBody, { query: given }).query)
  if (query.kind === 'HogQLQuery') return (await runRows(NOTHING, PROJECT, query, attr)).hogql
  if (query.kind === 'EventsQuery')
    return (await runRows(NOTHING, PROJECT, { ...query, personId: null }, attr)).hogql
  return (await runInsight(NOTHING, PROJECT, query, attr)).hogql
}

/** Without the place, which is told in lines. */
function detailOf({ attr, detail }: ApiError): string {
  const text = detail.replace(/ \(at character \d+\)(?=\.( |$))/, '')
  return attr === null || attr.endsWith('__query') ? text : `${attr}: ${text}`
}

function placeOf(error: ApiError, { query, at }: SavedQuery): { line?: number; column?: number } {
  const start = isObject(error.extra) ? error.extra.start : null
  const text = textOf(query)
  if (typeof start !== 'number' || text === '') return {}
  const { line, column } = placeIn(text, start)
  if (!at) return { line, column }
  return { line: at.line + line - 1, column: line === 1 ? at.column + column - 1 : column }
}

/** The text that the place is in, however it is wrapped; empty for a query of several texts. */
function textOf(query: unknown): string {
  if (!isObject(query)) return ''
  return typeof query.query === 'string' ? query.query : textOf(query.source)
}
