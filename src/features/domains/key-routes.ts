// Personal keys of a domain's people: they go on working whatever the domain demands of those who sign in, so admins see
// them and can end them.
import { z } from 'zod'
import { notFound } from '../../platform/http/errors.ts'
import { timestamp } from '../../platform/http/fields.ts'
import { paged, PageQuery } from '../../platform/http/paging.ts'
import { noContent, ok, route } from '../../platform/http/route.ts'
import { nameOfKey } from '../api-keys/key-activity.ts'
import { deleteKey } from '../api-keys/queries.ts'
import { recordActivity } from '../activity-log/record.ts'
import { tellUser } from '../users/notice-email.ts'
import { getDomain } from './get-domain.ts'
import { countKeysOfDomain, findKeyOfDomain, listKeysOfDomain } from './queries.ts'
import type { DomainKeyRow } from './schema.ts'

const DomainKey = z
  .object({
    id: z.string(),
    user_uuid: z.string(),
    email: z.string(),
    label: z.string(),
    mask_value: z.string(),
    created_at: timestamp,
    last_used_at: timestamp.nullable(),
    expires_at: timestamp.nullable(),
  })
  .meta({ id: 'DomainKey' })

export const domainKeyRoutes = [
  route({
    method: 'GET',
    path: '/api/organizations/:organization_id/domains/:domain_id/keys/',
    summary: 'Personal API keys of members whose address lies in a verified domain, the newest first',
    scope: 'organization:read',
    level: 'admin',
    item: ({ db, organization, params }) => getDomain(db, organization.id, params.domain_id),
    query: PageQuery,
    answers: { 200: paged(DomainKey) },
    async handle({ db, item, page, paged }) {
      const rows = await listKeysOfDomain(db, item, page)
      return ok(paged(await countKeysOfDomain(db, item), rows.map(presentKey)))
    },
  }),

  route({
    method: 'DELETE',
    path: '/api/organizations/:organization_id/domains/:domain_id/keys/:id/',
    summary: 'End a personal API key of somebody with an address in a verified domain; they are notified',
    scope: 'organization:write',
    level: 'admin',
    needs_recent_sign_in: true,
    async item({ db, organization, params }) {
      const domain = await getDomain(db, organization.id, params.domain_id)
      const row = await findKeyOfDomain(db, domain, params.id)
      if (!row) throw notFound()
      return row
    },
    answers: { 204: null },
    async handle(context) {
      const { services, db, organization, item } = context
      await db.transaction(async (tx) => {
        const deleted = await deleteKey(tx, { user_id: item.user_id }, item.id)
        // Into the log of the organization that does it, whichever one the key's owner looks at.
        await recordActivity(tx, context, {
          organization_id: organization.id,
          scope: 'PersonalAPIKey',
          activity: 'deleted',
          item_id: deleted.id,
          name: `${nameOfKey(deleted)} of ${item.email}`,
        })
        await tellUser(services, tx, item.user_id, { notice: 'key_ended', about: nameOfKey(deleted) })
      })
      return noContent()
    },
  }),
]

function presentKey(row: DomainKeyRow): z.input<typeof DomainKey> {
  return {
    id: row.id,
    user_uuid: row.user_uuid,
    email: row.email,
    label: row.label,
    mask_value: row.mask_value,
    created_at: row.created_at.toISOString(),
    last_used_at: row.last_used_at?.toISOString() ?? null,
    expires_at: row.expires_at?.toISOString() ?? null,
  }
}
