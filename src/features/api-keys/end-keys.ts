// Ending all personal keys of somebody: by their own wish with a new password, or because their account was taken back.
import type { Db } from '../../platform/db/database.ts'
import type { Actor } from '../activity-log/record.ts'
import { recordKeyDeleted } from './key-activity.ts'
import { deleteKeysOfUser } from './queries.ts'

export async function deletePersonalKeys(tx: Db, actor: Actor, userId: number): Promise<void> {
  for (const row of await deleteKeysOfUser(tx, userId)) await recordKeyDeleted(tx, actor, row)
}
