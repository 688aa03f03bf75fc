// Which organization and project a caller means by `@current`: the chosen one while it is in reach, else the first.
import type { Db } from '../../platform/db/database.ts'
import { sql, type Statement } from '../../platform/db/sql.ts'
import type { Caller, Level } from '../../platform/http/caller.ts'
import { isOpenTo } from '../members/queries.ts'
import { isReachable } from './access.ts'

type CurrentMembership = { organization_id: string; level: Level }

/** A limited key looks only among the organizations it names, and those of the projects it names. */
export async function findCurrentMembership(db: Db, caller: Caller): Promise<CurrentMembership | undefined> {
  if (caller.kind === 'service_key') return { organization_id: caller.organization_id, level: caller.level }
  return db.row(sql`
    SELECT organization_id, level FROM membership
    WHERE user_id = ${caller.user.id} AND ${isWithinReach(caller)}
    ORDER BY organization_id IS NOT DISTINCT FROM ${caller.user.current_organization_id} DESC, joined_at, id LIMIT 1`)
}

export async function findCurrentProjectId(db: Db, caller: Caller): Promise<number | null> {
  const current = await findCurrentMembership(db, caller)
  if (!current) return null
  const chosen = caller.user?.current_project_id ?? null
  const row = await db.row<{ id: number }>(sql`
    SELECT id FROM project
    WHERE organization_id = ${current.organization_id} AND ${isNamedBy(caller)} AND ${isReachable(caller, current.level)}
    ORDER BY id IS NOT DISTINCT FROM ${chosen} DESC, id LIMIT 1`)
  return row?.id ?? null
}

export type Current = { organization_id: string; project_id: number | null }

/** What a person makes current by choosing an organization: its first project. A key chooses only what it opens itself. */
export async function findChosenOrganization(
  db: Db,
  caller: Person,
  id: string,
): Promise<Current | undefined> {
  return db.row(sql`
    SELECT organization_id, (
      SELECT project.id FROM project
      WHERE project.organization_id = membership.organization_id AND ${isNamedBy(caller)} AND ${isReachable(caller)}
      ORDER BY project.id LIMIT 1) AS project_id
    FROM membership
    WHERE user_id = ${caller.user.id} AND organization_id = ${id} AND ${isWithinReach(caller)}`)
}

/** The same by choosing a project. */
export async function findChosenProject(db: Db, caller: Person, id: number): Promise<Current | undefined> {
  return db.row(sql`
    SELECT project.organization_id, project.id AS project_id
    FROM project JOIN membership ON membership.organization_id = project.organization_id
    WHERE project.id = ${id} AND user_id = ${caller.user.id} AND ${isWithinReach(caller)} AND ${isNamedBy(caller)}
      AND ${isReachable(caller)}`)
}

type Person = Exclude<Caller, { kind: 'service_key' }>

/** Condition on a row `membership`: open to the caller's key, and within its limits. */
export function isWithinReach(caller: Caller): Statement {
  const { organizations, projects } = limitsOf(caller)
  return sql`${isOpenTo(caller)}
    AND (cardinality(${organizations}::uuid[]) = 0 OR membership.organization_id = ANY(${organizations}::uuid[]))
    AND (cardinality(${projects}::int[]) = 0 OR membership.organization_id IN (SELECT organization_id FROM project WHERE id = ANY(${projects}::int[])))`
}

/** Condition on a row `project`: among those that the caller's key is limited to. */
export function isNamedBy(caller: Caller): Statement {
  const { projects } = limitsOf(caller)
  return sql`(cardinality(${projects}::int[]) = 0 OR project.id = ANY(${projects}::int[]))`
}

/** Empty lists: no limit. */
function limitsOf(caller: Caller): { organizations: readonly string[]; projects: readonly number[] } {
  if (caller.kind === 'session') return { organizations: [], projects: [] }
  return { organizations: caller.key.scoped_organizations, projects: caller.key.scoped_teams }
}
