// Which personal keys of a member open an organization: what its admins ask before they change who may use such keys.
import { z } from 'zod'
import { isUuid } from '../../lib/uuid.ts'
import { LEVELS, personOf } from '../../platform/http/caller.ts'
import { denied, notFound } from '../../platform/http/errors.ts'
import { timestamp } from '../../platform/http/fields.ts'
import { ok, route } from '../../platform/http/route.ts'
import { findMember } from '../members/queries.ts'
import { listKeysFor } from './queries.ts'

const WEEK_MS = 7 * 24 * 60 * 60 * 1000

const MemberKeys = z
  .object({
    has_keys: z.boolean(),
    has_keys_active_last_week: z.boolean(),
    keys: z.array(z.object({ name: z.string(), last_used_at: timestamp.nullable() })),
  })
  .meta({ id: 'MemberKeys' })

export const memberKeyRoutes = [
  route({
    method: 'GET',
    path: '/api/organizations/:organization_id/members/:user__uuid/scoped_api_keys/',
    summary: 'The personal API keys of a member that could open this organization, by their labels',
    scope: 'organization_member:read',
    level: 'member',
    item: async ({ db, caller, organization, level, params }) => {
      const uuid = params.user__uuid === '@me' ? personOf(caller).uuid : params.user__uuid
      const member = isUuid(uuid) ? await findMember(db, organization.id, uuid) : undefined
      if (!member) throw notFound()
      if (level < LEVELS.admin && member.user_id !== caller.user?.id) {
        throw denied('Members can only see their own keys.')
      }
      return member
    },
    answers: { 200: MemberKeys },
    async handle({ db, organization, item, now }) {
      const rows = await listKeysFor(db, organization.id, item.user_id)
      const aWeekAgo = new Date(now.getTime() - WEEK_MS)
      return ok({
        has_keys: rows.length > 0,
        has_keys_active_last_week: rows.some(({ last_used_at }) => last_used_at && last_used_at >= aWeekAgo),
        keys: rows.map(({ label, last_used_at }) => ({
          name: label,
          last_used_at: last_used_at?.toISOString() ?? null,
        })),
      })
    },
  }),
]
