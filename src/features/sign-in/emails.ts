// The mails of signing in: reset, address verification, changed password or address. Links are made when the mail is sent.
import { job } from '../../platform/jobs/jobs.ts'
import { composeMessage } from '../../platform/mail/message.ts'
import { countWorkingKeys } from '../api-keys/queries.ts'
import { findAddressUndo } from '../users/addresses.ts'
import { findUserById } from '../users/queries.ts'
import { newLinkToken } from './link-tokens.ts'
import { newUndoToken } from './undo-token.ts'

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
  async handle(services, { user_id }, now) {
    const user = await findUserById(services.db, user_id)
    if (!user?.is_active) return
    const keys = await countWorkingKeys(services.db, user_id, now)
    await services.mailer.send({
      to: { name: user.first_name, address: user.email },
      subject: 'Your Longshore password was changed',
      ...composeMessage({
        heading: 'Your password was changed',
        paragraphs: [
          'Your other sessions were signed out.',
          ...(keys === 0 ? [] : [`${keysStillWork(keys)} Delete those that you do not know.`]),
          'If this was not you, reset the password now and tell an admin.',
        ],
        button: { label: 'Reset the password', url: `${services.settings.site_url}/reset` },
      }),
    })
  },
})

export const ownerRecoveryEmail = job<UserJob>({
  name: 'owner-recovery-email',
  async handle(services, { user_id }, now) {
    const user = await findUserById(services.db, user_id)
    if (!user?.is_active) return
    const token = newLinkToken(services, 'owner recovery', user, now)
    await services.mailer.send({
      to: { name: user.first_name, address: user.email },
      subject: 'Sign in to Longshore without your identity provider',
      ...composeMessage({
        heading: 'Sign in without your identity provider',
        paragraphs: [
          'You own an organization whose domain demands sign-in through an identity provider. This link lets you in all the same, for two hours, so that you can put right what is wrong.',
          'The link works once, for one day. Every owner is told when it is used.',
        ],
        button: {
          label: 'Sign in',
          url: `${services.settings.site_url}/login/recovery/${user.uuid}/${token}`,
        },
        footer: 'If you did not ask for it, ignore this mail.',
      }),
    })
  },
})

export const ownerCameBackEmail = job<UserJob & { who: string; domain: string }>({
  name: 'owner-came-back-email',
  async handle(services, { user_id, who, domain }) {
    const owner = await findUserById(services.db, user_id)
    if (!owner?.is_active) return
    await services.mailer.send({
      to: { name: owner.first_name, address: owner.email },
      subject: `An owner signed in without the identity provider of ${domain}`,
      ...composeMessage({
        heading: 'An owner signed in by a mailed link',
        paragraphs: [
          `${who} signed in without the identity provider that ${domain} demands. The link was mailed to that address.`,
          'If nobody of you did this, end the sessions of that account and look at the activity log.',
        ],
        button: { label: 'Open Longshore', url: services.settings.site_url },
      }),
    })
  },
})

/** To the address that was given up. The link goes along as long as that address has a way back. */
export const addressChangedEmail = job<UserJob & { old_email: string }>({
  name: 'address-changed-email',
  async handle(services, { user_id, old_email }, now) {
    const user = await findUserById(services.db, user_id)
    if (!user?.is_active) return
    const undo = await findAddressUndo(services.db, user_id, now)
    const url = `${services.settings.site_url}/undo_email_change/${user.uuid}/`
    await services.mailer.send({
      to: { name: user.first_name, address: old_email },
      subject: 'The address of your Longshore account was changed',
      ...composeMessage({
        heading: 'Your account has another address now',
        paragraphs: ['Mails for this account go to the new address from now on.'],
        ...(undo?.old_email === old_email
          ? {
              button: { label: 'This was not me', url: url + newUndoToken(services, user, undo) },
              footer:
                'The link works once, for three days. It gives the account back to this address and ends its password, sessions and personal API keys.',
            }
          : { footer: 'If this was not you, tell an admin of your organization.' }),
      }),
    })
  },
})

function keysStillWork(count: number): string {
  return count === 1 ? 'One personal API key still works.' : `${count} personal API keys still work.`
}
