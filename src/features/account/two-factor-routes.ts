// Setting up, confirming and removing the second factor of one's own account. Sessions only.
import { TOTP, Secret } from 'otpauth'
import type { Caller } from '../../platform/http/caller.ts'
import { denied, invalid } from '../../platform/http/errors.ts'
import { ok, route } from '../../platform/http/route.ts'
import { recordActivity, type Actor } from '../activity-log/record.ts'
import type { Db } from '../../platform/db/database.ts'
import { tellUser } from '../users/notice-email.ts'
import { Done } from '../sign-in/schema.ts'
import { markSecondFactor } from '../sign-in/sessions.ts'
import {
  confirmSetup,
  isSetupBegun,
  countBackupCodes,
  removeDevice,
  replaceBackupCodes,
  startSetup,
} from '../two-factor/totp.ts'
import { TwoFactorCode, TwoFactorConfirmed, TwoFactorSetup, TwoFactorStatus } from './schema.ts'

// Ten wrong codes a minute are more than a person types and far fewer than a guesser needs.
const CODE_RATES = [{ count: 10, window_ms: 60_000 }]

type SignedIn = Extract<Caller, { kind: 'session' }>
type SetUpPath = `/api/users/:uuid/${string}/`

export const twoFactorRoutes = [
  ...setUpRoutes('/api/users/:uuid/two_factor_start_setup/', '/api/users/:uuid/two_factor_validate/'),
  // Their names of before.
  ...setUpRoutes('/api/users/:uuid/start_2fa_setup/', '/api/users/:uuid/validate_2fa/'),
  route({
    method: 'GET',
    path: '/api/users/:uuid/two_factor_status/',
    summary: 'Whether a second factor is set up, and how many backup codes are left',
    access: 'session',
    without_second_factor: true,
    item: async ({ caller, params }) => assertOwn(caller, params.uuid),
    answers: { 200: TwoFactorStatus },
    async handle({ db, caller }) {
      return ok({
        is_enabled: caller.user.has_2fa,
        backup_codes_left: await countBackupCodes(db, caller.user.id),
      })
    },
  }),

  route({
    method: 'POST',
    path: '/api/users/:uuid/two_factor_backup_codes/',
    summary: 'Ten new backup codes; the old ones stop working',
    access: 'session',
    changes_account: true,
    item: async ({ caller, params }) => assertSetUp(caller, params.uuid),
    answers: { 200: TwoFactorConfirmed },
    async handle({ services, db, caller }) {
      const backup_codes = await db.transaction(async (tx) => {
        await tellUser(services, tx, caller.user.id, { notice: 'backup_codes_replaced' })
        return replaceBackupCodes(services, tx, caller.user.id)
      })
      return ok({ success: true, backup_codes })
    },
  }),

  route({
    method: 'POST',
    path: '/api/users/:uuid/two_factor_disable/',
    summary: 'Remove the second factor, unless the current organization demands one',
    access: 'session',
    changes_account: true,
    item: async ({ caller, params }) => assertSetUp(caller, params.uuid),
    answers: { 200: Done },
    async handle(context) {
      const { services, db, caller } = context
      if (caller.session.is_second_factor_demanded) {
        throw denied('Your organization demands two-factor authentication: it cannot be switched off.')
      }
      await db.transaction(async (tx) => {
        await removeDevice(tx, caller.user.id)
        await recordTwoFactor(tx, context, caller, false)
        await tellUser(services, tx, caller.user.id, { notice: 'second_factor_off' })
      })
      return ok({ success: true })
    },
  }),
]

function setUpRoutes<Start extends SetUpPath, Validate extends SetUpPath>(start: Start, validate: Validate) {
  return [
    route({
      method: 'GET',
      path: start,
      summary: 'Begin: a new secret for the authenticator app',
      access: 'session',
      changes_account: true,
      without_second_factor: true,
      item: async ({ caller, params }) => assertMaySetUp(caller, params.uuid),
      answers: { 200: TwoFactorSetup },
      async handle({ services, db, caller, now }) {
        const secret = await startSetup(services, db, caller.user.id, now)
        const totp = new TOTP({
          issuer: 'Longshore',
          label: caller.user.email,
          secret: Secret.fromBase32(secret),
        })
        return ok({ success: true, secret, otpauth_url: totp.toString() })
      },
    }),

    route({
      method: 'POST',
      path: validate,
      summary: 'Confirm with a first code; gives ten backup codes, once',
      access: 'session',
      guesses: 'code',
      changes_account: true,
      without_second_factor: true,
      item: async ({ caller, params }) => assertMaySetUp(caller, params.uuid),
      body: TwoFactorCode,
      examples: { 'The code of the authenticator': { token: '123456' } },
      answers: { 200: TwoFactorConfirmed },
      async handle(context) {
        const { services, db, caller, body, now } = context
        services.throttle.take('second-factor code', String(caller.user.id), CODE_RATES, now)
        if (!(await isSetupBegun(db, caller.user.id)))
          throw invalid(
            null,
            'token_invalid',
            'No set-up was begun: get a secret from `two_factor_start_setup/` first.',
          )
        const backup_codes = await db.transaction(async (tx) => {
          const codes = await confirmSetup(services, tx, caller.user.id, body.token, now)
          if (!codes)
            throw invalid(null, 'token_invalid', 'The code does not fit: check the clock of your device.')
          await markSecondFactor(tx, caller.session.token_hash)
          await recordTwoFactor(tx, context, caller, true)
          await tellUser(services, tx, caller.user.id, { notice: 'second_factor_on' })
          return codes
        })
        return ok({ success: true, backup_codes })
      },
    }),
  ]
}

function assertOwn(caller: SignedIn, given: string): void {
  if (given !== '@me' && given.toLowerCase() !== caller.user.uuid)
    throw denied('You can only change your own second factor.')
}

/** The first device is set up by any session; another takes its place only by a session that has shown the first. */
function assertMaySetUp(caller: SignedIn, given: string): void {
  assertOwn(caller, given)
  if (caller.user.has_2fa) assertShown(caller)
}

function assertSetUp(caller: SignedIn, given: string): void {
  assertOwn(caller, given)
  if (!caller.user.has_2fa) throw invalid(null, 'invalid_input', 'No second factor is set up.')
  assertShown(caller)
}

/** A session from before the set-up has never shown the second factor, so it cannot take it away either. */
function assertShown(caller: SignedIn): void {
  if (!caller.session.has_second_factor) {
    throw denied('Sign in again with your second factor.', 'two_factor_verification_required')
  }
}

async function recordTwoFactor(tx: Db, actor: Actor, caller: SignedIn, isOn: boolean): Promise<void> {
  await recordActivity(tx, actor, {
    organization_id: caller.user.current_organization_id,
    scope: 'User',
    activity: 'updated',
    item_id: caller.user.uuid,
    name: caller.user.email,
    changes: [{ type: 'User', action: 'changed', field: 'is_2fa_enabled', before: !isOn, after: isOn }],
  })
}
