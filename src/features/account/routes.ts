// /api/users/@me/: the account itself. Staff reach other accounts by their uuid.
import { z } from 'zod'
import { isUuid } from '../../lib/uuid.ts'
import type { Db } from '../../platform/db/database.ts'
import { isLimited, personOf, type Caller } from '../../platform/http/caller.ts'
import { denied, invalid, notFound } from '../../platform/http/errors.ts'
import { paged } from '../../platform/http/paging.ts'
import { noContent, ok, route } from '../../platform/http/route.ts'
import { hasScope } from '../../platform/http/scopes.ts'
import { countUsers, findUserById, findUserByUuid, listUsers } from '../users/queries.ts'
import type { UserRow } from '../users/schema.ts'
import { changeAccount } from './change.ts'
import { deleteAccount } from './delete-account.ts'
import { presentAccount, presentAccountBrief } from './present.ts'
import { listPendingInvites } from './queries.ts'
import { Account, AccountBrief, AccountListQuery, AccountUpdate, PendingInvite } from './schema.ts'

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
    path: '/api/users/',
    summary: 'Your own account; for staff, all accounts in their short form',
    scope: 'user:read',
    is_about_caller: true,
    item: async ({ caller }) => personOf(caller),
    query: AccountListQuery,
    answers: { 200: paged(z.union([Account, AccountBrief])) },
    async handle(context) {
      const { db, caller, item: person, query, page, paged } = context
      if (person.is_staff && !isLimited(caller)) {
        const filter = { ...query, email: query.email || undefined }
        const rows = await listUsers(db, filter, page)
        return ok(paged(await countUsers(db, filter), rows.map(presentAccountBrief)))
      }
      const own = (await findUserById(db, person.id))!
      const isMeant =
        isSame(query.email || own.email, own.email) && (query.is_staff ?? own.is_staff) === own.is_staff
      const results = isMeant && page.offset === 0 ? [await presentAccount(context, own)] : []
      return ok(paged(isMeant ? 1 : 0, results))
    },
  }),

  route({
    method: 'PATCH',
    path: '/api/users/cancel_email_change_request/',
    summary: 'Cancel a change of your e-mail address that waits for its link',
    scope: 'user:write',
    changes_account: true,
    is_about_caller: true,
    item: async ({ caller }) => personOf(caller),
    answers: { 200: Account },
    async handle(context) {
      const user = (await findUserById(context.db, context.item.id))!
      if (user.pending_email === null) {
        throw invalid(null, 'email_change_request_not_found', 'No change of your address is waiting.')
      }
      return ok(await presentAccount(context, await changeAccount(context, user, { email: user.email })))
    },
  }),

  route({
    method: 'GET',
    path: '/api/users/:uuid/',
    summary: 'Your account (`@me`); a key without `user:read` gets the short form',
    access: 'credential',
    is_about_caller: true,
    without_second_factor: true,
    item: ({ db, caller, params }) => getAccount(db, caller, params.uuid),
    answers: { 200: z.union([Account, AccountBrief]) },
    async handle(context) {
      const { caller, item } = context
      const isBrief = caller.kind !== 'session' && !hasScope(caller.key.scopes, 'user:read')
      return ok(isBrief ? presentAccountBrief(item) : await presentAccount(context, item))
    },
  }),

  route({
    method: 'PATCH',
    path: '/api/users/:uuid/',
    summary: 'Change your account',
    scope: 'user:write',
    changes_account: { unless_only: HARMLESS_FIELDS },
    is_about_caller: true,
    item: ({ db, caller, params }) => getAccount(db, caller, params.uuid),
    body: AccountUpdate,
    examples: {
      Rename: { first_name: 'Ada' },
      'Change the password': { current_password: 'the old one', password: 'a long sentence nobody knows' },
    },
    answers: { 200: Account },
    async handle(context) {
      const { item, body } = context
      return ok(await presentAccount(context, await changeAccount(context, item, body)))
    },
  }),

  route({
    method: 'DELETE',
    path: '/api/users/:uuid/',
    summary:
      'Delete your account, and organizations that nobody else belongs to; 409 while an organization with others has no other owner',
    access: 'session',
    changes_account: true,
    item: async ({ caller, params }) => assertOwnAccount(caller, params.uuid),
    answers: { 204: null },
    async handle(context) {
      await deleteAccount(context)
      return { ...noContent(), session: null }
    },
  }),

  route({
    method: 'GET',
    path: '/api/users/:uuid/pending_invites/',
    summary: 'Invites to your verified address that you have not accepted yet',
    scope: 'user:read',
    is_about_caller: true,
    item: async ({ db, caller, params }) => {
      assertOwnAccount(caller, params.uuid)
      return (await findUserById(db, personOf(caller).id))!
    },
    answers: { 200: z.array(PendingInvite) },
    async handle({ db, item, now }) {
      // Anybody can claim an address: only who has proved it hears who writes to it.
      const rows = item.is_email_verified ? await listPendingInvites(db, item.email, now) : []
      return ok(rows.map((row) => ({ ...row, created_at: row.created_at.toISOString() })))
    },
  }),
]

function assertOwnAccount(caller: Caller, given: string): void {
  if (given === '@me' || given.toLowerCase() === personOf(caller).uuid) return
  throw denied('You can only reach your own account.')
}

const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()

/** Only staff may learn whether a uuid exists. */
async function getAccount(db: Db, caller: Caller, given: string): Promise<UserRow> {
  const person = personOf(caller)
  if (given === '@me' || given.toLowerCase() === person.uuid) return (await findUserById(db, person.id))!
  if (!person.is_staff || isLimited(caller)) throw denied('You can only reach your own account.')
  const user = isUuid(given) ? await findUserByUuid(db, given) : undefined
  if (!user) throw notFound()
  return user
}
