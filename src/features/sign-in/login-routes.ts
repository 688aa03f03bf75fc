// Signing in and out: password, second factor, and what a login page must know beforehand.
import { ErrorAnswer } from '../../platform/http/openapi.ts'
import { ApiError, invalid } from '../../platform/http/errors.ts'
import { noContent, ok, route } from '../../platform/http/route.ts'
import { assertAllowed, signInRuleOf } from '../domains/allowed-ways.ts'
import { findDomainById } from '../domains/queries.ts'
import { hasDevice, useCode } from '../two-factor/totp.ts'
import { isPasswordRight } from '../users/passwords.ts'
import { findUserByEmail, getUser, lockUser, lockUserWithPassword } from '../users/queries.ts'
import { codeLock, forgetFailures, passwordLock, takeCodeTry, takePasswordTry } from './failed-sign-ins.ts'
import { tellOwners } from './owner-recovery-routes.ts'
import { refused } from './refused.ts'
import { Done, EmailOnly, Login, Precheck, SecondFactor } from './schema.ts'
import {
  closeSession,
  findPendingSession,
  openPendingSession,
  openSession,
  openSessionBy,
} from './sessions.ts'
import { isVerificationDue, remindOfVerification } from './verification.ts'

export const loginRoutes = [
  route({
    method: 'POST',
    path: '/api/login/precheck/',
    summary: 'How an address signs in',
    access: 'anyone',
    is_question: true,
    body: EmailOnly,
    examples: { 'An address': { email: 'ada@example.com' } },
    answers: { 200: Precheck },
    async handle({ services, db, body }) {
      const rule = await signInRuleOf({ services, db }, body.email)
      return ok({
        sso_enforcement: rule.enforced,
        saml_available: rule.has_saml,
        oidc_available: rule.has_oidc,
      })
    },
  }),

  route({
    method: 'POST',
    path: '/api/login/',
    summary: 'Sign in with e-mail and password',
    access: 'anyone',
    guesses: 'password',
    body: Login,
    examples: { 'A password': { email: 'ada@example.com', password: 'a long sentence nobody knows' } },
    async prove({ services, db, body, request, now }) {
      const lock = passwordLock(services, body.email, request.ip)
      await assertAllowed({ services, db }, body.email, 'password')
      await takePasswordTry(db, lock, now)
      const user = await findUserByEmail(db, body.email)
      const isRight = await isPasswordRight(body.password, user?.password_hash)
      if (!isRight || !user?.is_active) return null
      await forgetFailures(db, lock)
      return user
    },
    answers: { 200: Done, 400: ErrorAnswer, 401: ErrorAnswer },
    async handle({ services, db, proof: user, request, now }) {
      if (!user) return notMatching()
      if (isVerificationDue(services, user)) {
        await remindOfVerification(services, db, user, now)
        return refused('not_verified', 'Verify your e-mail address first, with the link we have sent you.')
      }
      return db.transaction(async (tx) => {
        if (!(await lockUserWithPassword(tx, user))) return notMatching()
        if (!(await hasDevice(tx, user.id))) {
          return { ...ok({ success: true }), session: await openSession(tx, user.id, false, now, request) }
        }
        const body401 = new ApiError(
          '2fa_required',
          'Now send the code of your authenticator to /api/login/token/.',
        ).body()
        return { status: 401 as const, body: body401, session: await openPendingSession(tx, user.id, now) }
      })
    },
  }),

  route({
    method: 'POST',
    path: '/api/login/token/',
    summary: 'Send the second factor: a code of the authenticator, or a backup code',
    access: 'anyone',
    guesses: 'code',
    body: SecondFactor,
    examples: { 'The code of the authenticator': { token: '123456' } },
    answers: { 200: Done, 400: ErrorAnswer },
    async handle(context) {
      const { services, db, body, session_token, request, now } = context
      const pending = session_token === null ? undefined : await findPendingSession(db, session_token)
      if (!pending || pending.expires_at <= now) throw startAgain()
      const lock = codeLock(services, pending.user_id)
      await takeCodeTry(db, lock, now)
      if (!(await useCode(services, db, pending.user_id, body.token, now))) {
        return refused('2fa_invalid', 'The code is wrong or was used before.')
      }
      await forgetFailures(db, lock)
      return db.transaction(async (tx) => {
        await lockUser(tx, pending.user_id)
        // A new password has ended it meanwhile, or the code was sent twice.
        if (!(await closeSession(tx, pending.token_hash))) throw startAgain()
        const { user_id, signed_in_by, domain_id } = pending
        const domain = signed_in_by === 'recovery' ? await findDomainById(tx, domain_id!) : undefined
        if (domain) {
          const user = await getUser(tx, user_id)
          await tellOwners({ ...context, caller: null, acting_user: user }, tx, domain, user)
        }
        const session = await openSessionBy(
          tx,
          { user_id, signed_in_by, domain_id, has_second_factor: true },
          now,
          request,
        )
        return { ...ok({ success: true }), session }
      })
    },
  }),

  route({
    method: 'POST',
    path: '/api/logout/',
    summary: 'End this session, on the server too',
    access: 'session',
    without_second_factor: true,
    answers: { 204: null },
    async handle({ db, caller }) {
      await closeSession(db, caller.session.token_hash)
      return { ...noContent(), session: null }
    },
  }),
]

function notMatching() {
  return refused('invalid_credentials', 'E-mail and password do not match.')
}

function startAgain() {
  return invalid(null, '2fa_expired', 'Start again with your password.')
}
