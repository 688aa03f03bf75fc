// Accepting an invite: every reason against it in the order of organizations.md §5.3, then joining in one transaction.
import { isUuid } from '../../lib/uuid.ts'
import { violatedUnique, type Db } from '../../platform/db/database.ts'
import type { Caller } from '../../platform/http/caller.ts'
import { invalid } from '../../platform/http/errors.ts'
import type { Services } from '../../platform/services.ts'
import { recordActivity, type Actor } from '../activity-log/record.ts'
import { assertPasswordAllowed } from '../domains/password-rule.ts'
import { inviteActivity } from '../invites/invite.ts'
import { deleteInvitesFor, findInviteByLink, isMemberAddress } from '../invites/queries.ts'
import { isExpired } from '../invites/rules.ts'
import type { InviteRow } from '../invites/schema.ts'
import { announceJoin } from '../members/joined-email.ts'
import { findMembership, insertMembership } from '../members/queries.ts'
import { findOrganizationById, type OrganizationRow } from '../organizations/queries.ts'
import { findFirstProject } from '../projects/queries.ts'
import { assertGoodPassword, hashPassword } from '../users/passwords.ts'
import { findUserByEmail, findUserById, insertUser, setCurrent } from '../users/queries.ts'
import type { UserRow } from '../users/schema.ts'

type SignedIn = Extract<Caller, { kind: 'session' }>

type AcceptContext = Actor & {
  services: Services
  db: Db
  caller: Caller | null
  params: { invite_id: string }
  body: { first_name?: string | undefined; password?: string | undefined; role_at_organization?: string | undefined }
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
  if (!invite || !organization) throw invalid(null, 'invalid_input', 'This invite does not exist or was taken back.')
  const signedIn = caller?.kind === 'session' ? caller.user : null
  if (signedIn && signedIn.email.toLowerCase() !== invite.target_email.toLowerCase()) {
    throw invalid(null, 'invalid_recipient', 'This invite is for another address than the one you are signed in with.')
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
    await join(context, tx, acceptable, caller.user.id)
    return (await findUserById(tx, caller.user.id))!
  })
}

/** Everything that can be refused, and the hashing, before a transaction is opened. */
export async function prepareNewAccount({ db, params, body, now }: AcceptContext): Promise<string> {
  const { invite } = await getAcceptableInvite(db, null, params.invite_id, now, { existing_account: 'invalid_input' })
  if (body.first_name === undefined) throw invalid('first_name', 'required', 'This field is missing.')
  if (body.password === undefined) throw invalid('password', 'required', 'This field is missing.')
  await assertPasswordAllowed(db, invite.target_email)
  await assertGoodPassword(body.password, [invite.target_email, body.first_name])
  return hashPassword(body.password)
}

export async function joinWithNewAccount(context: AcceptContext, tx: Db, password_hash: string): Promise<UserRow> {
  const { params, body, now } = context
  const acceptable = await getAcceptableInvite(tx, null, params.invite_id, now, JOINING)
  const { target_email } = acceptable.invite
  try {
    const user = await insertUser(tx, { ...body, first_name: body.first_name!, email: target_email, password_hash }, now)
    await join(context, tx, acceptable, user.id)
    return user
  } catch (error) {
    if (violatedUnique(error) !== 'app_user_email_unique') throw error
    throw invalid(null, 'invalid_input', 'There is an account with this address already: sign in to accept.')
  }
}

async function join(context: AcceptContext, tx: Db, { invite, organization }: Acceptable, userId: number): Promise<void> {
  const { services, now } = context
  const membership = await insertMembership(tx, organization.id, userId, invite.level, now)
  const project = await findFirstProject(tx, organization.id)
  await setCurrent(tx, userId, organization.id, project?.id ?? null)
  await deleteInvitesFor(tx, organization.id, invite.target_email)
  await announceJoin(services, tx, organization, userId)
  await recordActivity(tx, context, { ...inviteActivity(invite), activity: 'accepted', changes: [] })
  await recordActivity(tx, context, {
    organization_id: organization.id,
    scope: 'OrganizationMembership',
    activity: 'created',
    item_id: membership.id,
    name: invite.target_email,
  })
}
