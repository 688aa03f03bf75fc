// /api/users/@me/: the account itself. Staff reach other accounts by their uuid.
import { z } from 'zod'
import { isUuid } from '../../lib/uuid.ts'
import type { Db } from '../../platform/db/database.ts'
import { isLimited, personOf, type Caller } from '../../platform/http/caller.ts'
import { denied, notFound } from '../../platform/http/errors.ts'
import { ok, route } from '../../platform/http/route.ts'
import { hasScope } from '../../platform/http/scopes.ts'
import { findUserById, findUserByUuid } from '../users/queries.ts'
import type { UserRow } from '../users/schema.ts'
import { changeAccount } from './change.ts'
import { presentAccount, presentAccountBrief } from './present.ts'
import { Account, AccountBrief, AccountUpdate } from './schema.ts'

/** Fields that have no part in who gets in. A new field counts as having one until it is listed here. */
const HARMLESS_FIELDS = [
  'first_name',
  'last_name',
  'hedgehog_config',
  'notification_settings',
  'anonymize_data',
  'role_at_organization',
  'set_current_organization',
  'set_current_team',
] as const

export const accountRoutes = [
  route({
    method: 'GET',
    path: '/api/users/:uuid/',
    summary: 'Your account (`@me`); a key without `user:read` gets the short form',
    access: 'credential',
    is_about_caller: true,
    without_second_factor: true,
    item: ({ db, caller, params }) => getAccount(db, caller, params.uuid),
    answers: { 200: z.union([Account, AccountBrief]) },
    async handle({ db, caller, item, now }) {
      const isBrief = caller.kind !== 'session' && !hasScope(caller.key.scopes, 'user:read')
      return ok(isBrief ? presentAccountBrief(item) : await presentAccount(db, item, now))
    },
  }),

  route({
    method: 'PATCH',
    path: '/api/users/:uuid/',
    summary: 'Change your account',
    scope: 'user:write',
    changes_account: { unless_only: HARMLESS_FIELDS },
    // Guesses at the current password.
    guesses: 'password',
    is_about_caller: true,
    item: ({ db, caller, params }) => getAccount(db, caller, params.uuid),
    body: AccountUpdate,
    examples: {
      Rename: { first_name: 'Ada' },
      'Change the password': { current_password: 'the old one', password: 'a long sentence nobody knows' },
    },
    answers: { 200: Account },
    async handle(context) {
      const { db, item, body, now } = context
      return ok(await presentAccount(db, await changeAccount(context, item, body), now))
    },
  }),
]

/** Only staff may learn whether a uuid exists. */
async function getAccount(db: Db, caller: Caller, given: string): Promise<UserRow> {
  const person = personOf(caller)
  if (given === '@me' || given.toLowerCase() === person.uuid) return (await findUserById(db, person.id))!
  if (!person.is_staff || isLimited(caller)) throw denied('You can only reach your own account.')
  const user = isUuid(given) ? await findUserByUuid(db, given) : undefined
  if (!user) throw notFound()
  return user
}
