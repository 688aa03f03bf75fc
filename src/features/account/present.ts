// The account as its owner sees it.
import type { z } from 'zod'
import type { Db } from '../../platform/db/database.ts'
import { sql, type Statement } from '../../platform/db/sql.ts'
import type { Caller } from '../../platform/http/caller.ts'
import type { Services, Settings } from '../../platform/services.ts'
import { countWorkingKeys } from '../api-keys/queries.ts'
import { countIdentities } from '../identities/queries.ts'
import { hasDevice } from '../two-factor/totp.ts'
import { presentOrganization } from '../organizations/present.ts'
import { findOrganizationById, getOrganizationFacts } from '../organizations/queries.ts'
import { isReachableByUser } from '../projects/access.ts'
import { isNamedBy } from '../projects/current.ts'
import { presentBasicProject } from '../projects/present.ts'
import { findFirstProject, findShownProject } from '../projects/queries.ts'
import { presentUser } from '../users/present.ts'
import type { BrowserSession as SessionRow } from '../sign-in/sessions.ts'
import type { ListedUser } from '../users/queries.ts'
import type { UserRow } from '../users/schema.ts'
import { presentNotificationSettings } from './notification-settings.ts'
import { listOwnOrganizations, type OwnOrganizationRow } from './queries.ts'
import type { Account, AccountBrief, BrowserSession } from './schema.ts'

export function presentAccountBrief(user: ListedUser): z.input<typeof AccountBrief> {
  return { ...presentUser(user), date_joined: user.date_joined.toISOString() }
}

type ShownTo = { services: Pick<Services, 'settings'>; db: Db; caller: Caller; now: Date }

export async function presentAccount(
  { services, db, caller, now }: ShownTo,
  user: UserRow,
): Promise<z.input<typeof Account>> {
  const organizations = await listOwnOrganizations(db, user.id, caller)
  const current = organizations.find((own) => own.id === user.current_organization_id) ?? organizations[0]
  const reachable = sql`${isReachableByUser(user.id)} AND ${isNamedBy(caller)}`
  return {
    ...presentAccountBrief(user),
    pending_email: user.pending_email,
    notification_settings: presentNotificationSettings(user.notification_settings),
    anonymize_data: user.anonymize_data,
    has_password: user.password_hash !== null,
    active_personal_api_keys: await countWorkingKeys(db, user.id, now),
    is_staff: user.is_staff,
    is_2fa_enabled: await hasDevice(db, user.id),
    has_social_auth: (await countIdentities(db, user.id)) > 0,
    role_at_organization: user.role_at_organization,
    team: current ? await currentProject(db, user, current.id, reachable) : null,
    organization: current ? await currentOrganization(services.settings, db, current, reachable) : null,
    organizations: organizations.map(({ level, ...organization }) => ({
      ...organization,
      membership_level: level,
    })),
  }
}

async function currentOrganization(
  settings: Settings,
  db: Db,
  current: OwnOrganizationRow,
  reachable: Statement,
) {
  const row = await findOrganizationById(db, current.id)
  if (!row) return null
  return presentOrganization(
    settings,
    row,
    current.level,
    await getOrganizationFacts(db, current.id, reachable),
  )
}

async function currentProject(db: Db, user: UserRow, organizationId: string, reachable: Statement) {
  const chosen =
    user.current_project_id === null
      ? undefined
      : await findShownProject(db, organizationId, user.current_project_id, reachable)
  const row = chosen ?? (await findFirstProject(db, organizationId, reachable))
  return row ? presentBasicProject(row) : null
}

export function presentSession(row: SessionRow, currentHash: string): z.input<typeof BrowserSession> {
  return {
    id: row.id,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    last_used_at: row.last_used_at.toISOString(),
    last_used_ip: row.last_used_ip,
    browser: row.browser,
    system: row.system,
    current: row.token_hash === currentHash,
  }
}

/** For the activity log, which admins read: without the address. */
export function describeSession({ browser, system }: SessionRow): string {
  return `${browser ?? 'unknown browser'} on ${system ?? 'unknown system'}`
}
