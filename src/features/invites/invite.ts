// Inviting one or several addresses: all or none, older invites of the same addresses replaced, the mails enqueued.
import type { Db } from '../../platform/db/database.ts'
import type { OrganizationInReach } from '../../platform/http/access.ts'
import type { Caller, Level } from '../../platform/http/caller.ts'
import { invalid } from '../../platform/http/errors.ts'
import type { Services } from '../../platform/services.ts'
import { recordActivity, type Actor } from '../activity-log/record.ts'
import { inviteEmail } from './invite-email.ts'
import { deleteInvitesFor, findInvite, insertInvite, isMemberAddress, lockInvites } from './queries.ts'
import { assertMayGive, withEarlierPromises } from './project-access.ts'
import { assertMayInvite, assertMayReplace, isExpired } from './rules.ts'
import type { InviteFields, InviteRow, ListedInvite, ProjectAccess } from './schema.ts'

// One mail each, wanted or not: this keeps an organization from being used to pester people.
const RATES = [
  { count: 50, window_ms: 3_600_000 },
  { count: 200, window_ms: 86_400_000 },
]

export type InvitingContext = Actor & {
  services: Services
  db: Db
  caller: Caller
  organization: OrganizationInReach
  level: Level
}

export async function inviteAll(
  context: InvitingContext,
  invites: readonly InviteFields[],
): Promise<ListedInvite[]> {
  const { services, db, organization, now } = context
  for (const invite of invites) assertMayInvite(organization, context.level, invite.level)
  takeInvites(services, organization.id, invites.length, now)
  return db.transaction(async (tx) => {
    await lockInvites(tx, organization.id)
    const made: ListedInvite[] = []
    for (const invite of invites) made.push(await inviteOne(tx, context, invite))
    return made
  })
}

/** Resent invites count as well: each is a mail. */
export function takeInvites(services: Services, organizationId: string, count: number, now: Date): void {
  services.throttle.take('invites', organizationId, RATES, now, count)
}

async function inviteOne(tx: Db, context: InvitingContext, fields: InviteFields): Promise<ListedInvite> {
  const { services, caller, organization, now } = context
  if (await isMemberAddress(tx, organization.id, fields.target_email)) {
    throw invalid(null, 'invalid_input', `${fields.target_email} is a member of this organization already.`)
  }
  const replaced = await deleteInvitesFor(tx, organization.id, fields.target_email)
  assertMayReplace({ level: context.level, user_id: caller.user?.id ?? null }, replaced, now)
  for (const invite of replaced)
    await recordActivity(tx, context, { ...inviteActivity(invite), activity: 'deleted', changes: [] })
  const level = fields.combine_pending_invites ? highestLevel(fields.level, replaced, now) : fields.level
  await assertMayGive(tx, context, fields.private_project_access)
  const private_project_access = fields.combine_pending_invites
    ? await withEarlierPromises(tx, context, fields.private_project_access, promisesOf(replaced, now))
    : fields.private_project_access
  const sendsMail = fields.send_email && services.mailer.configured
  const row = await insertInvite(
    tx,
    organization.id,
    {
      ...fields,
      level,
      private_project_access,
      emailing_attempt_made: sendsMail,
      created_by: caller.user?.id ?? null,
    },
    now,
  )
  if (sendsMail)
    await services.jobs.enqueue(tx, inviteEmail, { organization_id: organization.id, invite_id: row.id })
  await recordActivity(tx, context, { ...inviteActivity(row), activity: 'created' })
  return (await findInvite(tx, organization.id, row.id))!
}

function highestLevel(asked: Level, pending: readonly InviteRow[], now: Date): Level {
  const levels = pending.filter((invite) => !isExpired(invite, now)).map((invite) => invite.level)
  return Math.max(asked, ...levels) as Level
}

function promisesOf(pending: readonly InviteRow[], now: Date): ProjectAccess[] {
  return pending
    .filter((invite) => !isExpired(invite, now))
    .flatMap((invite) => invite.private_project_access)
}

export function inviteActivity(row: InviteRow) {
  return {
    organization_id: row.organization_id,
    scope: 'OrganizationInvite' as const,
    item_id: row.id,
    name: row.target_email,
    changes: [
      {
        type: 'OrganizationInvite',
        action: 'created' as const,
        field: 'level',
        before: null,
        after: row.level,
      },
    ],
  }
}
