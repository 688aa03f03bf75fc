// Who reaches a project, at which level: the one place that says so. Every statement that finds or lists projects for
// somebody takes its condition from here, so that a change holds from the next statement on.
//
// Admins and owners of the organization reach every project. For members the rules that name them decide, directly or by
// a role: the highest level of these, and `none` among the lower ones takes nothing away. Without such a rule the
// project's default decides, and without a default the level in the organization.
import { sql, type Statement } from '../../platform/db/sql.ts'
import { LEVELS, type Caller, type Level } from '../../platform/http/caller.ts'

const defaultLevel = sql`
  (SELECT level FROM access_control WHERE project_id = project.id AND membership_id IS NULL AND role_id IS NULL)`

const levelByRules = sql`
  (SELECT max(level) FROM access_control WHERE project_id = project.id AND (
    membership_id = membership.id
    OR role_id IN (SELECT role_id FROM role_membership WHERE role_membership.membership_id = membership.id)))`

/** The caller's level in the row `project`; null without access, which is what a stranger has. */
export function levelInProject(caller: Caller): Statement {
  return caller.kind === 'service_key' ? levelOfServiceKey(caller) : levelOfUser(caller.user.id)
}

function levelOfUser(userId: number): Statement {
  return sql`
    (SELECT CASE WHEN membership.level >= ${LEVELS.admin} THEN membership.level
      ELSE nullif(coalesce(${levelByRules}, ${defaultLevel}, membership.level), 0) END
    FROM membership WHERE membership.organization_id = project.organization_id AND user_id = ${userId})`
}

/** A key is no member and has no role. Naming the project in its limits is how admins give it a private one. */
function levelOfServiceKey(caller: Extract<Caller, { kind: 'service_key' }>): Statement {
  const { level, organization_id, key } = caller
  return sql`
    (SELECT CASE WHEN project.organization_id <> ${organization_id} THEN NULL
      WHEN ${level}::int >= ${LEVELS.admin} OR project.id = ANY(${key.scoped_teams}::int[]) THEN ${level}::int
      ELSE nullif(least(coalesce(${defaultLevel}, ${level}::int), ${level}::int), 0) END)`
}

/** A condition on the row `project`. With the level in its organization, admins cost no look at the rules. */
export function isReachable(caller: Caller, levelInOrganization?: Level): Statement {
  if (levelInOrganization !== undefined && levelInOrganization >= LEVELS.admin) return sql`true`
  return sql`${levelInProject(caller)} IS NOT NULL`
}

/** The same for an account that is looked at or joins, whoever asks. */
export function isReachableByUser(userId: number): Statement {
  return sql`${levelOfUser(userId)} IS NOT NULL`
}

/** Whether the row `project` is closed to members whom no rule names. */
export const isPrivate = sql`coalesce(${defaultLevel} = 0, false)`

/** A condition on the row `entry` of an organization's activity log: what happened in a project is told there only. */
export function isEntryReachable(caller: Caller, levelInOrganization: Level): Statement {
  if (levelInOrganization >= LEVELS.admin) return sql`true`
  return sql`(entry.project_id IS NULL OR entry.project_id IN (
    SELECT project.id FROM project WHERE organization_id = entry.organization_id AND ${isReachable(caller)}))`
}
