// Changes of an account, told to the organization it works in.
import type { Db } from '../../platform/db/database.ts'
import { recordActivity, type Actor } from '../activity-log/record.ts'
import type { Change } from '../activity-log/schema.ts'
import type { UserRow } from '../users/schema.ts'

type Account = Pick<UserRow, 'uuid' | 'email' | 'current_organization_id'>

export async function recordAccount(
  tx: Db,
  actor: Actor,
  account: Account,
  changes: Change[],
): Promise<void> {
  await recordActivity(tx, actor, {
    organization_id: account.current_organization_id,
    scope: 'User',
    activity: 'updated',
    item_id: account.uuid,
    name: account.email,
    changes,
  })
}
