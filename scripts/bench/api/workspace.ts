// The world the benchmark runs in: one organization with a hundred members, and a key that may do everything.
import { newPersonalKey } from '../../../src/features/api-keys/key-value.ts'
import { insertKey } from '../../../src/features/api-keys/queries.ts'
import { insertMembership } from '../../../src/features/members/queries.ts'
import { createOrganization } from '../../../src/features/organizations/create.ts'
import { insertUser } from '../../../src/features/users/queries.ts'
import type { Database } from '../../../src/platform/db/database.ts'
import { LEVELS } from '../../../src/platform/http/caller.ts'

export const MEMBER_COUNT = 100

export type BenchWorkspace = { organization_id: string; key: string }

export async function makeWorkspace(db: Database): Promise<BenchWorkspace> {
  const now = new Date()
  const key = newPersonalKey()
  return db.transaction(async (tx) => {
    const owner = await insertUser(
      tx,
      { email: 'owner@example.com', first_name: 'Owner', password_hash: null },
      now,
    )
    const actor = { caller: null, request: { ip: '' }, now }
    const { organization } = await createOrganization(tx, actor, owner.id, { name: 'Bench' })
    await insertKey(tx, { user_id: owner.id }, { label: 'bench', scopes: ['*'] }, key, owner.id, now)
    for (let n = 1; n < MEMBER_COUNT; n++) {
      const user = await insertUser(
        tx,
        { email: `member-${n}@example.com`, first_name: `Member ${n}`, password_hash: null },
        now,
      )
      await insertMembership(tx, organization.id, user.id, LEVELS.member, now)
    }
    return { organization_id: organization.id, key: key.value }
  })
}
