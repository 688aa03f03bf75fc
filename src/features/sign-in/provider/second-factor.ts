// Whether somebody who comes through a provider shows our second factor as well: if one of their organizations says so.
import type { Db } from '../../../platform/db/database.ts'
import { sql } from '../../../platform/db/sql.ts'

export async function isSecondFactorDemanded(db: Db, userId: number): Promise<boolean> {
  const row = await db.row(sql`
    SELECT FROM membership JOIN organization ON organization.id = organization_id
    WHERE user_id = ${userId} AND enforce_2fa AND enforce_2fa_with_sso LIMIT 1`)
  return row !== undefined
}
