// Joining an organization: the membership and its entry in the activity log, always together.
import type { Db } from '../../platform/db/database.ts'
import type { Level } from '../../platform/http/caller.ts'
import { recordActivity, type Actor } from '../activity-log/record.ts'
import { insertMembership } from './queries.ts'
import type { MembershipRow } from './schema.ts'

type Joining = { id: number; email: string }

export async function addMember(
  tx: Db,
  actor: Actor,
  organizationId: string,
  user: Joining,
  level: Level,
): Promise<MembershipRow> {
  const membership = await insertMembership(tx, organizationId, user.id, level, actor.now)
  await recordActivity(tx, actor, {
    ...membershipActivity({ ...membership, email: user.email }),
    activity: 'created',
    changes: [
      { type: 'OrganizationMembership', action: 'created', field: 'level', before: null, after: level },
    ],
  })
  return membership
}

export function membershipActivity(member: MembershipRow & { email: string }) {
  return {
    organization_id: member.organization_id,
    scope: 'OrganizationMembership' as const,
    item_id: member.id,
    name: member.email,
  }
}
