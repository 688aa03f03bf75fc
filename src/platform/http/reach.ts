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

async function reachOrganization(
  db: Db,
  access: Access,
  route: Route,
  caller: Caller,
  given: string,
): Promise<Reach> {
  if (limitsOf(caller).scoped_teams.length > 0) throw projectKeyDenied()
  const { organization, level } = await getOrganization(
    db,
    access,
    caller,
    given,
    route.subject === 'organization',
  )
  assertLevel(route, level)
  assertSecondFactor(route, caller, isSecondFactorDemanded(caller, organization))
  return { organization, level }
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
  const id = given === '@current' ? await access.findCurrentProjectId(db, caller) : projectNumber(given)
  const { scoped_teams, scoped_organizations } = limitsOf(caller)
  if (scoped_teams.length > 0 && id !== null && !scoped_teams.includes(id)) {
    throw denied('The API key is limited to other projects.')
  }
  // A key limited to projects may pass through their organization's path.
  const around: Reach =
    organizationId === undefined ? {} : await getOrganization(db, access, caller, organizationId, false)
  const found = id === null ? null : await access.findProject(db, caller, id)
  if (!found) throw notFound()
  const { project, level } = found
  if (around.organization && around.organization.id !== project.organization_id) throw notFound()
  if (isBeyond(scoped_organizations, project.organization_id)) {
    throw denied('The API key is limited to other organizations.')
  }
  if (level === null)
    throw route.subject === 'project' ? notFound() : denied('You have no access to this project.')
  assertKeyWelcome(caller, found.opens_to_personal_keys)
  assertLevel(route, level)
  assertSecondFactor(route, caller, isSecondFactorDemanded(caller, found))
  return { ...around, project, level }
}

/** The organization of a path: 404 when there is none; a stranger gets 404 on its own path and 403 below it. */
async function getOrganization(
  db: Db,
  access: Access,
  caller: Caller,
  given: string,
  isOwnPath: boolean,
): Promise<{ organization: OrganizationInReach; level: Level }> {
  const stranger = () => (isOwnPath ? notFound() : denied('You are not a member of this organization.'))
  const id = given === '@current' ? await access.findCurrentOrganizationId(db, caller) : given
  if (id === null) throw notFound()
  if (isBeyond(limitsOf(caller).scoped_organizations, id)) throw stranger()
  const found = isUuid(id) ? await access.findOrganization(db, caller, id) : null
  if (!found) throw notFound()
  if (found.level === null) throw stranger()
  const isAdmin = found.level >= LEVELS.admin
  assertKeyWelcome(caller, isAdmin || found.organization.members_can_use_personal_api_keys)
  return { organization: found.organization, level: found.level }
}

/** Paths that name no organization: a key limited to projects reaches none of them but those about itself. */
function assertUnlimited(route: Route, caller: Caller): void {
  if (route.scope === undefined || route.is_about_caller) return
  if (limitsOf(caller).scoped_teams.length > 0) throw projectKeyDenied()
}

function projectKeyDenied() {
  return denied('The API key is limited to projects and cannot reach anything above them.')
}

type Limits = Pick<CallerKey, 'scoped_organizations' | 'scoped_teams'>

const UNLIMITED: Limits = { scoped_organizations: [], scoped_teams: [] }

function limitsOf(caller: Caller): Limits {
  return caller.kind === 'session' ? UNLIMITED : caller.key
}

function isBeyond(organizations: readonly string[], id: string): boolean {
  return organizations.length > 0 && !organizations.includes(id.toLowerCase())
}

/** Where members may not use personal API keys, theirs open nothing. Lists leave such organizations out. */
function assertKeyWelcome(caller: Caller, isWelcome: boolean): void {
  if (isWelcome || caller.kind !== 'personal_key') return
  throw denied('Members of this organization may not use personal API keys: sign in, or ask an admin.')
}

function projectNumber(text: string): number | null {
  return /^\d{1,10}$/.test(text) && Number(text) <= MAX_ID ? Number(text) : null
}

function assertLevel(route: Route, level: Level): void {
  if (route.level !== undefined && level < LEVELS[route.level]) {
    throw denied(`This requires the level ${route.level} in the organization.`)
  }
}

/** A provider has asked for what its organization wants, unless that wants ours as well. */
function isSecondFactorDemanded(
  caller: Caller,
  { enforce_2fa, enforce_2fa_with_sso }: Pick<OrganizationInReach, 'enforce_2fa' | 'enforce_2fa_with_sso'>,
): boolean {
  const isByProvider =
    caller.kind === 'session' && !['password', 'recovery'].includes(caller.session.signed_in_by)
  return enforce_2fa && (enforce_2fa_with_sso || !isByProvider)
}

/** organizations.md §3.3: sessions only, for the addressed organization as well as the current one. */
export function assertSecondFactor(route: Route, caller: Caller, isDemanded: boolean): void {
  if (!isDemanded || caller.kind !== 'session') return
  // What anybody may call cannot depend on the session that happens to come along: above all signing in again.
  if (route.without_second_factor || route.access === 'anyone') return
  if (!caller.user.has_2fa) {
    throw denied(
      'The organization demands two-factor authentication: set it up first.',
      'two_factor_setup_required',
    )
  }
  if (!caller.session.has_second_factor) {
    throw denied('Sign in again with your second factor.', 'two_factor_verification_required')
  }
}
