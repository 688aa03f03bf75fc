// Running what was asked: a HogQL statement with its limit and placeholders, or the listing's `select` by another name.
import type { Query } from '../../../hogql/ast.ts'
import { parseSelect } from '../../../hogql/parser.ts'
import { printHogql } from '../../../hogql/print-hogql.ts'
import { fillPlaceholders } from '../../../hogql/resolve/placeholders.ts'
import { wholeNumber } from '../../../hogql/whole-number.ts'
import type { Services } from '../../../platform/services.ts'
import { runEventsSelect } from '../listing/select.ts'
import { constant } from '../tree.ts'
import { compiledFor, explained, runQuery, type AskedProject, type Asking } from '../run-query.ts'
import { explainProperties } from './explain.ts'
import { placeholdersOf } from './placeholders.ts'
import type { Answered, AnyQuery, EventsQuery, HogqlQuery } from './schema.ts'

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 50_000

/** The query itself, and the field that holds it. What is shown around it does not change its answer. */
export function innermost(asked: AnyQuery) {
  switch (asked.kind) {
    case 'DataVisualizationNode':
    case 'DataTableNode':
    case 'InsightVizNode':
      return { query: asked.source, attr: 'query__source' }
    default:
      return { query: asked, attr: 'query' }
  }
}

export function runRows(
  services: Asking & Pick<Services, 'db'>,
  project: AskedProject,
  query: HogqlQuery | EventsQuery,
  attr: string,
  signal?: AbortSignal,
): Promise<Answered> {
  return query.kind === 'HogQLQuery'
    ? runHogql(services, project, query, attr, signal)
    : runEvents(services, project, query, attr, signal)
}

/** `attr` is the field that holds the query, for errors. */
export async function runHogql(
  services: Asking,
  project: AskedProject,
  asked: HogqlQuery,
  attr: string,
  signal?: AbortSignal,
): Promise<Answered> {
  const { query, limit, offset } = readHogql(services.now(), project, asked, attr)
  // One row more than is answered tells whether there are more. WITH TIES it would bring all its equals along.
  const [count, most] = query.limit_with_ties ? [limit, MAX_LIMIT] : [limit + 1, limit]
  const { rows, columns, compiled, sources } = await runQuery(services, project, {
    query: { ...query, limit: constant(count) },
    max_rows: most + 1,
    attr: `${attr}__query`,
    isExplained: asked.explain === true,
    signal,
  })
  return {
    results: rows.slice(0, most).map((row) => [...row]),
    columns: [...compiled.columns],
    types: columns.map(({ type }, index) => [compiled.columns[index] ?? '', type]),
    hasMore: rows.length > most,
    limit,
    offset,
    hogql: printHogql({ ...query, limit: constant(limit) }),
    explain: asked.explain === true ? explainProperties(sources ?? [], compiled) : null,
  }
}

export type CheckedHogql = { columns: readonly string[]; hogql: string }

/** Everything short of running it; what is wrong is thrown as by `runHogql`. */
export function checkHogql(
  services: Asking,
  project: AskedProject,
  asked: HogqlQuery,
  attr: string,
): CheckedHogql {
  const { query, limit } = readHogql(services.now(), project, asked, attr)
  const { columns } = compiledFor(services, project, { query, attr: `${attr}__query` })
  return { columns, hogql: printHogql({ ...query, limit: constant(limit) }) }
}

/** The statement with everything in place of its placeholders, and the rows it asks for. */
function readHogql(now: Date, project: AskedProject, asked: HogqlQuery, attr: string) {
  const placeholders = placeholdersOf(asked, { now, timezone: project.timezone }, attr)
  return explained(`${attr}__query`, () => {
    const query = fillPlaceholders(parseSelect(asked.query), placeholders)
    return { query, ...limitsOf(query) }
  })
}

async function runEvents(
  services: Asking & Pick<Services, 'db'>,
  project: AskedProject,
  asked: EventsQuery,
  attr: string,
  signal?: AbortSignal,
): Promise<Answered> {
  const { select, where, orderBy, event, personId, after, before, properties, limit, offset } = asked
  return runEventsSelect(services, project, {
    select: select ?? [],
    where: where ?? [],
    orderBy: orderBy ?? [],
    event: event || null,
    distinct_id: null,
    person_id: personId === null || personId === undefined || personId === '' ? null : String(personId),
    // PostHog's word for no lower bound.
    after: after === 'all' ? null : after || null,
    before: before || null,
    properties: properties ?? [],
    limit: Math.min(limit ?? DEFAULT_LIMIT, MAX_LIMIT),
    offset: offset ?? 0,
    attr_prefix: `${attr}__`,
    signal,
  })
}

function limitsOf({ limit, offset }: Query): { limit: number; offset: number } {
  return {
    limit: limit ? Math.min(wholeNumber(limit, 'LIMIT'), MAX_LIMIT) : DEFAULT_LIMIT,
    offset: offset ? wholeNumber(offset, 'OFFSET') : 0,
  }
}
