// Proving that an address is the user's own: when it is due, asking for it, and taking the answer.
import { violatedUnique, type Db } from '../../platform/db/database.ts'
import { invalid } from '../../platform/http/errors.ts'
import type { Services } from '../../platform/services.ts'
import { updateUser } from '../users/queries.ts'
import type { UserRow } from '../users/schema.ts'
import { verificationEmail } from './emails.ts'
import { isLinkTokenGood } from './link-tokens.ts'

const RATES = [{ count: 6, window_ms: 86_400_000 }]

/** Without outgoing mail nobody could prove anything, so nothing is asked. */
export function isVerificationDue(services: Services, user: Pick<UserRow, 'is_email_verified'>): boolean {
  return services.mailer.configured && !user.is_email_verified
}

export async function askForVerification(services: Services, db: Db, user: UserRow, now: Date): Promise<void> {
  services.throttle.take('e-mail verification', String(user.id), RATES, now)
  await services.jobs.enqueue(db, verificationEmail, { user_id: user.id })
}

/** The address of the link becomes the user's; a pending one replaces the old. */
export async function acceptVerification(services: Services, tx: Db, user: UserRow | undefined, token: string, now: Date): Promise<UserRow> {
  if (!user?.is_active || !isLinkTokenGood(services, 'e-mail verification', user, token, now)) {
    throw invalid('token', 'invalid_token', 'The link is wrong, used or too old.')
  }
  const address = user.pending_email === null ? {} : { email: user.pending_email, pending_email: null }
  try {
    return await updateUser(tx, user.id, { ...address, is_email_verified: true })
  } catch (error) {
    if (violatedUnique(error) !== 'app_user_email_unique') throw error
    throw invalid('token', 'invalid_token', 'The address of this link belongs to another account by now.')
  }
}
