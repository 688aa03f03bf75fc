// A question to the event store: compiled for the project, run, and its failures told as the API tells them.
import { compileQuery, type CompiledQuery } from '../../hogql/compile.ts'
import { HogqlError } from '../../hogql/errors.ts'
import type { Expr, Query } from '../../hogql/ast.ts'
import {
  QueryFault,
  QueryTimeout,
  type EventStore,
  type StoreAnswer,
} from '../../platform/event-store/event-store.ts'
import { ApiError } from '../../platform/http/errors.ts'

/** The same query has a chance when others are done with theirs, which takes half a minute at most by default. */
const RETRY_AFTER_S = '30'

/** What answers questions. */
export type Asking = { eventStore: Pick<EventStore, 'engine' | 'query'>; now(): Date }

export type AskedProject = { id: number; timezone: string }

export type Question = {
  query: Query
  placeholders?: ReadonlyMap<string, Expr>
  /** Zone of the answer's date-times; the project's unless told. */
  timezone?: string
  max_rows: number
  /** The query names positions of events. */
  by_position?: boolean
  /** Aborted when nobody wants the answer any more. */
  signal?: AbortSignal | undefined
  /** The answer tells where each property was read. */
  isExplained?: boolean
  /** The field that holds its text, for errors, where all of it is one text. */
  attr?: string
}

export type Answer = StoreAnswer & { compiled: CompiledQuery }

export async function runQuery(services: Asking, project: AskedProject, question: Question): Promise<Answer> {
  const { timezone = project.timezone, max_rows, isExplained = false, signal } = question
  const compiled = compiledFor(services, project, question)
  const { sql, parameters, properties } = compiled
  try {
    const asked = { project_id: project.id, sql, parameters, properties, timezone, max_rows, isExplained }
    const answer = await services.eventStore.query(asked, signal)
    return { ...answer, compiled }
  } catch (error) {
    throw asApiError(error, question.attr)
  }
}

export function compiledFor(
  services: Asking,
  project: AskedProject,
  { query, placeholders = new Map(), attr, by_position = false }: Omit<Question, 'timezone' | 'max_rows'>,
): CompiledQuery {
  const { id: project_id, timezone } = project
  const context = { project_id, timezone, now: services.now(), placeholders, by_position }
  return explained(attr ?? null, () => compileQuery(query, context, services.eventStore.engine))
}

/** Runs what may find fault with HogQL text that came in the field `attr`. */
export function explained<T>(attr: string | null, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof HogqlError)) throw error
    const code = error.kind === 'syntax' ? 'hogql_syntax_error' : 'hogql_query_error'
    const { start, end, did_you_mean } = error
    // Without a field nobody knows which text the places are in.
    const extra = attr === null ? undefined : { start, end, did_you_mean }
    throw new ApiError(code, error.detail, attr, {}, extra)
  }
}

/**
 * A query that is made of several texts does not tell which of them a fault is in. Once it was refused, `assertParts` looks
 * at them one by one.
 */
export async function namingField<T>(work: () => Promise<T>, assertParts: () => void): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ApiError && error.code === 'hogql_query_error' && error.attr === null) assertParts()
    throw error
  }
}

/** What the event store throws at a question whose text is in the field `attr`, as the API tells it; anything else as it is. */
export function asApiError(error: unknown, attr: string | null = null): unknown {
  if (error instanceof QueryTimeout) {
    const detail = 'The query ran too long and was stopped: narrow its time range.'
    return new ApiError('query_timeout', detail, null, { 'retry-after': RETRY_AFTER_S })
  }
  if (error instanceof QueryFault) {
    // The store does not tell which part of the text is at fault.
    const extra = attr === null ? undefined : { start: null, end: null, did_you_mean: null }
    return new ApiError('hogql_query_error', error.message, attr, {}, extra)
  }
  return error
}
