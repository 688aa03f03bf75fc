// A new organization is never empty: its owner and first project come with it. Sign-up, first start and the API call this.
import type { Db } from '../../platform/db/database.ts'
import { LEVELS } from '../../platform/http/caller.ts'
import { recordActivity, type Actor } from '../activity-log/record.ts'
import { addMember } from '../members/join.ts'
import { createProject } from '../projects/create.ts'
import type { ProjectRow } from '../projects/schema.ts'
import { getUser } from '../users/queries.ts'
import { insertOrganization, type OrganizationRow } from './queries.ts'
import type { OrganizationFields } from './schema.ts'

export async function createOrganization(
  tx: Db,
  actor: Actor,
  ownerId: number,
  fields: OrganizationFields & { name: string },
): Promise<{ organization: OrganizationRow; project: ProjectRow }> {
  const organization = await insertOrganization(tx, fields, actor.now)
  await recordActivity(tx, actor, {
    organization_id: organization.id,
    scope: 'Organization',
    activity: 'created',
    item_id: organization.id,
    name: organization.name,
  })
  await addMember(tx, actor, organization.id, await getUser(tx, ownerId), LEVELS.owner)
  const project = await createProject(tx, actor, organization.id, ownerId, {})
  return { organization, project }
}
