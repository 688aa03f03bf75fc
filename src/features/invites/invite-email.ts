// The invite mail. Composed when it is sent: an invite that was deleted, accepted or has expired by then sends nothing.
import { job } from '../../platform/jobs/jobs.ts'
import { composeMessage } from '../../platform/mail/message.ts'
import { findOrganizationById } from '../organizations/queries.ts'
import { inviteLink } from './link.ts'
import { findInvite } from './queries.ts'
import { isExpired } from './rules.ts'

export const inviteEmail = job<{ organization_id: string; invite_id: string }>({
  name: 'invite-email',
  async handle(services, { organization_id, invite_id }, now) {
    const invite = await findInvite(services.db, organization_id, invite_id)
    const organization = await findOrganizationById(services.db, organization_id)
    if (!invite || !organization || isExpired(invite, now)) return
    const inviter = invite.creator
    const who = inviter?.first_name || inviter?.email || organization.name
    const expires = invite.expires_at.toISOString().slice(0, 16).replace('T', ' ')
    await services.mailer.send({
      to: { name: invite.first_name, address: invite.target_email },
      ...(inviter ? { reply_to: { name: inviter.first_name, address: inviter.email } } : {}),
      subject: `${who} invited you to join ${organization.name} on Longshore`,
      ...composeMessage({
        heading: `Join ${organization.name}`,
        paragraphs: [
          `${who} invited you to ${organization.name}.`,
          ...(invite.message ? [invite.message] : []),
          `The invitation is good until ${expires} UTC.`,
        ],
        button: { label: 'Accept the invitation', url: inviteLink(services, invite, 'mailed') },
        footer: 'If you did not expect this, ignore it: nothing happens without you.',
      }),
    })
  },
})
