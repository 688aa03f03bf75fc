// What the fixed order of checks must know about callers, organizations and projects. Slices answer; app/http.ts wires.
import type { Db } from '../db/database.ts'
import type { Services } from '../services.ts'
import type { Caller, Level } from './caller.ts'

export type OrganizationInReach = {
  id: string
  name: string
  slug: string
  is_member_join_email_enabled: boolean
  enforce_2fa: boolean
  enforce_2fa_with_sso: boolean
  members_can_invite: boolean
  members_can_use_personal_api_keys: boolean
  plugins_access_level: number
  customer_id: string | null
  created_at: Date
  updated_at: Date
}

export type ProjectInReach = { id: number; organization_id: string; name: string; timezone: string }

export type Access = {
  /** Null: unknown, expired, or of a deactivated user. */
  findCallerByKey(db: Db, value: string, now: Date): Promise<Caller | null>
  /** `ip` is where it is used from. Throws 401 `sso_required` for one that was opened in a way that is closed by now. */
  findCallerBySession(
    services: Services,
    token: string,
    ip: string,
    now: Date,
  ): Promise<Extract<Caller, { kind: 'session' }> | null>
  /** Locks the person behind a session or key; false when that has ended. */
  holdCaller(tx: Db, caller: Caller): Promise<boolean>
  findOrganization(
    db: Db,
    caller: Caller,
    id: string,
  ): Promise<{ organization: OrganizationInReach; level: Level | null } | null>
  /** The organization that `@current` and the paths without one mean. */
  findCurrentOrganizationId(db: Db, caller: Caller): Promise<string | null>
  findProject(
    db: Db,
    caller: Caller,
    id: number,
  ): Promise<{
    project: ProjectInReach
    enforce_2fa: boolean
    enforce_2fa_with_sso: boolean
    opens_to_personal_keys: boolean
    level: Level | null
  } | null>
  findCurrentProjectId(db: Db, caller: Caller): Promise<number | null>
}
