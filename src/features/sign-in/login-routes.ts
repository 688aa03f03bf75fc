// Signing in and out: password, second factor, and what a login page must know beforehand.
import { ErrorAnswer } from '../../platform/http/openapi.ts'
import { ApiError, invalid } from '../../platform/http/errors.ts'
import { noContent, ok, route } from '../../platform/http/route.ts'
import { assertPasswordAllowed, signInRuleOf } from '../domains/password-rule.ts'
import { hasDevice, useCode } from '../two-factor/totp.ts'
import { isPasswordRight } from '../users/passwords.ts'
import { findUserByEmail } from '../users/queries.ts'
import { askForVerification, isVerificationDue } from './verification.ts'
import { assertNotLocked, countFailure, forgetFailures, placeOf } from './failed-sign-ins.ts'
import { Done, EmailOnly, Login, Precheck, SecondFactor } from './schema.ts'
import { closeSession, countFailedAttempt, findPendingSession, openPendingSession, openSession } from './sessions.ts'

const MAX_SECOND_FACTOR_ATTEMPTS = 10

export const loginRoutes = [
  route({
    method: 'POST',
    path: '/api/login/precheck/',
    summary: 'How an address signs in',
    access: 'anyone',
    body: EmailOnly,
    answers: { 200: Precheck },
    async handle({ db, body }) {
      const rule = await signInRuleOf(db, body.email)
      return ok({ sso_enforcement: rule.enforced, saml_available: rule.has_saml })
    },
  }),

  route({
    method: 'POST',
    path: '/api/login/',
    summary: 'Sign in with e-mail and password',
    access: 'anyone',
    body: Login,
    answers: { 200: Done, 401: ErrorAnswer },
    async handle({ services, db, body, request, now }) {
      const who = placeOf(services, body.email, request.ip)
      await assertNotLocked(services, who, now)
      await assertPasswordAllowed(db, body.email)
      const user = await findUserByEmail(db, body.email)
      if (!(await isPasswordRight(body.password, user?.password_hash)) || !user?.is_active) {
        await countFailure(services, who, now)
        throw invalid(null, 'invalid_credentials', 'E-mail and password do not match.')
      }
      await forgetFailures(db, who)
      if (isVerificationDue(services, user)) {
        await askForVerification(services, services.db, user, now)
        throw invalid(null, 'not_verified', 'Verify your e-mail address first: we have sent you the link again.')
      }
      if (!(await hasDevice(db, user.id))) return { ...ok({ success: true }), session: await openSession(db, user.id, false, now) }
      const body401 = new ApiError('2fa_required', 'Now send the code of your authenticator to /api/login/token/.').body()
      return { status: 401 as const, body: body401, session: await openPendingSession(db, user.id, now) }
    },
  }),

  route({
    method: 'POST',
    path: '/api/login/token/',
    summary: 'Present the second factor: a code of the authenticator, or a backup code',
    access: 'anyone',
    body: SecondFactor,
    answers: { 200: Done },
    async handle({ services, db, body, session_token, now }) {
      const pending = session_token === null ? undefined : await findPendingSession(db, session_token)
      if (!pending || pending.expires_at <= now) throw invalid(null, '2fa_expired', 'Start again with your password.')
      if (pending.failed_attempts >= MAX_SECOND_FACTOR_ATTEMPTS) {
        throw invalid(null, '2fa_too_many_attempts', 'Too many wrong codes: start again with your password.')
      }
      if (!(await useCode(services, db, pending.user_id, body.token, now))) {
        // On the plain connection: a wrong code counts even when the request around it rolls back.
        await countFailedAttempt(services.db, pending.token_hash)
        throw invalid(null, '2fa_invalid', 'The code is wrong or was used before.')
      }
      await closeSession(db, pending.token_hash)
      return { ...ok({ success: true }), session: await openSession(db, pending.user_id, true, now) }
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
