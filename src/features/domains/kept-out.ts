// Whether a directory has deactivated somebody (features/scim): then nothing lets them in by itself.
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'

export async function isKeptOut(db: Db, organizationId: string, userId: number): Promise<boolean> {
  const row = await db.row(sql`
    SELECT FROM scim_user JOIN domain ON domain.id = domain_id
    WHERE scim_user.organization_id = ${organizationId} AND user_id = ${userId} AND scim_token_hash IS NOT NULL
      AND NOT EXISTS (SELECT FROM membership WHERE membership.organization_id = scim_user.organization_id
        AND membership.user_id = scim_user.user_id)`)
  return row !== undefined
}
