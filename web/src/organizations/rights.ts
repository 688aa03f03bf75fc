// What the API would refuse, said before it is asked (organizations.md, permission matrix).
import { LEVELS } from '../api/levels'

const NAMES: Readonly<Record<number, string>> = { 1: 'Member', 8: 'Admin', 15: 'Owner' }

export const LEVEL_TEXTS = [
  { level: LEVELS.member, text: 'Uses the projects. Invites members, if the organization lets them.' },
  {
    level: LEVELS.admin,
    text: 'Also makes projects, manages members, domains and service keys, and reads the log.',
  },
  { level: LEVELS.owner, text: 'Also makes owners, and can delete the organization.' },
] as const

export const levelName = (level: number): string => NAMES[level] ?? `Level ${level}`

/** Levels that somebody may give, as a choice. */
export const grantable = (actor: number) =>
  LEVEL_TEXTS.filter(({ level }) => level <= actor).map(({ level }) => ({
    value: String(level),
    label: levelName(level),
  }))

/** `owners`: how many the organization has. */
type Meeting = { actor: number; target: number; isSelf: boolean; owners: number }

export function changeDenial({ actor, target, isSelf }: Omit<Meeting, 'owners'>): string | null {
  if (isSelf) return 'You cannot change your own level.'
  if (actor < LEVELS.admin) return 'Only admins and owners may change levels.'
  return target > actor ? 'Only owners may change an owner.' : null
}

export function removalDenial({ actor, target, isSelf, owners }: Meeting): string | null {
  if (isSelf) return leavingDenial({ membership_level: target, owner_count: owners })
  if (actor < LEVELS.admin) return 'Only admins and owners may remove others.'
  return target > actor ? 'Only owners may remove an owner.' : null
}

/** Somebody has to be left who can do everything. */
export function leavingDenial(organization: {
  membership_level: number
  owner_count: number
}): string | null {
  if (organization.membership_level < LEVELS.owner || organization.owner_count > 1) return null
  return 'You are the last owner: make somebody else owner first, or delete the organization.'
}

export function inviteDenial(organization: {
  membership_level: number
  members_can_invite: boolean
}): string | null {
  if (organization.membership_level >= LEVELS.admin || organization.members_can_invite) return null
  return 'Only admins and owners invite people to this organization.'
}
