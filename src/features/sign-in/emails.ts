// The mails of signing in: reset, address verification, changed password. Links are made when the mail is sent.
import { job } from '../../platform/jobs/jobs.ts'
import { composeMessage } from '../../platform/mail/message.ts'
import { findUserById } from '../users/queries.ts'
import { newLinkToken } from './link-tokens.ts'

type UserJob = { user_id: number }

export const resetEmail = job<UserJob>({
  name: 'reset-email',
  async handle(services, { user_id }, now) {
    const user = await findUserById(services.db, user_id)
    if (!user?.is_active) return
    const token = newLinkToken(services, 'password reset', user, now)
    await services.mailer.send({
      to: { name: user.first_name, address: user.email },
      subject: 'Set a new password for Longshore',
      ...composeMessage({
        heading: 'Set a new password',
        paragraphs: [
          'Somebody, hopefully you, asked to reset the password of this account.',
          'The link works once, for one day.',
        ],
        button: {
          label: 'Set a new password',
          url: `${services.settings.site_url}/reset/${user.uuid}/${token}`,
        },
        footer: 'If it was not you, ignore this mail: the password stays as it is.',
      }),
    })
  },
})

export const verificationEmail = job<UserJob>({
  name: 'verification-email',
  async handle(services, { user_id }, now) {
    const user = await findUserById(services.db, user_id)
    if (!user?.is_active || (user.is_email_verified && user.pending_email === null)) return
    const token = newLinkToken(services, 'e-mail verification', user, now)
    await services.mailer.send({
      to: { name: user.first_name, address: user.pending_email ?? user.email },
      subject: 'Verify your e-mail address for Longshore',
      ...composeMessage({
        heading: 'Is this your address?',
        paragraphs: ['Follow the link to confirm it. It works once, for one day.'],
        button: {
          label: 'Verify the address',
          url: `${services.settings.site_url}/verify_email/${user.uuid}/${token}`,
        },
      }),
    })
  },
})

export const passwordChangedEmail = job<UserJob>({
  name: 'password-changed-email',
  async handle(services, { user_id }) {
    const user = await findUserById(services.db, user_id)
    if (!user?.is_active) return
    await services.mailer.send({
      to: { name: user.first_name, address: user.email },
      subject: 'Your Longshore password was changed',
      ...composeMessage({
        heading: 'Your password was changed',
        paragraphs: [
          'Your other sessions were signed out.',
          'If this was not you, reset the password now and tell an admin.',
        ],
        button: { label: 'Reset the password', url: `${services.settings.site_url}/reset` },
      }),
    })
  },
})
