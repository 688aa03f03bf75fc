// Checks 4 to 7: scope, the key's own limits, whether organization and project are there and the caller belongs, level.
import { isUuid } from '../../lib/uuid.ts'
import type { Db } from '../db/database.ts'
import type { Access, OrganizationInReach, ProjectInReach } from './access.ts'
import { LEVELS, type Caller, type CallerKey, type Level } from './caller.ts'
import { denied, notFound } from './errors.ts'
import type { Route } from './route.ts'
import { hasScope } from './scopes.ts'

export type Reach = { organization?: OrganizationInReach; project?: ProjectInReach; level?: Level }

const MAX_ID = 2 ** 31 - 1

export function assertScope(route: Route, caller: Caller): void {
  if (caller.kind === 'session') return
  if (route.access === 'session') throw denied('API keys cannot do this: sign in instead.')
  if (route.scope === undefined) return
  const wanted = typeof route.scope === 'string' ? [route.scope] : route.scope
  if (!wanted.some((scope) => hasScope(caller.key.scopes, scope))) {
    throw denied(`The API key lacks the scope \`${wanted.join('` or `')}\`.`)
  }
}

export async function reach(
  db: Db,
  access: Access,
  route: Route,
  caller: Caller,
  params: Record<string, string>,
): Promise<Reach> {
  const organizationId = route.subject === 'organization' ? params.id : params.organization_id
  const projectId = route.subject === 'project' ? params.id : params.project_id
  if (projectId !== undefined) return reachProject(db, access, route, caller, projectId, organizationId)
  if (organizationId !== undefined) return reachOrganization(db, access, route, caller, organizationId)
  assertUnlimited(route, caller)
  return {}
}

async function reachOrganization(db: Db, access: Access, route: Route, caller: Caller, given: string): Promise<Reach> {
  const stranger = route.subject === 'organization' ? notFound() : denied('You are not a member of this organization.')
  const limits = keyLimits(caller)
  if (limits && limits.scoped_teams.length > 0) throw projectKeyDenied()
  const id = given === '@current' ? await access.findCurrentOrganizationId(db, caller) : given
  if (id === null) throw notFound()
  if (limits && limits.scoped_organizations.length > 0 && !holds(limits.scoped_organizations, id)) throw stranger
  const found = isUuid(id) ? await access.findOrganization(db, caller, id) : null
  if (!found) throw notFound()
  if (found.level === null) throw stranger
  assertLevel(route, found.level)
  assertSecondFactor(route, caller, found.organization.enforce_2fa)
  return { organization: found.organization, level: found.level }
}

/** A project by its own path (404 for strangers), below its own path (403), or below its organization's. */
async function reachProject(
  db: Db,
  access: Access,
  route: Route,
  caller: Caller,
  given: string,
  organizationId: string | undefined,
): Promise<Reach> {
  const stranger = route.subject === 'project' ? notFound() : denied('You have no access to this project.')
  const id = given === '@current' ? await access.findCurrentProjectId(db, caller) : projectNumber(given)
  const limits = keyLimits(caller)
  if (limits && limits.scoped_teams.length > 0 && id !== null && !limits.scoped_teams.includes(id)) {
    throw denied('The API key is limited to other projects.')
  }
  const around = organizationId === undefined ? {} : await reachAround(db, access, caller, organizationId)
  const found = id === null ? null : await access.findProject(db, caller, id)
  if (!found) throw notFound()
  const { project } = found
  if (around.organization && around.organization.id !== project.organization_id) throw notFound()
  if (limits && limits.scoped_organizations.length > 0 && !holds(limits.scoped_organizations, project.organization_id)) {
    throw denied('The API key is limited to other organizations.')
  }
  if (found.level === null) throw stranger
  assertLevel(route, found.level)
  assertSecondFactor(route, caller, found.enforce_2fa)
  return { ...around, project, level: found.level }
}

/** The organization round a project path: a key limited to projects may pass through to its own project. */
async function reachAround(db: Db, access: Access, caller: Caller, given: string): Promise<Reach> {
  const id = given === '@current' ? await access.findCurrentOrganizationId(db, caller) : given
  if (id === null) throw notFound()
  const limits = keyLimits(caller)
  const stranger = denied('You are not a member of this organization.')
  if (limits && limits.scoped_organizations.length > 0 && !holds(limits.scoped_organizations, id)) throw stranger
  const found = isUuid(id) ? await access.findOrganization(db, caller, id) : null
  if (!found) throw notFound()
  if (found.level === null) throw stranger
  return { organization: found.organization }
}

/** Paths that name no organization: a key limited to projects reaches none of them but those about itself. */
function assertUnlimited(route: Route, caller: Caller): void {
  const limits = keyLimits(caller)
  if (route.scope !== undefined && !route.is_about_caller && limits && limits.scoped_teams.length > 0) {
    throw projectKeyDenied()
  }
}

function projectKeyDenied() {
  return denied('The API key is limited to projects and cannot reach anything above them.')
}

function keyLimits(caller: Caller): CallerKey | null {
  return caller.kind === 'session' ? null : caller.key
}

function holds(ids: readonly string[], id: string): boolean {
  return ids.includes(id.toLowerCase())
}

function projectNumber(text: string): number | null {
  return /^\d{1,10}$/.test(text) && Number(text) <= MAX_ID ? Number(text) : null
}

function assertLevel(route: Route, level: Level): void {
  if (route.level !== undefined && level < LEVELS[route.level]) {
    throw denied(`This takes the level ${route.level} in the organization.`)
  }
}

/** organizations.md §3.3: sessions only, for the addressed organization as well as the current one. */
export function assertSecondFactor(route: Route, caller: Caller, isDemanded: boolean): void {
  if (!isDemanded || caller.kind !== 'session') return
  // What anybody may call cannot depend on the session that happens to come along: above all signing in again.
  if (route.without_second_factor || route.access === 'anyone') return
  if (!caller.user.has_2fa) {
    throw denied('The organization demands two-factor authentication: set it up first.', 'two_factor_setup_required')
  }
  if (!caller.session.has_second_factor) {
    throw denied('Sign in again with your second factor.', 'two_factor_verification_required')
  }
}
