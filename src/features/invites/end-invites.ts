// Ending the invites of an address that nobody needs any more: who was invited has come in another way, or may not come.
import type { Db } from '../../platform/db/database.ts'
import { recordActivity, type Actor } from '../activity-log/record.ts'
import { inviteActivity } from './invite.ts'
import { deleteInvitesFor } from './queries.ts'

export async function endInvites(tx: Db, actor: Actor, organizationId: string, email: string): Promise<void> {
  for (const invite of await deleteInvitesFor(tx, organizationId, email))
    await recordActivity(tx, actor, { ...inviteActivity(invite), activity: 'deleted', changes: [] })
}
