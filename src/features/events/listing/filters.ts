// Which events are meant, apart from their time: event name, distinct id, person, properties.
import type { Expr, Query } from '../../../hogql/ast.ts'
import { parseExpression } from '../../../hogql/parser.ts'
import type { Db } from '../../../platform/db/database.ts'
import { findDistinctIdsOfPerson } from '../../persons/queries.ts'
import { filterExpression, parsePropertyFilters } from '../property-filters.ts'
import { compiledFor, explained, type AskedProject, type Asking } from '../run-query.ts'
import { constant, eventField, field, oneOf } from '../tree.ts'
import { lastText, readTexts, type Clock, type GivenQuery } from './parameters.ts'

export type EventFilters = {
  event: string | null
  distinct_id: string | null
  /** Integer id or UUID. */
  person_id: string | null
  /** The property filters as one expression. */
  properties: Expr | null
}

/** `where`: HogQL expressions that must hold too. */
export type AskedFilters = { filters: EventFilters; where: readonly string[] }

export function readFilters(query: GivenQuery, clock: Clock): AskedFilters {
  const filters = {
    event: lastText(query, 'event'),
    distinct_id: lastText(query, 'distinct_id'),
    person_id: lastText(query, 'person_id'),
    properties: readProperties(query, clock),
  }
  return { filters, where: readTexts(query, 'where') ?? [] }
}

function readProperties(query: GivenQuery, clock: Clock): Expr | null {
  const text = lastText(query, 'properties')
  return text === null ? null : filterExpression(parsePropertyFilters(text, 'properties'), clock)
}

export async function conditionsOf(db: Db, project_id: number, asked: AskedFilters): Promise<Expr[]> {
  const where = asked.where.map(readCondition)
  return [...(await filterConditions(db, project_id, asked.filters)), ...where]
}

/** For a query with these conditions that was refused: throws when one of them is at fault. */
export function assertConditions(services: Asking, project: AskedProject, { where }: AskedFilters): void {
  for (const text of where) {
    const query: Query = {
      node: 'SelectQuery',
      select: [constant(1)],
      select_from: { node: 'JoinExpr', table: field('events') },
      where: readCondition(text),
    }
    compiledFor(services, project, { query, attr: 'where' })
  }
}

const readCondition = (text: string) => explained('where', () => parseExpression(text))

export async function filterConditions(db: Db, project_id: number, filters: EventFilters): Promise<Expr[]> {
  const conditions: Expr[] = []
  if (filters.event !== null) conditions.push(oneOf(eventField('event'), [filters.event]))
  if (filters.distinct_id !== null) conditions.push(oneOf(eventField('distinct_id'), [filters.distinct_id]))
  // None for a person who is unknown, and for what cannot be the id of one.
  if (filters.person_id !== null) {
    conditions.push(
      oneOf(
        eventField('distinct_id'),
        await findDistinctIdsOfPerson(db, project_id, filters.person_id.trim()),
      ),
    )
  }
  if (filters.properties !== null) conditions.push(filters.properties)
  return conditions
}
