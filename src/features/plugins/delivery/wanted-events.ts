// Which of the project's events an app wants, and why that cannot be said.
import { HogqlError } from '../../../hogql/errors.ts'
import type { Expr } from '../../../hogql/ast.ts'
import { QueryFault } from '../../../platform/event-store/event-store.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import type { Services } from '../../../platform/services.ts'
import { findProject } from '../../projects/queries.ts'
import type { RunningApp } from '../running/running-app.ts'
import { filterCondition } from './filters.ts'

type Wanted = { project: { id: number; timezone: string }; condition: Expr | null }

export async function wantedBy(
  { db, now }: Pick<Services, 'db' | 'now'>,
  { organization_id, project_id, filters }: RunningApp,
): Promise<Wanted> {
  const found = await findProject(db, organization_id, project_id)
  const timezone = found?.timezone ?? 'UTC'
  return { project: { id: project_id, timezone }, condition: filterCondition(filters, timezone, now()) }
}

/** For the app's log; null when the fault has another cause. */
export function explainUnreadable(error: unknown): string | null {
  const isAboutFilters =
    error instanceof HogqlError || error instanceof ApiError || error instanceof QueryFault
  return isAboutFilters ? `Events wait, because the filters cannot be used: ${error.message}` : null
}
