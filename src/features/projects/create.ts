// A new project: the row, who stands in it from now on, and the entry in the activity log. Organizations begin with one.
import type { Db } from '../../platform/db/database.ts'
import { recordActivity, type Actor } from '../activity-log/record.ts'
import { setCurrent } from '../users/queries.ts'
import { insertProject } from './queries.ts'
import type { ProjectFields, ProjectRow } from './schema.ts'

/** It becomes the current project of the user who makes it; a service key is nobody and has none. */
export async function createProject(
  tx: Db,
  actor: Actor,
  organizationId: string,
  userId: number | null,
  fields: ProjectFields,
): Promise<ProjectRow> {
  const project = await insertProject(tx, organizationId, fields, actor.now)
  if (userId !== null) await setCurrent(tx, userId, organizationId, project.id)
  await recordActivity(tx, actor, { ...projectActivity(project), activity: 'created' })
  return project
}

export function projectActivity(project: Pick<ProjectRow, 'id' | 'organization_id' | 'name'>) {
  return {
    organization_id: project.organization_id,
    project_id: project.id,
    scope: 'Project' as const,
    item_id: String(project.id),
    name: project.name,
  }
}
