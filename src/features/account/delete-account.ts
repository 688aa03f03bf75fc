// Deleting one's own account: memberships, sessions, keys and second factor go with it, the logs of sign-ins and directories
// forget the person, and the activity log keeps what was done without saying who did it.
import type { Db } from '../../platform/db/database.ts'
import { LEVELS, type Caller } from '../../platform/http/caller.ts'
import { conflict } from '../../platform/http/errors.ts'
import type { Services } from '../../platform/services.ts'
import { ERASED, erasePerson, formerAddresses } from '../activity-log/erase.ts'
import { recordActivity, type Actor } from '../activity-log/record.ts'
import { membershipActivity } from '../members/join.ts'
import { countOthers, deleteMembership, lockOwners } from '../members/queries.ts'
import type { MembershipRow } from '../members/schema.ts'
import { deleteWithEverything } from '../organizations/delete.ts'
import { eraseRequests } from '../scim/request-log.ts'
import { eraseSignInRecords } from '../sign-in/erase-records.ts'
import { addressesOf } from '../users/addresses.ts'
import { deleteUser, getUser, isOnlyUser } from '../users/queries.ts'
import { accountDeletedEmail } from './account-deleted-email.ts'
import { listDomainsAround, listMembershipsOf, lockAccountDeletion } from './queries.ts'

type SignedIn = Extract<Caller, { kind: 'session' }>
type Deletion = Actor & { services: Services; db: Db; caller: SignedIn }

export async function deleteAccount({ services, db, caller, now }: Deletion): Promise<void> {
  const { id } = caller.user
  await db.transaction(async (tx) => {
    await lockAccountDeletion(tx)
    // An installation without accounts makes whoever comes first its staff.
    if (await isOnlyUser(tx, id))
      throw conflict('This is the only account of this installation, so it cannot be deleted.')
    const user = await getUser(tx, id)
    // What follows is recorded without the name that is about to go.
    const actor: Actor = {
      caller: null,
      acting_user: { id, email: ERASED, current_organization_id: null },
      request: { ip: '' },
      now,
    }
    const addresses = [...(await addressesOf(tx, user)), ...(await formerAddresses(tx, user.uuid))]
    const domains = await listDomainsAround(tx, id, addresses)
    await eraseRequests(tx, domains, { id, addresses })
    await eraseSignInRecords(tx, domains, { id, addresses })
    for (const membership of await listMembershipsOf(tx, id)) await leave(services, tx, actor, membership)
    await erasePerson(tx, actor, { id, uuid: user.uuid, addresses })
    await deleteUser(tx, id)
    if (services.mailer.configured) {
      await services.jobs.enqueue(tx, accountDeletedEmail, { email: user.email })
    }
  })
}

/** An organization with nobody left in it goes too: nobody could reach it, and its exports would run for ever. */
async function leave(services: Services, tx: Db, actor: Actor, membership: MembershipRow): Promise<void> {
  const { organization_id, user_id, level } = membership
  const owners = await lockOwners(tx, organization_id)
  if ((await countOthers(tx, organization_id, user_id)) === 0) {
    await deleteWithEverything(services, tx, actor, organization_id)
    return
  }
  if (level === LEVELS.owner && owners <= 1) {
    throw conflict(
      'You are the only owner of an organization with other members: make somebody else owner, or delete the organization first.',
    )
  }
  await deleteMembership(tx, organization_id, user_id)
  await recordActivity(tx, actor, {
    ...membershipActivity({ ...membership, email: ERASED }),
    activity: 'deleted',
  })
}
