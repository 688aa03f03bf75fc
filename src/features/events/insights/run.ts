// Running an insight: which one, and what is wrong with it told by the field that holds it.
import { ApiError } from '../../../platform/http/errors.ts'
import type { Services } from '../../../platform/services.ts'
import type { AskedProject } from '../run-query.ts'
import type { InsightAnswered } from './answer.ts'
import { runFunnel } from './funnels.ts'
import { runRetention } from './retention.ts'
import type { InsightQuery } from './schema.ts'
import { runTrends } from './trends.ts'

/** `attr` is the field that holds the query. */
export async function runInsight(
  services: Services,
  project: AskedProject,
  query: InsightQuery,
  attr: string,
  signal?: AbortSignal,
): Promise<InsightAnswered> {
  try {
    return await runKind(services, project, query, signal)
  } catch (error) {
    if (!(error instanceof ApiError) || error.attr === null) throw error
    const { code, detail, headers, extra } = error
    throw new ApiError(code, detail, `${attr}__${error.attr}`, headers, extra)
  }
}

function runKind(
  services: Services,
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
