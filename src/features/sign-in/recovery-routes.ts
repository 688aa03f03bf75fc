// Forgotten passwords and unproven addresses: the mailed links and what they open.
import { isUuid } from '../../lib/uuid.ts'
import { invalid } from '../../platform/http/errors.ts'
import { noContent, ok, route } from '../../platform/http/route.ts'
import type { Services } from '../../platform/services.ts'
import { assertPasswordAllowed, isPasswordAllowed } from '../domains/password-rule.ts'
import { hasDevice } from '../two-factor/totp.ts'
import { assertGoodPassword, hashPassword } from '../users/passwords.ts'
import { findUserByEmail, findUserByUuid, updateUser } from '../users/queries.ts'
import { passwordChangedEmail, resetEmail } from './emails.ts'
import { getUserByLink, lockUserByLink, type Link } from './link-tokens.ts'
import {
  Done,
  EmailOnly,
  EmailVerification,
  EmailVerified,
  PasswordReset,
  ResetTokenQuery,
} from './schema.ts'
import { closeOtherSessions, openSession } from './sessions.ts'
import { acceptVerification, askForVerification, takeVerificationRequest } from './verification.ts'

const RESET_RATES = [{ count: 6, window_ms: 86_400_000 }]

export const recoveryRoutes = [
  route({
    method: 'POST',
    path: '/api/reset/',
    summary: 'Ask for a link that sets a new password; says the same for known and unknown addresses',
    access: 'anyone',
    guesses: 'mail',
    body: EmailOnly,
    answers: { 204: null },
    async handle({ services, db, body, now }) {
      assertMailConfigured(services)
      services.throttle.take('password reset', body.email.toLowerCase(), RESET_RATES, now)
      await assertPasswordAllowed(db, body.email)
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
    summary: 'Set a new password; every session of the user ends',
    access: 'anyone',
    guesses: 'link',
    body: PasswordReset,
    answers: { 204: null },
    async handle({ services, db, params, body, now }) {
      const link = resetLink(params, body)
      const user = await getUserByLink(services, db, link, now)
      await assertPasswordAllowed(db, user.email)
      await assertGoodPassword(body.password, [user.email, user.first_name, user.last_name])
      const password_hash = await hashPassword(body.password)
      await db.transaction(async (tx) => {
        await lockUserByLink(services, tx, link, now)
        await updateUser(tx, user.id, { password_hash, is_email_verified: true })
        await closeOtherSessions(tx, user.id, null)
        if (services.mailer.configured)
          await services.jobs.enqueue(tx, passwordChangedEmail, { user_id: user.id })
      })
      return noContent()
    },
  }),

  route({
    method: 'POST',
    path: '/api/users/:uuid/verify_email/',
    summary: 'Verify an e-mail address by its link, and sign in',
    access: 'anyone',
    guesses: 'link',
    body: EmailVerification,
    answers: { 200: EmailVerified },
    async handle({ services, db, params, body, now }) {
      const answer = ok({ success: true, token: body.token })
      return db.transaction(async (tx) => {
        const link = { user_uuid: params.uuid, token: body.token }
        const user = await acceptVerification(services, tx, link, now)
        // The link proves the address, no more: a second factor or single sign-on still has to be passed at login.
        const opensSession = !(await hasDevice(tx, user.id)) && (await isPasswordAllowed(tx, user.email))
        return opensSession ? { ...answer, session: await openSession(tx, user.id, false, now) } : answer
      })
    },
  }),

  route({
    method: 'POST',
    path: '/api/users/:uuid/request_email_verification/',
    summary: 'Send the verification link again; says the same whether or not the user exists',
    access: 'anyone',
    guesses: 'mail',
    answers: { 200: Done },
    async handle({ services, db, params, now }) {
      assertMailConfigured(services)
      takeVerificationRequest(services, params.uuid, now)
      const user = isUuid(params.uuid) ? await findUserByUuid(db, params.uuid) : undefined
      const isOpen = user?.is_active && (!user.is_email_verified || user.pending_email !== null)
      if (user && isOpen) await askForVerification(services, db, user)
      return ok({ success: true })
    },
  }),
]

function assertMailConfigured(services: Services): void {
  if (!services.mailer.configured) {
    throw invalid(
      null,
      'email_not_available',
      'No outgoing mail is configured here: ask whoever runs this instance.',
    )
  }
}

function resetLink(params: { user_uuid: string }, { token }: { token: string }): Link {
  return { purpose: 'password reset', user_uuid: params.user_uuid, token }
}
