// Proving once more, in a session that is open, who one is: what sensitive changes ask for after 15 minutes.
import type { Db } from '../../platform/db/database.ts'
import type { CallerUser } from '../../platform/http/caller.ts'
import { invalid } from '../../platform/http/errors.ts'
import { ErrorAnswer } from '../../platform/http/openapi.ts'
import { ok, route } from '../../platform/http/route.ts'
import type { Services } from '../../platform/services.ts'
import { assertAllowed } from '../domains/allowed-ways.ts'
import { useCode } from '../two-factor/totp.ts'
import { isPasswordRight } from '../users/passwords.ts'
import { getUser } from '../users/queries.ts'
import {
  codeLock,
  confirmationLock,
  forgetFailures,
  takeCodeTry,
  takePasswordTry,
} from './failed-sign-ins.ts'
import { refused } from './refused.ts'
import { Confirmation, Done } from './schema.ts'
import { confirmSession } from './sessions.ts'

export const confirmRoutes = [
  route({
    method: 'POST',
    path: '/api/login/confirm/',
    summary: 'Confirm the password again; sensitive changes need a recent confirmation',
    access: 'session',
    without_second_factor: true,
    guesses: 'password',
    body: Confirmation,
    examples: { 'The password again': { password: 'a long sentence nobody knows' } },
    async prove({ services, db, caller, body, now }) {
      const { has_2fa, email } = caller.user
      if (has_2fa && body.token === undefined) {
        throw invalid('token', 'required', 'A code of your authenticator, or a backup code, is needed too.')
      }
      await assertAllowed({ services, db }, email, 'password')
      if (!(await provesPassword(services, db, caller.user, body.password, now))) {
        return refused('incorrect_password', 'The password is wrong.', 'password')
      }
      if (has_2fa && !(await provesCode(services, db, caller.user, body.token!, now))) {
        return refused('2fa_invalid', 'The code is wrong or was used before.', 'token')
      }
      return null
    },
    answers: { 200: Done, 400: ErrorAnswer },
    async handle({ db, caller, proof: refusal, now }) {
      if (refusal) return refusal
      await confirmSession(db, caller.session.token_hash, caller.user.has_2fa, now)
      return ok({ success: true })
    },
  }),
]

type Proof = [services: Services, db: Db, user: CallerUser, given: string, now: Date]

async function provesPassword(...[services, db, { id }, password, now]: Proof): Promise<boolean> {
  const lock = confirmationLock(services, id)
  await takePasswordTry(db, lock, now)
  const isRight = await isPasswordRight(password, (await getUser(db, id)).password_hash)
  if (isRight) await forgetFailures(db, lock)
  return isRight
}

async function provesCode(...[services, db, { id }, code, now]: Proof): Promise<boolean> {
  const lock = codeLock(services, id)
  await takeCodeTry(db, lock, now)
  const isRight = await useCode(services, db, id, code, now)
  if (isRight) await forgetFailures(db, lock)
  return isRight
}
