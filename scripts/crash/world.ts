// Who takes part: clients with a key and an organization of their own, and one organization they all administer.
import { createOrganization } from '../../src/features/organizations/create.ts'
import { insertMembership } from '../../src/features/members/queries.ts'
import { newPersonalKey } from '../../src/features/api-keys/key-value.ts'
import { insertKey } from '../../src/features/api-keys/queries.ts'
import { insertUser } from '../../src/features/users/queries.ts'
import type { Db } from '../../src/platform/db/database.ts'
import { LEVELS } from '../../src/platform/http/caller.ts'
import { Organization } from './ledger.ts'

export type Participant = { name: string; key: string; home: Organization }
export type World = { participants: Participant[]; shared: Organization }

const CLIENTS = 6
const EXTRA_MEMBERS = 2

export function makeWorld(db: Db): Promise<World> {
  const now = new Date()
  const actor = { caller: null, request: { ip: '' }, now }
  return db.transaction(async (tx) => {
    const newUser = (name: string) =>
      insertUser(
        tx,
        { email: `${name}@crash.example`, first_name: name, password_hash: null, is_email_verified: true },
        now,
      )
    const newOrganization = async (ownerId: number, name: string) =>
      new Organization((await createOrganization(tx, actor, ownerId, { name })).organization.id, name)

    const host = await newUser('host')
    const shared = await newOrganization(host.id, 'shared')
    const participants: Participant[] = []
    for (let number = 1; number <= CLIENTS; number++) {
      const name = `client${number}`
      const user = await newUser(name)
      const home = await newOrganization(user.id, `${name}-home`)
      await insertMembership(tx, shared.id, user.id, LEVELS.admin, now)
      for (let extra = 1; extra <= EXTRA_MEMBERS; extra++) {
        const member = await newUser(`${name}-member${extra}`)
        const { id } = await insertMembership(tx, home.id, member.id, LEVELS.member, now)
        home.members.set(member.uuid, { membership_id: id, level: LEVELS.member })
      }
      const key = newPersonalKey()
      await insertKey(tx, { user_id: user.id }, { label: 'load', scopes: ['*'] }, key, user.id, now)
      participants.push({ name, key: key.value, home })
    }
    return { participants, shared }
  })
}
