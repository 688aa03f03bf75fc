// The link of an invite. Nothing of it is stored: it is a keyed fingerprint of the invite as it is, so a resend, another
// level or another address ends it. The id alone opens nothing.
import type { Services } from '../../platform/services.ts'
import type { InviteRow } from './schema.ts'

/** Who has the link: the inviter, who may pass it on, or whoever reads the mail, which proves the address. */
export type Way = 'mailed' | 'passed on'

type Invited = Pick<InviteRow, 'id' | 'target_email' | 'level' | 'expires_at'>

export type InviteSecret = { id: string; way: Way; fingerprint: string }

const SIGNS: Record<Way, string> = { mailed: 'm', 'passed on': 'p' }
/** The way, the id and 256 bits of fingerprint. */
const SECRET = /^([mp])([\w-]{22})([\w-]{43})$/

export function inviteLink({ secrets, settings }: Services, invite: Invited, way: Way): string {
  const id = Buffer.from(invite.id.replaceAll('-', ''), 'hex').toString('base64url')
  const secret = `${SIGNS[way]}${id}${secrets.fingerprint('invite', ...stateOf(invite, way))}`
  return `${settings.site_url}/signup/${secret}`
}

export function readInviteSecret(text: string): InviteSecret | null {
  const [, sign, id = '', fingerprint = ''] = SECRET.exec(text) ?? []
  if (sign === undefined) return null
  const hex = Buffer.from(id, 'base64url').toString('hex')
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)]
  return { id: parts.join('-'), way: sign === SIGNS.mailed ? 'mailed' : 'passed on', fingerprint }
}

export function opensInvite(
  { secrets }: Services,
  invite: Invited,
  { way, fingerprint }: InviteSecret,
): boolean {
  return secrets.matches(fingerprint, 'invite', ...stateOf(invite, way))
}

function stateOf({ id, target_email, level, expires_at }: Invited, way: Way): string[] {
  return [way, id, target_email, String(level), expires_at.toISOString()]
}
