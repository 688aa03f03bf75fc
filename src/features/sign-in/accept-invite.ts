// Accepting an invite: every reason against it in the order of organizations.md §5.3, then joining in one transaction.
import type { Db } from '../../platform/db/database.ts'
import { LEVELS, type Caller } from '../../platform/http/caller.ts'
import { invalid } from '../../platform/http/errors.ts'
import { validate } from '../../platform/http/validate.ts'
import type { Services } from '../../platform/services.ts'
import { recordActivity, type Actor } from '../activity-log/record.ts'
import { assertAllowed } from '../domains/allowed-ways.ts'
import { inviteActivity } from '../invites/invite.ts'
import { opensInvite, readInviteSecret, type Way } from '../invites/link.ts'
import { giveProjectAccess } from '../invites/project-access.ts'
import { deleteInvitesFor, findInviteById, isMemberAddress } from '../invites/queries.ts'
import { isExpired } from '../invites/rules.ts'
import type { InviteRow } from '../invites/schema.ts'
import { announceJoin } from '../members/joined-email.ts'
import { addMember } from '../members/join.ts'
import { findMembership } from '../members/queries.ts'
import { findOrganizationById, type OrganizationRow } from '../organizations/queries.ts'
import { isReachableByUser } from '../projects/access.ts'
import { findFirstProject } from '../projects/queries.ts'
import { AddressTaken, takeAddress } from '../users/addresses.ts'
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

/** `way` is how the link came to whoever has it. */
type Acceptable = { invite: InviteRow; organization: OrganizationRow; way: Way }

/** A visitor whose address has an account is sent to sign in; one who posts anyway is refused. */
type Visit = { existing_account: 'account_exists' | 'invalid_input'; is_joining?: true }

/** `params.invite_id` is the secret at the end of the link: the id alone opens nothing. */
export async function getAcceptableInvite(
  { services, params, now }: Pick<AcceptContext, 'services' | 'params' | 'now'>,
  db: Db,
  caller: Caller | null,
  visit: Visit,
): Promise<Acceptable> {
  const secret = readInviteSecret(params.invite_id)
  const lock = visit.is_joining ? 'locked' : 'unlocked'
  const invite = secret ? await findInviteById(db, secret.id, lock) : undefined
  const organization = invite && (await findOrganizationById(db, invite.organization_id))
  if (!secret || !invite || !organization || !opensInvite(services, invite, secret))
    throw invalid(
      null,
      'invalid_input',
      'This link opens no invite: it is wrong, was used, or was taken back.',
    )
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
    throw invalid(null, visit.existing_account, `/login?next=/signup/${params.invite_id}`)
  }
  if (signedIn && (await findMembership(db, organization.id, signedIn.id))) {
    throw invalid(null, 'user_already_member', 'You are a member of this organization already.')
  }
  if (await isMemberAddress(db, organization.id, invite.target_email)) {
    throw invalid(null, 'existing_email_address', 'Somebody with this address is a member already.')
  }
  if (isMoreThanMember(invite) && !(await isAddressProved(services, db, signedIn, secret.way))) {
    throw invalid(
      null,
      'address_not_proved',
      `This invite makes you more than a member: it takes the link that was mailed to ${invite.target_email}.`,
    )
  }
  return { invite, organization, way: secret.way }
}

/** By its level, or by projects that members do not see. */
function isMoreThanMember({ level, private_project_access }: InviteRow): boolean {
  return level > LEVELS.member || private_project_access.length > 0
}

/** A link that was passed on says nothing about the address; without outgoing mail there is no other. */
async function isAddressProved(
  { mailer }: Services,
  db: Db,
  signedIn: { id: number } | null,
  way: Way,
): Promise<boolean> {
  if (way === 'mailed' || !mailer.configured) return true
  return signedIn !== null && (await getUser(db, signedIn.id)).is_email_verified
}

const JOINING: Visit = { existing_account: 'invalid_input', is_joining: true }

/** Name and password in the body are not looked at: an invite must not be a way to change either. */
export async function acceptAsSignedIn(context: AcceptContext, caller: SignedIn): Promise<UserRow> {
  return context.db.transaction(async (tx) => {
    const acceptable = await getAcceptableInvite(context, tx, caller, JOINING)
    await joinByInvite(context, tx, acceptable.invite, caller.user)
    return getUser(tx, caller.user.id)
  })
}

type PreparedAccount = Omit<NewAccount, 'password'> & { password_hash: string }

/** Everything that can be refused, and the hashing, before a transaction is opened. */
export async function prepareNewAccount(context: AcceptContext): Promise<PreparedAccount> {
  const { services, db, body } = context
  const { password, ...account } = validate(NewAccount, body)
  const visit = { existing_account: 'invalid_input' } as const
  const { invite } = await getAcceptableInvite(context, db, null, visit)
  await assertAllowed({ services, db }, invite.target_email, 'password')
  await assertGoodPassword(password, [invite.target_email, account.first_name])
  return { ...account, password_hash: await hashPassword(password) }
}

export async function joinWithNewAccount(
  context: AcceptContext,
  tx: Db,
  account: PreparedAccount,
): Promise<UserRow> {
  const acceptable = await getAcceptableInvite(context, tx, null, JOINING)
  const { invite, way } = acceptable
  const address = { email: invite.target_email, is_email_verified: way === 'mailed' }
  try {
    const write = () => insertUser(tx, { ...account, ...address }, context.now)
    const user = await takeAddress(tx, write, context.now)
    await joinByInvite({ ...context, caller: null, acting_user: user }, tx, invite, user)
    return user
  } catch (error) {
    if (!(error instanceof AddressTaken)) throw error
    throw invalid(null, 'invalid_input', 'There is an account with this address already: sign in to accept.')
  }
}

/** The invite is used up; whoever calls this has made sure of the address. */
export async function joinByInvite(
  context: Actor & { services: Services },
  tx: Db,
  invite: InviteRow,
  user: { id: number; email: string },
): Promise<void> {
  const organization = (await findOrganizationById(tx, invite.organization_id))!
  await recordActivity(tx, context, { ...inviteActivity(invite), activity: 'accepted', changes: [] })
  const member = await addMember(tx, context, organization.id, user, invite.level)
  await giveProjectAccess(tx, context, member, invite.private_project_access)
  const project = await findFirstProject(tx, organization.id, isReachableByUser(user.id))
  await setCurrent(tx, user.id, organization.id, project?.id ?? null)
  await deleteInvitesFor(tx, organization.id, invite.target_email)
  await announceJoin(context.services, tx, organization, user.id)
}
