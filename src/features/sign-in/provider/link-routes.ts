// The account that a provider's word is about exists already: its password shows whose it is, once.
import { z } from 'zod'
import { invalid } from '../../../platform/http/errors.ts'
import { text, verbatim } from '../../../platform/http/fields.ts'
import { ErrorAnswer } from '../../../platform/http/openapi.ts'
import { ok, route } from '../../../platform/http/route.ts'
import { useCode, hasDevice } from '../../two-factor/totp.ts'
import { isPasswordRight } from '../../users/passwords.ts'
import { findUserById, getUser, lockUserWithPassword } from '../../users/queries.ts'
import { codeLock, forgetFailures, passwordLock, takeCodeTry, takePasswordTry } from '../failed-sign-ins.ts'
import { refused } from '../refused.ts'
import { linkToUser } from './come-in.ts'
import { enter } from './finish.ts'
import { readLink } from './links.ts'

export const linkRoutes = [
  route({
    method: 'POST',
    path: '/api/login/link/',
    summary: 'Link what a provider vouches for to an existing account, by its password, and sign in',
    access: 'anyone',
    guesses: 'password',
    body: z.object({
      link: text({ max: 20_000 }).describe('From the address that the sign-in led to.'),
      password: verbatim({ max: 1000 }),
      token: text({ max: 100 }).optional().describe('A code of the authenticator, where there is one.'),
    }),
    examples: { 'The password of the account': { link: 'v1.…', password: 'a long sentence nobody knows' } },
    answers: { 200: z.object({ next: z.string() }), 400: ErrorAnswer },
    async prove({ services, db, body, request, now }) {
      const link = readLink(services, body.link, now)
      const user = link ? await findUserById(db, link.user_id) : undefined
      if (!link || !user?.is_active) throw startAgain()
      const lock = passwordLock(services, user.email, request.ip)
      await takePasswordTry(db, lock, now)
      if (!(await isPasswordRight(body.password, user.password_hash)))
        return refused('invalid_credentials', 'The password is wrong.', 'password')
      await forgetFailures(db, lock)
      if (await hasDevice(db, user.id)) {
        if (body.token === undefined)
          return refused(
            'required',
            'A code of your authenticator, or a backup code, is needed too.',
            'token',
          )
        const codes = codeLock(services, user.id)
        await takeCodeTry(db, codes, now)
        if (!(await useCode(services, db, user.id, body.token, now)))
          return refused('2fa_invalid', 'The code is wrong or was used before.', 'token')
        await forgetFailures(db, codes)
      }
      return { link, user }
    },
    async handle(context) {
      const { db, proof } = context
      if ('status' in proof) return proof
      const { link, user } = proof
      return db.transaction(async (tx) => {
        if (!(await lockUserWithPassword(tx, user))) throw startAgain()
        const decision = await linkToUser(context, tx, link.vouched, await getUser(tx, user.id))
        if (!('user' in decision)) throw startAgain()
        const attempt = { ...link.vouched, next: link.next }
        const { cookie, location } = await enter(context, tx, attempt, decision.user)
        return { ...ok({ next: location }), session: cookie }
      })
    },
  }),
]

function startAgain() {
  return invalid(
    'link',
    'invalid_token',
    'This took longer than ten minutes, or was done already: start again.',
  )
}
