// Making an account: with an organization of its own, or by accepting an invite.
import type { Db } from '../../platform/db/database.ts'
import { denied, invalid } from '../../platform/http/errors.ts'
import { created, ok, route, type RequestFacts } from '../../platform/http/route.ts'
import { assertAllowed } from '../domains/allowed-ways.ts'
import { createOrganization } from '../organizations/create.ts'
import { AddressTaken, takeAddress } from '../users/addresses.ts'
import { assertGoodPassword, hashPassword } from '../users/passwords.ts'
import { presentUser } from '../users/present.ts'
import { hasAnyUser, insertUser, lockFirstAccount } from '../users/queries.ts'
import {
  acceptAsSignedIn,
  getAcceptableInvite,
  joinWithNewAccount,
  prepareNewAccount,
} from './accept-invite.ts'
import { InviteAcceptance, InvitePreview, SignedUp, SignUp } from './schema.ts'
import { openSession } from './sessions.ts'
import { askForVerification, isVerificationDue } from './verification.ts'
import type { Services } from '../../platform/services.ts'
import type { UserRow } from '../users/schema.ts'

export const signupRoutes = [
  route({
    method: 'POST',
    path: '/api/signup/',
    summary: 'Make an account with an organization of its own',
    access: 'anyone',
    guesses: 'sign-up',
    item: async ({ services, db }) => {
      const isFirst = !(await hasAnyUser(db))
      assertMaySignUp(services, isFirst)
      return { couldBeFirst: isFirst }
    },
    body: SignUp,
    examples: {
      'A new account': {
        first_name: 'Ada',
        email: 'ada@example.com',
        password: 'a long sentence nobody knows',
        organization_name: 'Harbour Works',
      },
    },
    answers: { 201: SignedUp },
    async handle(context) {
      const { services, db, item, body, now } = context
      await assertAllowed({ services, db }, body.email, 'password')
      await assertGoodPassword(body.password, [
        body.email,
        body.first_name,
        body.last_name ?? '',
        body.organization_name ?? '',
      ])
      const password_hash = await hashPassword(body.password)
      const name = body.organization_name || `${body.first_name.slice(0, 49)}'s Organization`
      try {
        return await db.transaction(async (tx) => {
          // Somebody else may have been first since: then this is a sign-up like any other.
          const is_staff = item.couldBeFirst && (await lockFirstAccount(tx))
          assertMaySignUp(services, is_staff)
          const write = () => insertUser(tx, { ...body, password_hash, is_staff }, now)
          const user = await takeAddress(tx, write, now)
          await createOrganization(tx, { ...context, caller: null, acting_user: user }, user.id, { name })
          return welcome(context, tx, user)
        })
      } catch (error) {
        if (!(error instanceof AddressTaken)) throw error
        throw invalid('email', 'unique', 'There is an account with this address already.')
      }
    },
  }),

  route({
    method: 'GET',
    path: '/api/signup/:invite_id/',
    summary: 'What an invite link opens',
    access: 'anyone',
    guesses: 'link',
    answers: { 200: InvitePreview },
    async handle(context) {
      const visit = { existing_account: 'account_exists' } as const
      const { invite, organization } = await getAcceptableInvite(context, context.db, context.caller, visit)
      return ok({
        id: invite.id,
        target_email: invite.target_email,
        first_name: invite.first_name,
        organization_name: organization.name,
      })
    },
  }),

  route({
    method: 'POST',
    path: '/api/signup/:invite_id/',
    summary: 'Accept an invite: as the signed-in user, or with a new account',
    access: 'anyone',
    guesses: 'link',
    body: InviteAcceptance,
    examples: { 'A new account': { first_name: 'Ada', password: 'a long sentence nobody knows' } },
    answers: { 201: SignedUp },
    async handle(context) {
      const { db, caller } = context
      if (caller?.kind === 'session') {
        const user = await acceptAsSignedIn(context, caller)
        return created({ ...presentUser(user), redirect_url: '/' })
      }
      const account = await prepareNewAccount(context)
      return db.transaction(async (tx) =>
        welcome(context, tx, await joinWithNewAccount(context, tx, account)),
      )
    },
  }),
]

function assertMaySignUp({ settings }: Services, isFirst: boolean): void {
  if (!isFirst && !settings.is_signup_open) throw denied('Accounts are made by invitation here.')
}

type Visit = { services: Services; request: RequestFacts; now: Date }

/** A new account is signed in at once, unless its address has to be proved first. */
async function welcome({ services, request, now }: Visit, tx: Db, user: UserRow) {
  if (!isVerificationDue(services, user)) {
    return {
      ...created({ ...presentUser(user), redirect_url: '/' }),
      session: await openSession(tx, user.id, false, now, request),
    }
  }
  await askForVerification(services, tx, user)
  return created({ ...presentUser(user), redirect_url: `/verify_email/${user.uuid}` })
}
