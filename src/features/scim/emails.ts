// Mails about what a directory did, or could not do.
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import { LEVELS } from '../../platform/http/caller.ts'
import { job } from '../../platform/jobs/jobs.ts'
import { composeMessage } from '../../platform/mail/message.ts'
import { findUserById } from '../users/queries.ts'
import type { Directory } from './directory.ts'
import { claimTellingOwners, type ScimUserRow } from './user-queries.ts'

export const addressByDirectoryEmail = job<{ user_id: number; old_email: string; domain: string }>({
  name: 'address-by-directory-email',
  async handle(services, { user_id, old_email, domain }) {
    const user = await findUserById(services.db, user_id)
    if (!user?.is_active) return
    await services.mailer.send({
      to: { name: user.first_name, address: old_email },
      subject: 'The address of your Longshore account was changed',
      ...composeMessage({
        heading: 'The address of your account was changed',
        paragraphs: [
          `The directory of ${domain} has changed the address of this account to ${user.email}.`,
          'If that is wrong, tell an admin of your organization.',
        ],
      }),
    })
  },
})

/** A directory tries again and again; the owners hear of it once a day. */
export async function tellOwners(
  { services, domain, now }: Directory,
  person: Pick<ScimUserRow, 'id' | 'user_id'>,
): Promise<void> {
  if (!services.mailer.configured) return
  await services.db.transaction(async (tx) => {
    if (!(await claimTellingOwners(tx, domain.id, person.id, now))) return
    for (const { user_id } of await ownersOf(tx, domain.organization_id)) {
      const data = { user_id, kept_user_id: person.user_id, domain: domain.domain }
      await services.jobs.enqueue(tx, lastOwnerEmail, data)
    }
  })
}

function ownersOf(db: Db, organizationId: string): Promise<{ user_id: number }[]> {
  return db.rows(sql`
    SELECT user_id FROM membership JOIN app_user ON app_user.id = user_id
    WHERE organization_id = ${organizationId} AND level = ${LEVELS.owner} AND is_active ORDER BY user_id`)
}

export const lastOwnerEmail = job<{ user_id: number; kept_user_id: number; domain: string }>({
  name: 'directory-last-owner-email',
  async handle(services, { user_id, kept_user_id, domain }) {
    const owner = await findUserById(services.db, user_id)
    const kept = await findUserById(services.db, kept_user_id)
    if (!owner?.is_active || !kept) return
    await services.mailer.send({
      to: { name: owner.first_name, address: owner.email },
      subject: `The directory of ${domain} wanted to remove the last owner`,
      ...composeMessage({
        heading: 'The last owner was not removed',
        paragraphs: [
          `The directory of ${domain} wanted to remove ${kept.email}, the last owner of your organization. It was refused, because nobody would be left to own it.`,
          'Make somebody else owner first. The directory will try again by itself.',
        ],
        button: { label: 'Open Longshore', url: services.settings.site_url },
      }),
    })
  },
})
