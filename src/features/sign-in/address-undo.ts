// After a changed address: the old one is told, with a link that takes the account back for three days. What the link
// does is for an account that somebody else got into: it ends every way in but the old address.
import { isUuid } from '../../lib/uuid.ts'
import type { Db } from '../../platform/db/database.ts'
import { invalid } from '../../platform/http/errors.ts'
import type { Services } from '../../platform/services.ts'
import { changesBetween, recordActivity, type Actor } from '../activity-log/record.ts'
import { deletePersonalKeys } from '../api-keys/end-keys.ts'
import { isAllowed } from '../domains/allowed-ways.ts'
import { forgetIdentitiesSince } from '../identities/queries.ts'
import { removeDeviceSince } from '../two-factor/totp.ts'
import {
  AddressTaken,
  closeAddressUndo,
  findAddressUndo,
  openAddressUndo,
  takeAddress,
  type AddressUndo,
} from '../users/addresses.ts'
import { findUserById, findUserByUuid, lockUser, updateUser } from '../users/queries.ts'
import type { UserRow } from '../users/schema.ts'
import { addressChangedEmail, resetEmail } from './emails.ts'
import { opensUndo } from './undo-token.ts'
import { closeOtherSessions } from './sessions.ts'

// The link to the new address lives a day, so whoever asked for the change was at work no earlier than this before it.
const ASKED_WITHIN_MS = 24 * 60 * 60 * 1000

type UndoContext = Actor & { services: Services }

/** An address that was never proved may be a stranger's: it is told, but gets no way back. */
export async function offerUndo(
  { services, ...actor }: UndoContext,
  tx: Db,
  before: UserRow,
  after: UserRow,
): Promise<void> {
  if (before.is_email_verified) await openAddressUndo(tx, before.id, before.email, actor.now)
  await closeAddressUndo(tx, after.id, after.email)
  await recordAddress(tx, actor, before, after)
  if (!services.mailer.configured) return
  await services.jobs.enqueue(tx, addressChangedEmail, { user_id: before.id, old_email: before.email })
}

export async function undoAddressChange(
  { services, ...actor }: UndoContext,
  tx: Db,
  link: { user_uuid: string; token: string },
): Promise<void> {
  const { user, undo } = await lockUndo(services, tx, link, actor.now)
  const after = await restoreAddress(tx, user, undo, actor.now)
  await closeAddressUndo(tx, user.id, undo.old_email)
  await closeOtherSessions(tx, user.id, null)
  await deletePersonalKeys(tx, { ...actor, acting_user: user }, user.id)
  const asked = new Date(undo.changed_at.getTime() - ASKED_WITHIN_MS)
  await removeDeviceSince(tx, user.id, asked)
  await forgetIdentitiesSince(tx, user.id, asked)
  await recordAddress(tx, actor, user, after)
  if (services.mailer.configured && (await isAllowed({ services, db: tx }, after.email, 'password'))) {
    await services.jobs.enqueue(tx, resetEmail, { user_id: user.id })
  }
}

/** When two requests use one link, the second waits here and then finds it used. */
async function lockUndo(
  services: Services,
  tx: Db,
  link: { user_uuid: string; token: string },
  now: Date,
): Promise<{ user: UserRow; undo: AddressUndo }> {
  const found = isUuid(link.user_uuid) ? await findUserByUuid(tx, link.user_uuid) : undefined
  if (found) await lockUser(tx, found.id)
  const user = found && (await findUserById(tx, found.id))
  const undo = user && (await findAddressUndo(tx, user.id, now))
  if (!user?.is_active || !undo || !opensUndo(services, user, undo, link.token)) {
    throw invalid('token', 'invalid_token', 'The link is wrong, used or too old.')
  }
  return { user, undo }
}

/** The password goes: whoever changed the address knows it, or may have set it. */
async function restoreAddress(tx: Db, user: UserRow, undo: AddressUndo, now: Date): Promise<UserRow> {
  const fields = {
    email: undo.old_email,
    pending_email: null,
    is_email_verified: true,
    password_hash: null,
  }
  try {
    return await takeAddress(tx, () => updateUser(tx, user.id, fields), now)
  } catch (error) {
    if (!(error instanceof AddressTaken)) throw error
    throw invalid('token', 'invalid_token', 'The address of this link belongs to another account by now.')
  }
}

async function recordAddress(tx: Db, actor: Actor, before: UserRow, after: UserRow): Promise<void> {
  await recordActivity(
    tx,
    { ...actor, acting_user: after },
    {
      organization_id: after.current_organization_id,
      scope: 'User',
      activity: 'updated',
      item_id: after.uuid,
      name: after.email,
      changes: changesBetween('User', before, after, ['email', 'pending_email', 'is_email_verified']),
    },
  )
}
