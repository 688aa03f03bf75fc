// Personal API keys: managed in a session only; a key can merely look at itself.
import { z } from 'zod'
import type { Db } from '../../platform/db/database.ts'
import { denied, invalid, notFound } from '../../platform/http/errors.ts'
import { created, noContent, ok, route } from '../../platform/http/route.ts'
import { tellUser } from '../users/notice-email.ts'
import { nameOfKey, recordKeyChanged, recordKeyDeleted, recordKeyMade } from './key-activity.ts'
import { newPersonalKey } from './key-value.ts'
import { presentCurrentKey, presentPersonalKey } from './present.ts'
import {
  deleteKey,
  findPersonalKey,
  findServiceKey,
  insertKey,
  listPersonalKeys,
  lockAndCountKeys,
  replaceKeyValue,
  updateKey,
} from './queries.ts'
import { assertExpiryAhead, assertLimitsInReach, assertOpensSomething } from './rules.ts'
import {
  CurrentKey,
  PersonalApiKey,
  PersonalApiKeyCreate,
  PersonalApiKeyUpdate,
  type KeyRow,
} from './schema.ts'

export const personalKeyRoutes = [
  route({
    method: 'GET',
    path: '/api/personal_api_keys/',
    summary: 'List your keys, newest first',
    access: 'session',
    answers: { 200: z.array(PersonalApiKey) },
    async handle({ db, caller }) {
      return ok((await listPersonalKeys(db, caller.user.id)).map((row) => presentPersonalKey(row)))
    },
  }),

  route({
    method: 'POST',
    path: '/api/personal_api_keys/',
    summary: 'Make a key; its value is in this answer and never again',
    access: 'session',
    changes_account: true,
    body: PersonalApiKeyCreate,
    examples: {
      'Only for queries of one project': { label: 'Notebook', scopes: ['query:read'], scoped_teams: [1] },
    },
    answers: { 201: PersonalApiKey },
    async handle(context) {
      const { services, db, caller, body, now } = context
      const owner = { user_id: caller.user.id }
      assertExpiryAhead(body, now)
      const key = newPersonalKey()
      const row = await db.transaction(async (tx) => {
        await assertLimitsInReach(tx, owner, body)
        await assertOpensSomething(tx, caller.user.id, body)
        const limit = services.settings.max_keys_per_user
        if ((await lockAndCountKeys(tx, caller.user.id)) >= limit) {
          throw invalid(null, 'invalid_input', `A user can have ${limit} keys at most: delete one first.`)
        }
        const inserted = await insertKey(tx, owner, body, key, caller.user.id, now)
        await recordKeyMade(tx, context, inserted)
        await tellUser(services, tx, caller.user.id, { notice: 'key_made', about: nameOfKey(inserted) })
        return inserted
      })
      return created(presentPersonalKey(row, key.value))
    },
  }),

  route({
    method: 'GET',
    path: '/api/personal_api_keys/:id/',
    summary: 'One of your keys; `@current` is the key in use and shows what it may do',
    access: 'credential',
    is_about_caller: true,
    answers: { 200: CurrentKey },
    async handle({ db, caller, params }) {
      if (caller.kind === 'session') {
        return ok(presentCurrentKey(await getOwnKey(db, caller.user.id, params.id)))
      }
      if (params.id !== '@current' && params.id !== caller.key.id) {
        throw denied('An API key can only look at itself.')
      }
      const row =
        caller.kind === 'service_key'
          ? await findServiceKey(db, caller.organization_id, caller.key.id)
          : await findPersonalKey(db, caller.user.id, caller.key.id)
      if (!row) throw notFound()
      return ok(presentCurrentKey(row))
    },
  }),

  route({
    method: 'PATCH',
    path: '/api/personal_api_keys/:id/',
    summary: 'Change label, scopes or limits of a key',
    access: 'session',
    changes_account: true,
    item: ({ db, caller, params }) => getOwnKey(db, caller.user.id, params.id),
    body: PersonalApiKeyUpdate,
    examples: { Rename: { label: 'Notebook (old)' } },
    answers: { 200: PersonalApiKey },
    async handle(context) {
      const { services, db, caller, item, body, now } = context
      if (Object.keys(body).length === 0) return ok(presentPersonalKey(item))
      const owner = { user_id: caller.user.id }
      assertExpiryAhead(body, now)
      const row = await db.transaction(async (tx) => {
        await assertLimitsInReach(tx, owner, body)
        const after = await updateKey(tx, owner, item.id, body)
        await recordKeyChanged(tx, context, 'updated', item, after)
        await tellUser(services, tx, caller.user.id, { notice: 'key_changed', about: nameOfKey(after) })
        return after
      })
      return ok(presentPersonalKey(row))
    },
  }),

  route({
    method: 'DELETE',
    path: '/api/personal_api_keys/:id/',
    summary: 'Delete a key; it stops working at once',
    access: 'session',
    changes_account: true,
    item: ({ db, caller, params }) => getOwnKey(db, caller.user.id, params.id),
    answers: { 204: null },
    async handle(context) {
      const { db, caller, item } = context
      await db.transaction(async (tx) => {
        await recordKeyDeleted(tx, context, await deleteKey(tx, { user_id: caller.user.id }, item.id))
      })
      return noContent()
    },
  }),

  route({
    method: 'POST',
    path: '/api/personal_api_keys/:id/roll/',
    summary: "Replace a key's value; the old one stops working at once",
    access: 'session',
    changes_account: true,
    item: ({ db, caller, params }) => getOwnKey(db, caller.user.id, params.id),
    answers: { 200: PersonalApiKey },
    async handle(context) {
      const { services, db, caller, item, now } = context
      assertExpiryAhead(item, now)
      const key = newPersonalKey()
      const row = await db.transaction(async (tx) => {
        await assertOpensSomething(tx, caller.user.id, item)
        const rolled = await replaceKeyValue(tx, { user_id: caller.user.id }, item.id, key, now)
        await recordKeyChanged(tx, context, 'rolled', item, rolled)
        await tellUser(services, tx, caller.user.id, { notice: 'key_rolled', about: nameOfKey(rolled) })
        return rolled
      })
      return ok(presentPersonalKey(row, key.value))
    },
  }),
]

async function getOwnKey(db: Db, userId: number, id: string): Promise<KeyRow> {
  const row = await findPersonalKey(db, userId, id)
  if (!row) throw notFound()
  return row
}
