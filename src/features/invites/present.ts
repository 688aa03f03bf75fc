// Row → Invite of the API.
import type { z } from 'zod'
import { LEVELS, type Level } from '../../platform/http/caller.ts'
import type { Services } from '../../platform/services.ts'
import { presentUser } from '../users/present.ts'
import { inviteLink } from './link.ts'
import { isExpired } from './rules.ts'
import type { Invite, ListedInvite, MadeInvite } from './schema.ts'

export function presentMadeInvite(
  services: Services,
  row: ListedInvite,
  now: Date,
): z.input<typeof MadeInvite> {
  return { ...presentInvite(row, LEVELS.admin, now), link: inviteLink(services, row, 'passed on') }
}

/** `level` is the reader's: that there is a private project is no news for every member. */
export function presentInvite(row: ListedInvite, level: Level, now: Date): z.input<typeof Invite> {
  return {
    id: row.id,
    target_email: row.target_email,
    first_name: row.first_name,
    emailing_attempt_made: row.emailing_attempt_made,
    level: row.level,
    is_expired: isExpired(row, now),
    expires_at: row.expires_at.toISOString(),
    created_by: row.creator ? presentUser(row.creator) : null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    message: row.message,
    private_project_access: level >= LEVELS.admin ? row.private_project_access : [],
  }
}
