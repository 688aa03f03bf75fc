// When an invite is good, and who may invite whom (organizations.md §2 and §5). No I/O.
import type { OrganizationInReach } from '../../platform/http/access.ts'
import { LEVELS, type Level } from '../../platform/http/caller.ts'
import { denied, invalid } from '../../platform/http/errors.ts'
import type { InviteFields, InviteRow } from './schema.ts'

const VALID_MS = 3 * 24 * 60 * 60 * 1000

export function expiryFrom(now: Date): Date {
  return new Date(now.getTime() + VALID_MS)
}

export function isExpired(invite: Pick<InviteRow, 'expires_at'>, now: Date): boolean {
  return invite.expires_at <= now
}

export function assertMayInvite(
  organization: Pick<OrganizationInReach, 'members_can_invite'>,
  inviter: Level,
  invitee: Level,
): void {
  if (inviter < LEVELS.admin && !organization.members_can_invite) {
    throw denied('Only admins and owners invite people to this organization.')
  }
  if (invitee > inviter) throw denied('You cannot invite somebody at a level above your own.')
}

type Inviter = { level: Level; user_id: number | null }

/** Members end their own invites alone, whether they take them back or replace them. */
export function mayEnd({ level, user_id }: Inviter, invite: Pick<InviteRow, 'created_by'>): boolean {
  return level >= LEVELS.admin || (user_id !== null && invite.created_by === user_id)
}

/** A new invite ends those before it: what somebody with more rights has promised stays. */
export function assertMayReplace(inviter: Inviter, replaced: readonly InviteRow[], now: Date): void {
  const live = replaced.filter((invite) => !isExpired(invite, now))
  if (live.every((invite) => invite.level <= inviter.level && mayEnd(inviter, invite))) return
  throw denied('There is a pending invite for this address that you cannot replace.')
}

/** The second invite of a pair would kill the first, so the answer would show a dead one. */
export function assertDistinct(invites: readonly InviteFields[]): void {
  const seen = new Set<string>()
  invites.forEach(({ target_email }, index) => {
    const address = target_email.toLowerCase()
    if (seen.has(address))
      throw invalid(`${index}__target_email`, 'invalid_input', 'This address is in the list twice.')
    seen.add(address)
  })
}
