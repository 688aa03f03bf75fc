// Forgotten passwords and unproven addresses: the mailed links and what they open.
import { z } from 'zod'
import { isUuid } from '../../lib/uuid.ts'
import type { Db } from '../../platform/db/database.ts'
import { text } from '../../platform/http/fields.ts'
import { noContent, ok, route, type RequestFacts } from '../../platform/http/route.ts'
import type { Services } from '../../platform/services.ts'
import { assertAllowed, isAllowed } from '../domains/allowed-ways.ts'
import { deletePersonalKeys } from '../api-keys/end-keys.ts'
import { countWorkingKeys } from '../api-keys/queries.ts'
import { hasDevice } from '../two-factor/totp.ts'
import { assertGoodPassword, hashPassword } from '../users/passwords.ts'
import { findUserByEmail, findUserByUuid, updateUser } from '../users/queries.ts'
import { undoAddressChange } from './address-undo.ts'
import { passwordChangedEmail, resetEmail } from './emails.ts'
import { getUserByLink, lockUserByLink, type Link } from './link-tokens.ts'
import { assertMailConfigured } from './mail-configured.ts'
import {
  AddressUndoLink,
  Done,
  EmailOnly,
  EmailVerification,
  EmailVerified,
  PasswordReset,
  ResetTokenQuery,
} from './schema.ts'
import { closeOtherSessions, openSession, openSessionByLink } from './sessions.ts'
import { acceptVerification, askForVerification, takeVerificationRequest } from './verification.ts'

/** Beside a 204, which has no body: personal keys that still work. */
const KEYS_LEFT_HEADER = 'x-active-personal-api-keys'
const RESET_RATES = [{ count: 6, window_ms: 86_400_000 }]

export const recoveryRoutes = [
  route({
    method: 'POST',
    path: '/api/reset/',
    summary: 'Ask for a link that sets a new password; says the same for known and unknown addresses',
    access: 'anyone',
    guesses: 'mail',
    body: EmailOnly,
    examples: { 'An address': { email: 'ada@example.com' } },
    answers: { 204: null },
    async handle({ services, db, body, now }) {
      assertMailConfigured(services)
      services.throttle.take('password reset', body.email.toLowerCase(), RESET_RATES, now)
      await assertAllowed({ services, db }, body.email, 'password')
      const user = await findUserByEmail(db, body.email)
      if (user?.is_active) await services.jobs.enqueue(db, resetEmail, { user_id: user.id })
      return noContent()
    },
  }),

  route({
    method: 'GET',
    path: '/api/reset/:user_uuid/',
    summary: 'Whether a reset link is still good',
    access: 'anyone',
    guesses: 'link',
    query: ResetTokenQuery,
    answers: { 204: null },
    async handle({ services, db, params, query, now }) {
      await getUserByLink(services, db, resetLink(params, query), now)
      return noContent()
    },
  }),

  route({
    method: 'POST',
    path: '/api/reset/:user_uuid/',
    summary:
      'Set a new password; every session of the user ends. The header `X-Active-Personal-Api-Keys` counts the personal keys that still work',
    access: 'anyone',
    guesses: 'link',
    body: PasswordReset,
    examples: { 'The token of the mail': { token: 'MTc2…', password: 'a long sentence nobody knows' } },
    answers: { 204: null },
    async handle(context) {
      const { services, db, params, body, now } = context
      const link = resetLink(params, body)
      const user = await getUserByLink(services, db, link, now)
      await assertAllowed({ services, db }, user.email, 'password')
      await assertGoodPassword(body.password, [user.email, user.first_name, user.last_name])
      const password_hash = await hashPassword(body.password)
      const keys = await db.transaction(async (tx) => {
        await lockUserByLink(services, tx, link, now)
        // Whoever got in before may have asked for another address: its link ends too.
        await updateUser(tx, user.id, { password_hash, is_email_verified: true, pending_email: null })
        await closeOtherSessions(tx, user.id, null)
        if (body.delete_personal_api_keys) {
          await deletePersonalKeys(tx, { ...context, caller: null, acting_user: user }, user.id)
        }
        if (services.mailer.configured)
          await services.jobs.enqueue(tx, passwordChangedEmail, { user_id: user.id })
        return countWorkingKeys(tx, user.id, now)
      })
      return { ...noContent(), headers: { [KEYS_LEFT_HEADER]: String(keys) } }
    },
  }),

  route({
    method: 'POST',
    path: '/api/users/verify_email/',
    summary: 'Verify an e-mail address by its link, and sign in',
    access: 'anyone',
    guesses: 'link',
    body: EmailVerification.extend({ uuid: text({ max: 100 }) }),
    examples: { 'The token of the mail': { uuid: '01a1e89e-2539-7b33-99e2-a81b128189a0', token: 'MTc2…' } },
    answers: { 200: EmailVerified },
    handle: (context) => verifyEmail(context, context.body.uuid),
  }),

  route({
    method: 'POST',
    path: '/api/users/:uuid/verify_email/',
    summary: 'Verify an e-mail address by its link, and sign in; the user is named in the path',
    access: 'anyone',
    guesses: 'link',
    body: EmailVerification,
    examples: { 'The token of the mail': { token: 'MTc2…' } },
    answers: { 200: EmailVerified },
    handle: (context) => verifyEmail(context, context.params.uuid),
  }),

  route({
    method: 'POST',
    path: '/api/users/:uuid/undo_email_change/',
    summary:
      'Take an account back to its old address, by the link sent there; password, sessions and personal keys end',
    access: 'anyone',
    guesses: 'link',
    body: AddressUndoLink,
    examples: { 'The token of the mail': { token: 'MTc2…' } },
    answers: { 200: Done },
    async handle(context) {
      const { db, params, body } = context
      const link = { user_uuid: params.uuid, token: body.token }
      await db.transaction((tx) => undoAddressChange({ ...context, caller: null }, tx, link))
      return ok({ success: true })
    },
  }),

  route({
    method: 'POST',
    path: '/api/users/request_email_verification/',
    summary: 'Send the verification link again; says the same whether or not the user exists',
    access: 'anyone',
    guesses: 'mail',
    body: z.object({ uuid: text({ max: 100 }) }),
    examples: { 'Send the mail again': { uuid: '01a1e89e-2539-7b33-99e2-a81b128189a0' } },
    answers: { 200: Done },
    handle: (context) => requestVerification(context, context.body.uuid),
  }),

  route({
    method: 'POST',
    path: '/api/users/:uuid/request_email_verification/',
    summary: 'Send the verification link again to the user named in the path',
    access: 'anyone',
    guesses: 'mail',
    answers: { 200: Done },
    handle: (context) => requestVerification(context, context.params.uuid),
  }),
]

type Visit = { services: Services; db: Db; request: RequestFacts; now: Date }

async function verifyEmail(context: Visit & { body: { token: string } }, user_uuid: string) {
  const { services, db, body, request, now } = context
  const answer = ok({ success: true, token: body.token })
  return db.transaction(async (tx) => {
    const link = { user_uuid, token: body.token }
    const { user, is_new_address } = await acceptVerification({ ...context, caller: null }, tx, link)
    // The link proves the address, no more: a second factor or single sign-on still has to be passed at login.
    if ((await hasDevice(tx, user.id)) || !(await isAllowed({ services, db: tx }, user.email, 'password')))
      return answer
    const session = is_new_address
      ? await openSessionByLink(tx, user.id, now, request)
      : await openSession(tx, user.id, false, now, request)
    return { ...answer, session }
  })
}

async function requestVerification({ services, db, now }: Visit, user_uuid: string) {
  assertMailConfigured(services)
  takeVerificationRequest(services, user_uuid, now)
  const user = isUuid(user_uuid) ? await findUserByUuid(db, user_uuid) : undefined
  const isOpen = user?.is_active && (!user.is_email_verified || user.pending_email !== null)
  if (user && isOpen) await askForVerification(services, db, user)
  return ok({ success: true })
}

function resetLink(params: { user_uuid: string }, { token }: { token: string }): Link {
  return { purpose: 'password reset', user_uuid: params.user_uuid, token }
}
