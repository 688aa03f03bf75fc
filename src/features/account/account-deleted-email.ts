// The last mail of an account: its owner hears that it is gone, whoever deleted it.
import { job } from '../../platform/jobs/jobs.ts'
import { composeMessage } from '../../platform/mail/message.ts'

/** The address comes along: by the time of sending there is no account to ask. */
export const accountDeletedEmail = job<{ email: string }>({
  name: 'account-deleted-email',
  async handle(services, { email }) {
    await services.mailer.send({
      to: { name: '', address: email },
      subject: 'Your Longshore account was deleted',
      ...composeMessage({
        heading: 'Your account is gone',
        paragraphs: [
          'Your Longshore account was deleted, with its memberships, sessions and personal API keys.',
          'If this was not you, tell whoever runs the server.',
        ],
      }),
    })
  },
})
