// "Somebody joined": one mail to every other member who wants it, if the organization does. One job per recipient, so that one
// bad address costs the others nothing.
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import { job } from '../../platform/jobs/jobs.ts'
import { composeMessage } from '../../platform/mail/message.ts'
import type { Services } from '../../platform/services.ts'
import { findUserById } from '../users/queries.ts'
import { wantsMailsOfJoining } from '../users/wanted-mails.ts'
import { findMembership } from './queries.ts'

type Joined = { organization_id: string; joined_user_id: number; recipient_id: number }

export async function announceJoin(
  services: Services,
  tx: Db,
  organization: { id: string; is_member_join_email_enabled: boolean },
  joinedUserId: number,
): Promise<void> {
  if (!organization.is_member_join_email_enabled || !services.mailer.configured) return
  const others = await tx.rows<{ user_id: number }>(sql`
    SELECT user_id FROM membership JOIN app_user ON app_user.id = user_id
    WHERE organization_id = ${organization.id} AND user_id <> ${joinedUserId} AND is_active
      AND ${wantsMailsOfJoining(organization.id)} ORDER BY user_id`)
  for (const { user_id } of others) {
    const data = { organization_id: organization.id, joined_user_id: joinedUserId, recipient_id: user_id }
    await services.jobs.enqueue(tx, joinedEmail, data)
  }
}

export const joinedEmail = job<Joined>({
  name: 'joined-email',
  async handle(services, { organization_id, joined_user_id, recipient_id }) {
    const joined = await findUserById(services.db, joined_user_id)
    const recipient = await findUserById(services.db, recipient_id)
    // Whoever left in the meantime hears nothing more of the organization.
    if (
      !joined ||
      !recipient?.is_active ||
      !(await findMembership(services.db, organization_id, recipient_id))
    )
      return
    const name = joined.first_name || joined.email
    await services.mailer.send({
      to: { name: recipient.first_name, address: recipient.email },
      subject: `${name} joined you on Longshore`,
      ...composeMessage({
        heading: `${name} joined your organization`,
        paragraphs: [`${name} (${joined.email}) accepted the invitation.`],
        button: { label: 'Open Longshore', url: services.settings.site_url },
      }),
    })
  },
})
