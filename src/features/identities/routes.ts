// The providers somebody can sign in with. Sessions only; the last way in stays.
import type { z } from 'zod'
import { isUuid } from '../../lib/uuid.ts'
import { conflict, denied, notFound } from '../../platform/http/errors.ts'
import { paged, PageQuery } from '../../platform/http/paging.ts'
import { noContent, ok, route } from '../../platform/http/route.ts'
import { recordActivity } from '../activity-log/record.ts'
import { tellUser } from '../users/notice-email.ts'
import { getUser } from '../users/queries.ts'
import { countIdentities, deleteIdentity, findIdentityOf, listIdentities } from './queries.ts'
import { Identity, type IdentityRow } from './schema.ts'

export const identityRoutes = [
  route({
    method: 'GET',
    path: '/api/users/:uuid/identities/',
    summary: 'The identity providers you can sign in with',
    access: 'session',
    item: async ({ caller, params }) => assertOwn(caller.user.uuid, params.uuid),
    query: PageQuery,
    answers: { 200: paged(Identity) },
    async handle({ db, caller, page, paged }) {
      const rows = await listIdentities(db, caller.user.id, page)
      return ok(paged(await countIdentities(db, caller.user.id), rows.map(presentIdentity)))
    },
  }),

  route({
    method: 'DELETE',
    path: '/api/users/:uuid/identities/:id/',
    summary: 'Stop signing in with an identity provider; the last way into an account cannot be removed',
    access: 'session',
    changes_account: true,
    async item({ db, caller, params }) {
      assertOwn(caller.user.uuid, params.uuid)
      const row = isUuid(params.id) ? await findIdentityOf(db, caller.user.id, params.id) : undefined
      if (!row) throw notFound()
      return row
    },
    answers: { 204: null },
    async handle(context) {
      const { services, db, caller, item } = context
      const user = await getUser(db, caller.user.id)
      if (user.password_hash === null && (await countIdentities(db, user.id)) < 2)
        throw conflict('This is the only way into your account: set a password first.')
      if (!(await deleteIdentity(db, user.id, item.id))) throw notFound()
      await recordActivity(db, context, {
        organization_id: user.current_organization_id,
        scope: 'User',
        activity: 'updated',
        item_id: user.uuid,
        name: user.email,
        changes: [
          {
            type: 'User',
            action: 'deleted',
            field: 'identity',
            before: `${item.provider} ${item.issuer}`,
            after: null,
          },
        ],
      })
      await tellUser(services, db, user.id, { notice: 'identity_removed', about: item.issuer })
      return noContent()
    },
  }),
]

function assertOwn(own: string, given: string): void {
  if (given !== '@me' && given.toLowerCase() !== own) throw denied('You can only reach your own identities.')
}

function presentIdentity(row: IdentityRow): z.input<typeof Identity> {
  return {
    id: row.id,
    provider: row.provider,
    issuer: row.issuer,
    email: row.email,
    created_at: row.created_at.toISOString(),
    last_used_at: row.last_used_at.toISOString(),
  }
}
