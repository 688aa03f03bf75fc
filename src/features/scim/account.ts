// The account behind a person of the directory. A directory speaks for addresses of domains that its organization has proved; an
// account that belongs to others too, to an owner or to staff of the installation is joined, and never changed.
import { isObject, type JsonObject } from '../../lib/json-object.ts'
import type { Db } from '../../platform/db/database.ts'
import { LEVELS } from '../../platform/http/caller.ts'
import { email as emailField } from '../../platform/http/fields.ts'
import { changesBetween, recordActivity } from '../activity-log/record.ts'
import { ownAddresses } from '../domains/queries.ts'
import { findMembership } from '../members/queries.ts'
import { endOtherWaysIn } from '../sign-in/end-ways-in.ts'
import { AddressTaken, takeAddress } from '../users/addresses.ts'
import { findUserByEmail, getUser, insertUser, lockUser, updateUser } from '../users/queries.ts'
import type { UserRow } from '../users/schema.ts'
import { addressByDirectoryEmail } from './emails.ts'
import type { Directory } from './directory.ts'
import { refused, taken } from './protocol/scim-error.ts'
import { countOtherMemberships } from './user-queries.ts'

const MAX_NAME = 128
const address = emailField()

export type AccountFields = Pick<UserRow, 'email' | 'first_name' | 'last_name'>

/** What the resource says of the account. 400 without an address that the organization may speak for. */
export async function accountOf(db: Db, { domain }: Directory, resource: JsonObject): Promise<AccountFields> {
  const [email] = await ownAddresses(db, domain.organization_id, addressesIn(resource))
  if (email === undefined)
    throw refused(
      'invalidValue',
      `Neither userName nor emails holds an address of ${domain.domain}, or of another verified domain of the organization.`,
    )
  const name = isObject(resource.name) ? resource.name : {}
  const whole = text(resource.displayName) || text(name.formatted)
  const [first = '', ...rest] = whole.split(/\s+/)
  return {
    email,
    first_name: (text(name.givenName) || first).slice(0, MAX_NAME),
    last_name: (text(name.familyName) || (text(name.givenName) ? '' : rest.join(' '))).slice(0, MAX_NAME),
  }
}

/** The primary address, then one of work, then the others, then the name they sign in with. */
function addressesIn(resource: JsonObject): string[] {
  const emails = (Array.isArray(resource.emails) ? resource.emails : []).filter(isObject)
  const rank = ({ primary, type }: JsonObject) =>
    primary === true ? 0 : text(type).toLowerCase() === 'work' ? 1 : 2
  const ordered = emails.toSorted((one, other) => rank(one) - rank(other)).map(({ value }) => value)
  return [...ordered, resource.userName].flatMap((given) => {
    const read = address.safeParse(given)
    return read.success ? [read.data] : []
  })
}

function text(value: unknown): string {
  return typeof value === 'string' ? value.trim() : ''
}

/** The account of the address, or a new one without a password: who has it signs in through the provider. */
export async function findOrMakeAccount(
  tx: Db,
  directory: Directory,
  fields: AccountFields,
): Promise<UserRow> {
  const { now } = directory
  const known = await findUserByEmail(tx, fields.email)
  if (known) return proved(tx, directory, known)
  const fresh = { ...fields, password_hash: null, is_email_verified: true }
  try {
    return await tx.transaction((inner) => takeAddress(inner, () => insertUser(inner, fresh, now), now))
  } catch (error) {
    if (!(error instanceof AddressTaken)) throw error
    // Somebody has signed up with it at the same time, or it can still be had back by who gave it up.
    const made = await findUserByEmail(tx, fields.email)
    if (made) return proved(tx, directory, made)
    throw taken('The address belonged to another account until a short while ago.')
  }
}

/**
 * Somebody may have signed up with the address of a colleague to come, to be made a member under that name: what they set up
 * ends. Who is a member already was let in by an admin.
 */
async function proved(tx: Db, { domain, actor }: Directory, user: UserRow): Promise<UserRow> {
  if (user.is_email_verified || (await findMembership(tx, domain.organization_id, user.id))) return user
  await endOtherWaysIn(actor, tx, user)
  return updateUser(tx, user.id, { is_email_verified: true })
}

/** Carries the directory's name and address over to the account, where it may. */
export async function changeAccount(
  tx: Db,
  directory: Directory,
  userId: number,
  fields: AccountFields,
): Promise<void> {
  await lockUser(tx, userId)
  const before = await getUser(tx, userId)
  const changes = changesBetween('User', before, fields, ['email', 'first_name', 'last_name'])
  if (changes.length === 0 || !(await isOurs(tx, directory, before))) return
  const after = await write(tx, directory, before, fields)
  await recordActivity(tx, directory.actor, {
    organization_id: directory.domain.organization_id,
    scope: 'User',
    activity: 'updated',
    item_id: after.uuid,
    name: after.email,
    changes,
  })
  if (after.email.toLowerCase() !== before.email.toLowerCase()) await tellOldAddress(tx, directory, before)
}

/** An admin has the directory's token: with it they must not get at an owner's account by way of its address. */
async function isOurs(tx: Db, { domain }: Directory, user: UserRow): Promise<boolean> {
  const { organization_id } = domain
  if (user.is_staff || (await ownAddresses(tx, organization_id, [user.email])).length === 0) return false
  if ((await countOtherMemberships(tx, organization_id, user.id)) > 0) return false
  return (await findMembership(tx, organization_id, user.id))?.level !== LEVELS.owner
}

async function write(tx: Db, { now }: Directory, before: UserRow, fields: AccountFields): Promise<UserRow> {
  if (fields.email === before.email) return updateUser(tx, before.id, fields)
  const proved = { ...fields, pending_email: null, is_email_verified: true }
  try {
    return await tx.transaction((inner) =>
      takeAddress(inner, () => updateUser(inner, before.id, proved), now),
    )
  } catch (error) {
    if (error instanceof AddressTaken) throw taken('Another account has this address.')
    throw error
  }
}

async function tellOldAddress(tx: Db, { services, domain }: Directory, before: UserRow): Promise<void> {
  if (!services.mailer.configured) return
  const data = { user_id: before.id, old_email: before.email, domain: domain.domain }
  await services.jobs.enqueue(tx, addressByDirectoryEmail, data)
}
