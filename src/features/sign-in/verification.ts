// Proving that an address is the user's own: when it is due, asking for it, and taking the answer.
import type { Db } from '../../platform/db/database.ts'
import { ApiError, invalid } from '../../platform/http/errors.ts'
import type { Services } from '../../platform/services.ts'
import type { Actor } from '../activity-log/record.ts'
import { assertMayMove } from '../domains/allowed-ways.ts'
import { AddressTaken, takeAddress } from '../users/addresses.ts'
import { updateUser } from '../users/queries.ts'
import type { UserRow } from '../users/schema.ts'
import { offerUndo } from './address-undo.ts'
import { verificationEmail } from './emails.ts'
import { lockUserByLink } from './link-tokens.ts'

const RATES = [{ count: 6, window_ms: 86_400_000 }]

/** Without outgoing mail nobody could prove anything, so nothing is asked. */
export function isVerificationDue(services: Services, user: Pick<UserRow, 'is_email_verified'>): boolean {
  return services.mailer.configured && !user.is_email_verified
}

/** Six links a day for each user; counted by what was asked for, so that a refusal does not tell who exists. */
export function takeVerificationRequest(services: Services, userUuid: string, now: Date): void {
  services.throttle.take('e-mail verification', userUuid.toLowerCase(), RATES, now)
}

/** Six new addresses a day, counted apart: anybody can ask for links of a user whose uuid they know. */
export function takeAddressChange(services: Services, user: Pick<UserRow, 'uuid'>, now: Date): void {
  services.throttle.take('change of address', user.uuid, RATES, now)
}

export async function askForVerification(services: Services, db: Db, user: UserRow): Promise<void> {
  await services.jobs.enqueue(db, verificationEmail, { user_id: user.id })
}

/** At a sign-in that fails for want of it: the link goes out again while the day's share lasts. */
export async function remindOfVerification(
  services: Services,
  db: Db,
  user: UserRow,
  now: Date,
): Promise<void> {
  try {
    takeVerificationRequest(services, user.uuid, now)
  } catch (error) {
    if (error instanceof ApiError && error.code === 'throttled') return
    throw error
  }
  await askForVerification(services, db, user)
}

/** The address of the link becomes the user's; `is_new_address` when it takes the place of another. */
export async function acceptVerification(
  context: Actor & { services: Services },
  tx: Db,
  link: { user_uuid: string; token: string },
): Promise<{ user: UserRow; is_new_address: boolean }> {
  const { services, now } = context
  const before = await lockUserByLink(services, tx, { purpose: 'e-mail verification', ...link }, now)
  const { pending_email } = before
  if (pending_email !== null) await assertMayMove({ services, db: tx }, before, pending_email)
  const address = pending_email === null ? {} : { email: pending_email, pending_email: null }
  try {
    const write = () => updateUser(tx, before.id, { ...address, is_email_verified: true })
    const user = await takeAddress(tx, write, now)
    if (pending_email !== null) await offerUndo(context, tx, before, user)
    return { user, is_new_address: pending_email !== null }
  } catch (error) {
    if (!(error instanceof AddressTaken)) throw error
    throw invalid('token', 'invalid_token', 'The address of this link belongs to another account by now.')
  }
}
