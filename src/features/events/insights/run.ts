// Running an insight: which one, and what is wrong with it told by the field that holds it.
import { ApiError, invalid } from '../../../platform/http/errors.ts'
import type { AskedProject, Asking } from '../run-query.ts'
import type { InsightAnswered } from './answer.ts'
import { runFunnel } from './funnels.ts'
import { runRetention } from './retention.ts'
import type { InsightQuery } from './schema.ts'
import { runTrends } from './trends.ts'

/** In characters of JSON, each as often as it stands in the statement: half a second of compiling at worst. */
const MOST_WRITTEN = 500_000

/** `attr` is the field that holds the query. */
export async function runInsight(
  services: Asking,
  project: AskedProject,
  query: InsightQuery,
  attr: string,
  signal?: AbortSignal,
): Promise<InsightAnswered> {
  try {
    assertShort(query)
    return await runKind(services, project, query, signal)
  } catch (error) {
    if (!(error instanceof ApiError) || error.attr === null) throw error
    const { code, detail, headers, extra } = error
    throw new ApiError(code, detail, `${attr}__${error.attr}`, headers, extra)
  }
}

/** What holds for all series is written for each of them, and all of it for both periods. */
function assertShort(query: InsightQuery): void {
  const series = query.kind === 'RetentionQuery' ? 1 : query.series.length
  const shared = JSON.stringify(query.properties ?? null).length
  if (2 * (JSON.stringify(query).length + shared * series) <= MOST_WRITTEN) return
  throw invalid('properties', 'max_length', 'The filters are too long for so many series.')
}

function runKind(
  services: Asking,
  project: AskedProject,
  query: InsightQuery,
  signal: AbortSignal | undefined,
): Promise<InsightAnswered> {
  switch (query.kind) {
    case 'TrendsQuery':
      return runTrends(services, project, query, signal)
    case 'FunnelsQuery':
      return runFunnel(services, project, query, signal)
    case 'RetentionQuery':
      return runRetention(services, project, query, signal)
  }
}
