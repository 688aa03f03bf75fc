// The way back in for owners when their domain demands a provider that does not work: a mailed link, seen by all owners.
import { originOf } from '../../lib/network.ts'
import type { Db } from '../../platform/db/database.ts'
import { LEVELS } from '../../platform/http/caller.ts'
import { ApiError, invalid } from '../../platform/http/errors.ts'
import { ErrorAnswer } from '../../platform/http/openapi.ts'
import { noContent, ok, route } from '../../platform/http/route.ts'
import type { Services } from '../../platform/services.ts'
import { recordActivity, type Actor } from '../activity-log/record.ts'
import { assertAllowed, enforcedBy } from '../domains/allowed-ways.ts'
import { findVerifiedDomainOf } from '../domains/queries.ts'
import type { DomainRow } from '../domains/schema.ts'
import { findMembership, listOwners } from '../members/queries.ts'
import { hasDevice } from '../two-factor/totp.ts'
import { findUserByEmail } from '../users/queries.ts'
import type { UserRow } from '../users/schema.ts'
import { ownerCameBackEmail, ownerRecoveryEmail } from './emails.ts'
import { lockUserByLink } from './link-tokens.ts'
import { assertMailConfigured } from './mail-configured.ts'
import { Done, EmailOnly, RecoveryLink } from './schema.ts'
import { openPendingSession, openSessionBy } from './sessions.ts'

const DAY_MS = 86_400_000
const RATES_OF_A_NETWORK = [{ count: 3, window_ms: DAY_MS }]
/** Keeps mail off the owner; large enough that a stranger in one place does not use it up. */
const RATES_OF_AN_ADDRESS = [{ count: 30, window_ms: DAY_MS }]

export const ownerRecoveryRoutes = [
  route({
    method: 'POST',
    path: '/api/login/recovery/',
    summary:
      'Ask for a link that lets an owner in while their identity provider does not; says the same for everybody',
    access: 'anyone',
    guesses: 'mail',
    body: EmailOnly,
    examples: { 'An address': { email: 'ada@example.com' } },
    answers: { 204: null },
    async handle({ services, db, body, request, now }) {
      assertMailConfigured(services)
      takeRecovery(services, body.email.toLowerCase(), request.ip, now)
      const user = await findUserByEmail(db, body.email)
      if (user && (await findClosedDomain(services, db, user)))
        await services.jobs.enqueue(db, ownerRecoveryEmail, { user_id: user.id })
      return noContent()
    },
  }),

  route({
    method: 'POST',
    path: '/api/login/recovery/:user_uuid/',
    summary: 'Sign in with the link mailed to an owner, for two hours; every owner is notified',
    access: 'anyone',
    guesses: 'link',
    body: RecoveryLink,
    examples: { 'The token of the mail': { token: 'MTc2…' } },
    answers: { 200: Done, 401: ErrorAnswer },
    async handle(context) {
      const { services, db, params, body, request, now } = context
      const link = { purpose: 'owner recovery', user_uuid: params.user_uuid, token: body.token } as const
      return db.transaction(async (tx) => {
        const user = await lockUserByLink(services, tx, link, now)
        const domain = await findClosedDomain(services, tx, user)
        if (!domain) throw invalid('token', 'invalid_token', 'The link is wrong, used or too old.')
        await assertAllowed({ services, db: tx }, user.email, 'recovery', domain.id)
        const proof = { signed_in_by: 'recovery', domain_id: domain.id } as const
        if (await hasDevice(tx, user.id)) {
          const body401 = new ApiError(
            '2fa_required',
            'Now send the code of your authenticator to /api/login/token/.',
          ).body()
          const pending = await openPendingSession(tx, user.id, now, proof)
          return { status: 401 as const, body: body401, session: pending }
        }
        await tellOwners({ ...context, caller: null, acting_user: user }, tx, domain, user)
        const opening = { user_id: user.id, ...proof, has_second_factor: false }
        return { ...ok({ success: true }), session: await openSessionBy(tx, opening, now, request) }
      })
    },
  }),
]

/** By place first: who is refused there takes nothing from what all places share. */
function takeRecovery({ throttle }: Services, email: string, ip: string, now: Date): void {
  const { network } = originOf(ip)
  throttle.take('owner recovery from a network', `${network} ${email}`, RATES_OF_A_NETWORK, now)
  throttle.take('owner recovery', email, RATES_OF_AN_ADDRESS, now)
}

/** The domain that keeps an owner's password out; none where it does not, or they own something else. */
async function findClosedDomain(services: Services, db: Db, user: UserRow): Promise<DomainRow | null> {
  const domain = user.is_active ? await findVerifiedDomainOf(db, user.email) : undefined
  if (!domain || enforcedBy(services.settings, domain) === null) return null
  const membership = await findMembership(db, domain.organization_id, user.id)
  return membership?.level === LEVELS.owner ? domain : null
}

/** Once somebody has come in: a link alone, without the second factor, opens nothing. */
export async function tellOwners(
  { services, ...actor }: Actor & { services: Services },
  tx: Db,
  domain: DomainRow,
  user: UserRow,
): Promise<void> {
  await recordActivity(tx, actor, {
    organization_id: domain.organization_id,
    scope: 'OrganizationDomain',
    activity: 'owner_recovered',
    item_id: domain.id,
    name: domain.domain,
  })
  for (const owner of await listOwners(tx, domain.organization_id)) {
    const data = { user_id: owner.user_id, who: user.email, domain: domain.domain }
    await services.jobs.enqueue(tx, ownerCameBackEmail, data)
  }
}
