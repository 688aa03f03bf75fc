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

type Meeting = { actor: number; target: number; isSelf: boolean }

export function changeDenial({ actor, target, isSelf }: Meeting): string | null {
  if (isSelf) return 'You cannot change your own level.'
  if (actor < LEVELS.admin) return 'Only admins and owners may change levels.'
  return target > actor ? 'Only owners may change an owner.' : null
}

export function removalDenial({ actor, target, isSelf }: Meeting): string | null {
  if (isSelf) return null
  if (actor < LEVELS.admin) return 'Only admins and owners may remove others.'
  return target > actor ? 'Only owners may remove an owner.' : null
}

export function inviteDenial(organization: {
  membership_level: number
  members_can_invite: boolean
}): string | null {
  if (organization.membership_level >= LEVELS.admin || organization.members_can_invite) return null
  return 'Only admins and owners invite people to this organization.'
}
