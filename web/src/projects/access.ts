// Rules of access in words, and whom they can be about.
import type { Schema } from '../api/client'

export type AccessName = 'none' | 'member' | 'admin'
/** `id`: `member <membership>` or `role <role>`. */
export type Subject = { id: string; name: string }

const WORDS: Readonly<Record<AccessName, string>> = {
  none: 'no access',
  member: 'uses it',
  admin: 'manages it',
}

export const accessWord = (access: AccessName): string => WORDS[access]

export function subjectsOf(
  members: readonly Pick<Schema<'Member'>, 'id' | 'user'>[],
  roles: readonly Pick<Schema<'Role'>, 'id' | 'name'>[],
): Subject[] {
  return [
    ...members.map(({ id, user }) => ({ id: `member ${id}`, name: user.email })),
    ...roles.map(({ id, name }) => ({ id: `role ${id}`, name: `Role ${name}` })),
  ]
}

/** As the API names the subject of a rule; nobody in particular is everybody else. */
export function ruleFor(subject: string): { organization_member?: string; role?: string } {
  const [kind, id] = subject.split(' ')
  if (kind === 'member') return { organization_member: id }
  return kind === 'role' ? { role: id } : {}
}
