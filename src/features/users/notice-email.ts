// Tells people of changes to their account that somebody else may have made.
import type { Db } from '../../platform/db/database.ts'
import { job } from '../../platform/jobs/jobs.ts'
import { composeMessage } from '../../platform/mail/message.ts'
import type { Services } from '../../platform/services.ts'
import { findUserById } from './queries.ts'

const NOTICES = {
  second_factor_on: 'Two-factor authentication was switched on',
  second_factor_off: 'Two-factor authentication was switched off',
  backup_codes_replaced: 'New backup codes were made',
  key_made: 'A personal API key was made',
  key_changed: 'A personal API key was changed',
  key_ended: 'An admin of your organization ended a personal API key of yours',
  key_rolled: 'A personal API key was given a new value',
  identity_linked: 'A new way to sign in was added',
  identity_removed: 'A way to sign in was removed',
} as const

/** `about` names the thing where there are several, such as a key by its label and mask. */
type Notice = { notice: keyof typeof NOTICES; about?: string }

export async function tellUser(services: Services, tx: Db, userId: number, notice: Notice): Promise<void> {
  if (services.mailer.configured) await services.jobs.enqueue(tx, noticeEmail, { user_id: userId, ...notice })
}

export const noticeEmail = job<Notice & { user_id: number }>({
  name: 'account-notice-email',
  async handle(services, { user_id, notice, about }) {
    const user = await findUserById(services.db, user_id)
    if (!user?.is_active) return
    const heading = NOTICES[notice]
    await services.mailer.send({
      to: { name: user.first_name, address: user.email },
      subject: `${heading} in your Longshore account`,
      ...composeMessage({
        heading,
        paragraphs: [
          ...(about === undefined ? [] : [about]),
          'If this was not you, reset the password now, delete keys you do not know, and tell an admin.',
        ],
        button: { label: 'Reset the password', url: `${services.settings.site_url}/reset` },
      }),
    })
  },
})
