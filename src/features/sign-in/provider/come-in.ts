// Who comes in when a provider vouches for somebody: the table of docs/decisions/0058-sign-on-through-a-provider.md. An account
// is never taken over by an address alone.
import type { Db } from '../../../platform/db/database.ts'
import { LEVELS, type Caller, type Level } from '../../../platform/http/caller.ts'
import { email as emailField } from '../../../platform/http/fields.ts'
import type { Services } from '../../../platform/services.ts'
import type { Actor } from '../../activity-log/record.ts'
import { isOpenTo, signInRuleOf, type SignInRule } from '../../domains/allowed-ways.ts'
import { isKeptOut } from '../../domains/kept-out.ts'
import { domainOf, findVerifiedDomainOf } from '../../domains/queries.ts'
import type { DomainRow } from '../../domains/schema.ts'
import { findIdentity, insertIdentity, lockIdentity, touchIdentity } from '../../identities/queries.ts'
import type { Vouched } from '../../identities/schema.ts'
import { endInvites } from '../../invites/end-invites.ts'
import { findPendingInvite } from '../../invites/queries.ts'
import type { InviteRow } from '../../invites/schema.ts'
import { addMember } from '../../members/join.ts'
import { announceJoin } from '../../members/joined-email.ts'
import { findMembership } from '../../members/queries.ts'
import { createOrganization } from '../../organizations/create.ts'
import { findOrganizationById } from '../../organizations/queries.ts'
import { isReachableByUser } from '../../projects/access.ts'
import { findFirstProject } from '../../projects/queries.ts'
import { takeAddress } from '../../users/addresses.ts'
import { tellUser } from '../../users/notice-email.ts'
import {
  findUserByEmail,
  getUser,
  insertUser,
  lockUser,
  setCurrent,
  updateUser,
} from '../../users/queries.ts'
import type { UserRow } from '../../users/schema.ts'
import { joinByInvite } from '../accept-invite.ts'
import { endOtherWaysIn } from '../end-ways-in.ts'
import { NAMES } from './names.ts'
import type { RefusalCode } from './refusals.ts'

export type Arriving = Actor & { services: Services; caller: Caller | null }

export type Decision =
  | { user: UserRow }
  /** The account is there, and only its password shows that it is theirs. */
  | { link_needed: UserRow }
  | { refused: RefusalCode }

/** An address that passed every check, and the verified domain it lies in. */
type Address = { email: string; domain: DomainRow | undefined; rule: SignInRule }

/** Throws AddressTaken when somebody else makes the account at the same moment: then ask again. */
export async function comeIn(context: Arriving, tx: Db, vouched: Vouched): Promise<Decision> {
  await lockIdentity(tx, vouched)
  const known = await findIdentity(tx, vouched)
  if (!known) return comeInByAddress(context, tx, vouched)
  const user = await getUser(tx, known.user_id)
  if (!user.is_active) return { refused: 'account_inactive' }
  const address = await addressOf(context, tx, user.email)
  if (!isOpenTo(address.rule, vouched.provider, vouched.domain_id)) return { refused: 'way_not_allowed' }
  await touchIdentity(tx, known.id, vouched.email, context.now)
  await joinByDomain(context, tx, vouched, address.domain, user)
  return { user }
}

/** Once the password was right: what `comeIn` could not do before. */
export async function linkToUser(
  context: Arriving,
  tx: Db,
  vouched: Vouched,
  user: UserRow,
): Promise<Decision> {
  await lockIdentity(tx, vouched)
  const known = await findIdentity(tx, vouched)
  if (known) return known.user_id === user.id ? { user } : { refused: 'attempt_unknown' }
  // The account has another address by now, which nobody vouches for.
  if (vouched.email?.toLowerCase() !== user.email.toLowerCase()) return { refused: 'attempt_unknown' }
  const address = await addressOf(context, tx, user.email)
  if (!isOpenTo(address.rule, vouched.provider, vouched.domain_id)) return { refused: 'way_not_allowed' }
  return link(context, tx, vouched, user, address)
}

async function comeInByAddress(context: Arriving, tx: Db, vouched: Vouched): Promise<Decision> {
  const given = emailField().safeParse(vouched.email)
  if (!given.success) return { refused: 'no_email' }
  if (!vouched.is_email_vouched) return { refused: 'email_not_vouched' }
  const address = await addressOf(context, tx, given.data)
  // The provider of a domain speaks for that domain's addresses alone.
  if (vouched.domain_id !== null && address.domain?.id !== vouched.domain_id)
    return { refused: 'email_not_in_domain' }
  if (!isOpenTo(address.rule, vouched.provider, vouched.domain_id)) return { refused: 'way_not_allowed' }
  const user = await findUserByEmail(tx, address.email)
  if (!user) return makeAccount(context, tx, vouched, address)
  if (!user.is_active) return { refused: 'account_inactive' }
  if (isSignedIn(context.caller, user)) return link(context, tx, vouched, user, address)
  const level = await levelIn(tx, address.domain, user)
  // Admins set providers up: one that they control must not make them owner or staff.
  if (user.is_staff || level === LEVELS.owner) return { link_needed: user }
  if (level !== null) return link(context, tx, vouched, user, address)
  if (address.rule.enforced !== vouched.provider) return { link_needed: user }
  if (!user.is_email_verified) await endOtherWaysIn(context, tx, user)
  return link(context, tx, vouched, user, address)
}

async function addressOf({ services }: Arriving, tx: Db, email: string): Promise<Address> {
  const domain = await findVerifiedDomainOf(tx, email)
  return { email, domain, rule: await signInRuleOf({ services, db: tx }, email) }
}

function isSignedIn(caller: Caller | null, user: UserRow): boolean {
  return caller?.kind === 'session' && caller.user.id === user.id
}

/** In the organization that has proved the domain; null: none. */
async function levelIn(tx: Db, domain: DomainRow | undefined, user: UserRow): Promise<Level | null> {
  const membership = domain && (await findMembership(tx, domain.organization_id, user.id))
  return membership?.level ?? null
}

async function link(
  context: Arriving,
  tx: Db,
  vouched: Vouched,
  user: UserRow,
  { domain }: Address,
): Promise<Decision> {
  const { services, now } = context
  await lockUser(tx, user.id)
  await insertIdentity(tx, user.id, vouched, now)
  await tellUser(services, tx, user.id, { notice: 'identity_linked', about: NAMES[vouched.provider] })
  await joinByDomain(context, tx, vouched, domain, user)
  return { user: await updateUser(tx, user.id, { is_email_verified: true }) }
}

async function makeAccount(
  context: Arriving,
  tx: Db,
  vouched: Vouched,
  { email, domain }: Address,
): Promise<Decision> {
  const { services, now } = context
  const invite = await findPendingInvite(tx, email, domain?.organization_id ?? null, now)
  const isWelcome = invite || domain?.jit_provisioning_enabled || services.settings.is_signup_open
  if (!isWelcome) return { refused: 'not_invited' }
  const account = { email, ...namesOf(vouched, email), password_hash: null, is_email_verified: true }
  const user = await takeAddress(tx, () => insertUser(tx, account, now), now)
  const actor = { ...context, caller: null, acting_user: user }
  await insertIdentity(tx, user.id, vouched, now)
  if (invite) await joinByInvite(actor, tx, believed(invite, vouched, domain), user)
  await joinByDomain(actor, tx, vouched, domain, user)
  if (!invite && !domain?.jit_provisioning_enabled)
    await createOrganization(tx, actor, user.id, { name: `${user.first_name.slice(0, 49)}'s Organization` })
  return { user: await getUser(tx, user.id) }
}

/** Admins set the provider of a domain up, so it makes nobody owner of their organization: an owner does that. */
function believed(invite: InviteRow, { domain_id }: Vouched, domain: DomainRow | undefined): InviteRow {
  const isTheirProvider = domain_id !== null && domain?.organization_id === invite.organization_id
  return isTheirProvider && invite.level === LEVELS.owner ? { ...invite, level: LEVELS.admin } : invite
}

/** Everybody of a verified domain joins, if its organization wants that and its directory has not deactivated them. */
async function joinByDomain(
  context: Arriving,
  tx: Db,
  vouched: Vouched,
  domain: DomainRow | undefined,
  user: UserRow,
): Promise<void> {
  if (!domain?.jit_provisioning_enabled || !speaksFor(vouched, domain)) return
  if ((await levelIn(tx, domain, user)) !== null) return
  if (await isKeptOut(tx, domain.organization_id, user.id)) return
  const organization = (await findOrganizationById(tx, domain.organization_id))!
  const actor = { ...context, caller: null, acting_user: user }
  await addMember(tx, actor, organization.id, user, LEVELS.member)
  const project = await findFirstProject(tx, organization.id, isReachableByUser(user.id))
  await setCurrent(tx, user.id, organization.id, project?.id ?? null)
  await endInvites(tx, actor, organization.id, user.email)
  await announceJoin(context.services, tx, organization, user.id)
}

/** The address of an account may be one that it only claims: it counts where the provider stands by it. */
function speaksFor({ domain_id, email, is_email_vouched }: Vouched, domain: DomainRow): boolean {
  if (domain_id !== null) return domain_id === domain.id
  return is_email_vouched && email !== null && domainOf(email) === domain.domain
}

/** What providers call people may be anything; what is empty is told by the address. */
function namesOf({ first_name, last_name }: Vouched, email: string) {
  const clean = (name: string, max: number) =>
    Array.from(name.replaceAll(/\p{Cc}/gu, ' ').trim())
      .slice(0, max)
      .join('')
  const first = clean(first_name, 128)
  return {
    first_name: first === '' ? email.split('@')[0]!.slice(0, 128) : first,
    last_name: clean(last_name, 150),
  }
}
