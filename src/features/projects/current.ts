// Which organization and project a caller means by `@current`: the chosen one while it is in reach, else the first.
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Caller, Level } from '../../platform/http/caller.ts'
import { isOpenTo } from '../members/queries.ts'
import { isReachable } from './access.ts'

type CurrentMembership = { organization_id: string; level: Level }

/** A limited key looks only among the organizations it names, and those of the projects it names. */
export async function findCurrentMembership(db: Db, caller: Caller): Promise<CurrentMembership | undefined> {
  if (caller.kind === 'service_key') return { organization_id: caller.organization_id, level: caller.level }
  const { organizations, projects } = limitsOf(caller)
  return db.row(sql`
    SELECT organization_id, level FROM membership
    WHERE user_id = ${caller.user.id} AND ${isOpenTo(caller)}
      AND (cardinality(${organizations}::uuid[]) = 0 OR organization_id = ANY(${organizations}::uuid[]))
      AND (cardinality(${projects}::int[]) = 0 OR organization_id IN (SELECT organization_id FROM project WHERE id = ANY(${projects}::int[])))
    ORDER BY organization_id IS NOT DISTINCT FROM ${caller.user.current_organization_id} DESC, joined_at, id LIMIT 1`)
}

export async function findCurrentProjectId(db: Db, caller: Caller): Promise<number | null> {
  const current = await findCurrentMembership(db, caller)
  if (!current) return null
  const chosen = caller.user?.current_project_id ?? null
  const { projects } = limitsOf(caller)
  const row = await db.row<{ id: number }>(sql`
    SELECT id FROM project
    WHERE organization_id = ${current.organization_id} AND (cardinality(${projects}::int[]) = 0 OR id = ANY(${projects}::int[]))
      AND ${isReachable(caller, current.level)}
    ORDER BY id IS NOT DISTINCT FROM ${chosen} DESC, id LIMIT 1`)
  return row?.id ?? null
}

/** Empty lists: no limit. */
function limitsOf(caller: Caller): { organizations: readonly string[]; projects: readonly number[] } {
  if (caller.kind === 'session') return { organizations: [], projects: [] }
  return { organizations: caller.key.scoped_organizations, projects: caller.key.scoped_teams }
}
