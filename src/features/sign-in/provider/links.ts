// Between a provider's word and the password that links it to an account: a sealed note in the address, good for ten minutes.
// Nothing is stored, and the note opens nothing without the password.
import type { Services } from '../../../platform/services.ts'
import type { Vouched } from '../../identities/schema.ts'
import type { UserRow } from '../../users/schema.ts'

const LIFETIME_MS = 10 * 60 * 1000
const PLACE = { table: 'sign_in_link', row: '', column: '' }

export type Link = { vouched: Vouched; user_id: number; next: string }

export function openLink(
  { services, now }: { services: Services; now: Date },
  vouched: Vouched,
  user: UserRow,
  next: string,
): string {
  const note = { vouched, user_id: user.id, next, expires_at: now.getTime() + LIFETIME_MS }
  return services.secrets.seal(JSON.stringify(note), PLACE)
}

/** Null: not one of ours, or too old. */
export function readLink({ secrets }: Services, sealed: string, now: Date): Link | null {
  const text = openSealed(secrets, sealed)
  if (text === null) return null
  const { expires_at, ...link } = JSON.parse(text) as Link & { expires_at: number }
  return expires_at > now.getTime() ? link : null
}

function openSealed(secrets: Services['secrets'], sealed: string): string | null {
  try {
    return secrets.open(sealed, PLACE)
  } catch {
    return null
  }
}
