// Ending every way into an account whose address was never proved, before somebody else's word opens it: whoever made the
// account may not be who has the address.
import type { Db } from '../../platform/db/database.ts'
import type { Actor } from '../activity-log/record.ts'
import { deletePersonalKeys } from '../api-keys/end-keys.ts'
import { forgetIdentitiesSince } from '../identities/queries.ts'
import { removeDevice } from '../two-factor/totp.ts'
import { lockUser, updateUser } from '../users/queries.ts'
import type { UserRow } from '../users/schema.ts'
import { closeOtherSessions } from './sessions.ts'

export async function endOtherWaysIn(actor: Actor, tx: Db, user: UserRow): Promise<void> {
  await lockUser(tx, user.id)
  await updateUser(tx, user.id, { password_hash: null, pending_email: null })
  await forgetIdentitiesSince(tx, user.id, new Date(0))
  await removeDevice(tx, user.id)
  await closeOtherSessions(tx, user.id, null)
  await deletePersonalKeys(tx, { ...actor, caller: null, acting_user: user }, user.id)
}
