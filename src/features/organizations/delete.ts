// Deleting an organization, by its owner or with the account of the only one who belonged to it.
import type { Db } from '../../platform/db/database.ts'
import { invalid } from '../../platform/http/errors.ts'
import type { Services } from '../../platform/services.ts'
import { recordActivity, type Actor } from '../activity-log/record.ts'
import { moveEverybodyAway } from '../members/queries.ts'
import { deleteEventsLater } from '../projects/delete-events.ts'
import { lockProjectsOf } from '../projects/queries.ts'
import {
  deleteOrganization,
  hasPluginUsedElsewhere,
  lockOrganization,
  type OrganizationRow,
} from './queries.ts'

export async function deleteWithEverything(
  services: Services,
  tx: Db,
  actor: Actor,
  organizationId: string,
): Promise<void> {
  const last = await lockOrganization(tx, organizationId, 'deletion')
  if (await hasPluginUsedElsewhere(tx, organizationId)) {
    throw invalid(
      null,
      'invalid_input',
      'Other organizations use a plugin of this one: staff of this server must uninstall it first.',
    )
  }
  await deleteEventsLater(services, tx, await lockProjectsOf(tx, organizationId))
  await moveEverybodyAway(tx, organizationId)
  await deleteOrganization(tx, organizationId)
  await recordActivity(tx, actor, { ...organizationActivity(last), activity: 'deleted' })
}

export function organizationActivity({ id, name }: OrganizationRow) {
  return { organization_id: id, scope: 'Organization' as const, item_id: id, name }
}
