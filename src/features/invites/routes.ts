// Invites: who is asked to join, at which level; pending and expired ones, until they are accepted or taken back.
import { z } from 'zod'
import { isUuid } from '../../lib/uuid.ts'
import { denied, notFound } from '../../platform/http/errors.ts'
import { paged, PageQuery } from '../../platform/http/paging.ts'
import { created, noContent, ok, route } from '../../platform/http/route.ts'
import type { Db } from '../../platform/db/database.ts'
import { recordActivity } from '../activity-log/record.ts'
import { inviteActivity, inviteAll, takeInvites } from './invite.ts'
import { inviteEmail } from './invite-email.ts'
import { presentInvite, presentMadeInvite } from './present.ts'
import { countInvites, deleteInvite, findInvite, listInvites, renewInvite } from './queries.ts'
import { assertMayResend } from './project-access.ts'
import { assertDistinct, assertMayInvite, mayEnd } from './rules.ts'
import { Invite, InviteBulk, InviteCreate, MadeInvite, type ListedInvite } from './schema.ts'

export const inviteRoutes = [
  route({
    method: 'GET',
    path: '/api/organizations/:organization_id/invites/',
    summary: 'List pending and expired invites, newest first',
    scope: 'organization_member:read',
    level: 'member',
    query: PageQuery,
    answers: { 200: paged(Invite) },
    async handle({ db, organization, level, page, paged, now }) {
      const rows = await listInvites(db, organization.id, page)
      return ok(
        paged(
          await countInvites(db, organization.id),
          rows.map((row) => presentInvite(row, level, now)),
        ),
      )
    },
  }),

  route({
    method: 'POST',
    path: '/api/organizations/:organization_id/invites/',
    summary:
      'Invite an address; an earlier invite for it is replaced, if it is yours or you are admin, and not above your level',
    scope: 'organization_member:write',
    level: 'member',
    body: InviteCreate,
    examples: { 'Invite an admin': { target_email: 'ada@example.com', first_name: 'Ada', level: 8 } },
    answers: { 201: MadeInvite },
    async handle(context) {
      const [row] = await inviteAll(context, [context.body])
      return created(presentMadeInvite(context.services, row!, context.now))
    },
  }),

  route({
    method: 'POST',
    path: '/api/organizations/:organization_id/invites/bulk/',
    summary: 'Invite up to 20 addresses, all or none',
    scope: 'organization_member:write',
    level: 'member',
    body: InviteBulk,
    examples: {
      'Two members': [{ target_email: 'ada@example.com' }, { target_email: 'grace@example.com' }],
    },
    answers: { 200: z.union([z.array(MadeInvite), MadeInvite]) },
    async handle(context) {
      const { services, body, now } = context
      const isList = Array.isArray(body)
      const invites = isList ? body : [body]
      assertDistinct(invites)
      const rows = await inviteAll(context, invites)
      const presented = rows.map((row) => presentMadeInvite(services, row, now))
      return ok(isList ? presented : presented[0]!)
    },
  }),

  route({
    method: 'DELETE',
    path: '/api/organizations/:organization_id/invites/:id/',
    summary: 'Delete an invite; its link stops working',
    scope: 'organization_member:write',
    level: 'member',
    item: async ({ db, caller, organization, level, params }) => {
      const invite = await getInvite(db, organization.id, params.id)
      if (!mayEnd({ level, user_id: caller.user?.id ?? null }, invite))
        throw denied('Members can only take back their own invites.')
      return invite
    },
    answers: { 204: null },
    async handle(context) {
      const { db, organization, item } = context
      await db.transaction(async (tx) => {
        if ((await deleteInvite(tx, organization.id, item.id)) === 0) throw notFound()
        await recordActivity(tx, context, { ...inviteActivity(item), activity: 'deleted', changes: [] })
      })
      return noContent()
    },
  }),

  route({
    method: 'POST',
    path: '/api/organizations/:organization_id/invites/:id/resend/',
    summary:
      'Send an invite again, valid for another three days and with a new link; earlier links stop working',
    scope: 'organization_member:write',
    level: 'member',
    item: async (context) => {
      const { db, organization, level, params } = context
      const invite = await getInvite(db, organization.id, params.id)
      assertMayInvite(organization, level, invite.level)
      await assertMayResend(db, context, invite.private_project_access)
      return invite
    },
    answers: { 200: MadeInvite },
    async handle(context) {
      const { services, db, organization, item, now } = context
      takeInvites(services, organization.id, 1, now)
      const row = await db.transaction(async (tx) => {
        const sendsMail = services.mailer.configured
        const renewed = await renewInvite(tx, organization.id, item.id, sendsMail, now)
        const address = { organization_id: organization.id, invite_id: item.id }
        if (sendsMail) await services.jobs.enqueue(tx, inviteEmail, address)
        await recordActivity(tx, context, { ...inviteActivity(item), activity: 'resent', changes: [] })
        return { ...item, ...renewed }
      })
      return ok(presentMadeInvite(services, row, now))
    },
  }),
]

async function getInvite(db: Db, organizationId: string, id: string): Promise<ListedInvite> {
  const invite = isUuid(id) ? await findInvite(db, organizationId, id) : undefined
  if (!invite) throw notFound()
  return invite
}
