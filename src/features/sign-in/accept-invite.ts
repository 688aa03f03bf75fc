// Accepting an invite: every reason against it in the order of organizations.md §5.3, then joining in one transaction.
import { isUuid } from '../../lib/uuid.ts'
import { violatedUnique, type Db } from '../../platform/db/database.ts'
import type { Caller } from '../../platform/http/caller.ts'
import { invalid } from '../../platform/http/errors.ts'
import { validate } from '../../platform/http/validate.ts'
import type { Services } from '../../platform/services.ts'
import { recordActivity, type Actor } from '../activity-log/record.ts'
import { assertPasswordAllowed } from '../domains/password-rule.ts'
import { inviteActivity } from '../invites/invite.ts'
import { deleteInvitesFor, findInviteByLink, isMemberAddress } from '../invites/queries.ts'
import { isExpired } from '../invites/rules.ts'
import type { InviteRow } from '../invites/schema.ts'
import { announceJoin } from '../members/joined-email.ts'
import { addMember } from '../members/join.ts'
import { findMembership } from '../members/queries.ts'
import { findOrganizationById, type OrganizationRow } from '../organizations/queries.ts'
import { findFirstProject } from '../projects/queries.ts'
import { assertGoodPassword, hashPassword } from '../users/passwords.ts'
import { findUserByEmail, getUser, insertUser, setCurrent } from '../users/queries.ts'
import type { UserRow } from '../users/schema.ts'
import { NewAccount } from './schema.ts'

type SignedIn = Extract<Caller, { kind: 'session' }>

type AcceptContext = Actor & {
  services: Services
  db: Db
  caller: Caller | null
  params: { invite_id: string }
  body: unknown
}

type Acceptable = { invite: InviteRow; organization: OrganizationRow }

/** A visitor whose address has an account is sent to sign in; one who posts anyway is refused. */
type Visit = { existing_account: 'account_exists' | 'invalid_input'; is_joining?: true }

export async function getAcceptableInvite(
  db: Db,
  caller: Caller | null,
  inviteId: string,
  now: Date,
  visit: Visit,
): Promise<Acceptable> {
  const lock = visit.is_joining ? 'locked' : 'unlocked'
  const invite = isUuid(inviteId) ? await findInviteByLink(db, inviteId, lock) : undefined
  const organization = invite && (await findOrganizationById(db, invite.organization_id))
  if (!invite || !organization)
    throw invalid(null, 'invalid_input', 'This invite does not exist or was taken back.')
  const signedIn = caller?.kind === 'session' ? caller.user : null
  if (signedIn && signedIn.email.toLowerCase() !== invite.target_email.toLowerCase()) {
    throw invalid(
      null,
      'invalid_recipient',
      'This invite is for another address than the one you are signed in with.',
    )
  }
  if (isExpired(invite, now)) throw invalid(null, 'expired', 'This invite has expired: ask for a new one.')
  if (!signedIn && (await findUserByEmail(db, invite.target_email))) {
    throw invalid(null, visit.existing_account, `/login?next=/signup/${invite.id}`)
  }
  if (signedIn && (await findMembership(db, organization.id, signedIn.id))) {
    throw invalid(null, 'user_already_member', 'You are a member of this organization already.')
  }
  if (await isMemberAddress(db, organization.id, invite.target_email)) {
    throw invalid(null, 'existing_email_address', 'Somebody with this address is a member already.')
  }
  return { invite, organization }
}

const JOINING: Visit = { existing_account: 'invalid_input', is_joining: true }

/** Name and password in the body are not looked at: an invite must not be a way to change either. */
export async function acceptAsSignedIn(context: AcceptContext, caller: SignedIn): Promise<UserRow> {
  const { db, params, now } = context
  return db.transaction(async (tx) => {
    const acceptable = await getAcceptableInvite(tx, caller, params.invite_id, now, JOINING)
    await join(context, tx, acceptable, caller.user)
    return getUser(tx, caller.user.id)
  })
}

type PreparedAccount = Omit<NewAccount, 'password'> & { password_hash: string }

/** Everything that can be refused, and the hashing, before a transaction is opened. */
export async function prepareNewAccount({ db, params, body, now }: AcceptContext): Promise<PreparedAccount> {
  const { password, ...account } = validate(NewAccount, body)
  const visit = { existing_account: 'invalid_input' } as const
  const { invite } = await getAcceptableInvite(db, null, params.invite_id, now, visit)
  await assertPasswordAllowed(db, invite.target_email)
  await assertGoodPassword(password, [invite.target_email, account.first_name])
  return { ...account, password_hash: await hashPassword(password) }
}

export async function joinWithNewAccount(
  context: AcceptContext,
  tx: Db,
  account: PreparedAccount,
): Promise<UserRow> {
  const { params, now } = context
  const acceptable = await getAcceptableInvite(tx, null, params.invite_id, now, JOINING)
  try {
    const user = await insertUser(tx, { ...account, email: acceptable.invite.target_email }, now)
    await join({ ...context, caller: null, new_user: user }, tx, acceptable, user)
    return user
  } catch (error) {
    if (violatedUnique(error) !== 'app_user_email_unique') throw error
    throw invalid(null, 'invalid_input', 'There is an account with this address already: sign in to accept.')
  }
}

async function join(
  context: AcceptContext,
  tx: Db,
  { invite, organization }: Acceptable,
  user: { id: number; email: string },
): Promise<void> {
  await recordActivity(tx, context, { ...inviteActivity(invite), activity: 'accepted', changes: [] })
  await addMember(tx, context, organization.id, user, invite.level)
  const project = await findFirstProject(tx, organization.id)
  await setCurrent(tx, user.id, organization.id, project?.id ?? null)
  await deleteInvitesFor(tx, organization.id, invite.target_email)
  await announceJoin(context.services, tx, organization, user.id)
}
