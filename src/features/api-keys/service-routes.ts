// Service keys: they belong to the organization, so they outlive the person who made them. Admins manage them.
import type { Db } from '../../platform/db/database.ts'
import { LEVELS, type Caller } from '../../platform/http/caller.ts'
import { denied, notFound } from '../../platform/http/errors.ts'
import { paged, PageQuery } from '../../platform/http/paging.ts'
import { created, noContent, ok, route } from '../../platform/http/route.ts'
import { recordKeyChanged, recordKeyDeleted, recordKeyMade } from './key-activity.ts'
import { newServiceKey } from './key-value.ts'
import { presentServiceKey } from './present.ts'
import {
  countServiceKeys,
  deleteKey,
  findServiceKey,
  insertKey,
  listServiceKeys,
  replaceKeyValue,
  updateKey,
  type ServiceKeyRow,
} from './queries.ts'
import { assertExpiryAhead, assertLimitsInReach } from './rules.ts'
import { ServiceKey, ServiceKeyCreate, ServiceKeyUpdate } from './schema.ts'

export const serviceKeyRoutes = [
  route({
    method: 'GET',
    path: '/api/organizations/:organization_id/service_keys/',
    summary: "List the organization's service keys, newest first",
    scope: 'organization:read',
    level: 'admin',
    query: PageQuery,
    answers: { 200: paged(ServiceKey) },
    async handle({ db, organization, page, paged }) {
      const rows = await listServiceKeys(db, organization.id, page)
      return ok(
        paged(
          await countServiceKeys(db, organization.id),
          rows.map((row) => presentServiceKey(row)),
        ),
      )
    },
  }),

  route({
    method: 'POST',
    path: '/api/organizations/:organization_id/service_keys/',
    summary: 'Make a service key; its value is in this answer and never again',
    scope: 'organization:write',
    level: 'admin',
    needs_recent_sign_in: true,
    item: async ({ caller }) => assertNoKeyMaking(caller),
    body: ServiceKeyCreate,
    examples: { 'For a program that reads exports': { label: 'Dashboard', scopes: ['batch_export:read'] } },
    answers: { 201: ServiceKey },
    async handle(context) {
      const { db, caller, organization, body, now } = context
      assertExpiryAhead(body, now)
      const key = newServiceKey()
      const { level = LEVELS.admin, ...fields } = body
      const row = await db.transaction(async (tx) => {
        await assertLimitsInReach(tx, { organization_id: organization.id }, fields)
        const owner = { organization_id: organization.id, level }
        const inserted = await insertKey(tx, owner, fields, key, caller.user?.id ?? null, now)
        await recordKeyMade(tx, context, inserted)
        return getServiceKey(tx, organization.id, inserted.id)
      })
      return created(presentServiceKey(row, key.value))
    },
  }),

  route({
    method: 'GET',
    path: '/api/organizations/:organization_id/service_keys/:id/',
    summary: 'One service key',
    scope: 'organization:read',
    level: 'admin',
    answers: { 200: ServiceKey },
    async handle({ db, organization, params }) {
      return ok(presentServiceKey(await getServiceKey(db, organization.id, params.id)))
    },
  }),

  route({
    method: 'PATCH',
    path: '/api/organizations/:organization_id/service_keys/:id/',
    summary: 'Change label, scopes, limits or expiry of a service key',
    scope: 'organization:write',
    level: 'admin',
    needs_recent_sign_in: true,
    item: async ({ db, caller, organization, params }) => {
      assertNoKeyMaking(caller)
      return getServiceKey(db, organization.id, params.id)
    },
    body: ServiceKeyUpdate,
    examples: { Rename: { label: 'Dashboard (office)' } },
    answers: { 200: ServiceKey },
    async handle(context) {
      const { db, organization, item, body, now } = context
      if (Object.keys(body).length === 0) return ok(presentServiceKey(item))
      assertExpiryAhead(body, now)
      const row = await db.transaction(async (tx) => {
        await assertLimitsInReach(tx, { organization_id: organization.id }, body)
        const after = await updateKey(tx, { organization_id: organization.id }, item.id, body)
        await recordKeyChanged(tx, context, 'updated', item, after)
        return { ...item, ...after }
      })
      return ok(presentServiceKey(row))
    },
  }),

  route({
    method: 'DELETE',
    path: '/api/organizations/:organization_id/service_keys/:id/',
    summary: 'Delete a service key; it stops working at once',
    scope: 'organization:write',
    level: 'admin',
    needs_recent_sign_in: true,
    item: ({ db, organization, params }) => getServiceKey(db, organization.id, params.id),
    answers: { 204: null },
    async handle(context) {
      const { db, organization, item } = context
      await db.transaction(async (tx) => {
        await recordKeyDeleted(
          tx,
          context,
          await deleteKey(tx, { organization_id: organization.id }, item.id),
        )
      })
      return noContent()
    },
  }),

  route({
    method: 'POST',
    path: '/api/organizations/:organization_id/service_keys/:id/roll/',
    summary: "Replace a service key's value; the old one stops working at once",
    scope: 'organization:write',
    level: 'admin',
    needs_recent_sign_in: true,
    item: async ({ db, caller, organization, params }) => {
      assertNoKeyMaking(caller)
      return getServiceKey(db, organization.id, params.id)
    },
    answers: { 200: ServiceKey },
    async handle(context) {
      const { db, organization, item, now } = context
      assertExpiryAhead(item, now)
      const key = newServiceKey()
      const row = await db.transaction(async (tx) => {
        const rolled = await replaceKeyValue(tx, { organization_id: organization.id }, item.id, key, now)
        await recordKeyChanged(tx, context, 'rolled', item, rolled)
        return { ...item, ...rolled }
      })
      return ok(presentServiceKey(row, key.value))
    },
  }),
]

/** A key that could make or widen service keys could hand itself any scope: that is left to people and full keys. */
function assertNoKeyMaking(caller: Caller): void {
  if (caller.kind !== 'session' && !caller.key.scopes.includes('*')) {
    throw denied('Making or changing service keys requires a session, or a key with the scope `*`.')
  }
}

async function getServiceKey(db: Db, organizationId: string, id: string): Promise<ServiceKeyRow> {
  const row = await findServiceKey(db, organizationId, id)
  if (!row) throw notFound()
  return row
}
