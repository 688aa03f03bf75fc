// Row → Member of the API.
import type { z } from 'zod'
import { presentUser } from '../users/present.ts'
import type { Member, MemberRow } from './schema.ts'

export function presentMember(row: MemberRow): z.input<typeof Member> {
  return {
    id: row.id,
    user: presentUser({ ...row, id: row.user_id }),
    level: row.level,
    joined_at: row.joined_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    is_2fa_enabled: row.has_2fa,
    has_social_auth: row.has_social_auth,
    last_login: row.last_login?.toISOString() ?? null,
  }
}
