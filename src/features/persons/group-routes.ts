// The types of groups that a project has. Events make them; queries and filters name them by their index.
import { z } from 'zod'
import { ok, route } from '../../platform/http/route.ts'
import { readGroupTypes } from './flush-queries.ts'

const GroupType = z
  .object({
    group_type: z.string().describe('The name that events give with `$groups` and `$group_type`.'),
    group_type_index: z
      .int()
      .describe('0 to 4: the column `$group_0` of events holds the key of its first type.'),
    name_singular: z.null(),
    name_plural: z.null(),
  })
  .meta({ id: 'GroupType' })

export const groupRoutes = [
  groupTypesRoute('/api/projects/:project_id'),
  groupTypesRoute('/api/environments/:project_id'),
]

function groupTypesRoute(base: '/api/projects/:project_id' | '/api/environments/:project_id') {
  return route({
    method: 'GET',
    path: `${base}/groups_types/`,
    summary: 'The types of groups of a project, five at most',
    scope: ['group:read', 'query:read'],
    level: 'member',
    answers: { 200: z.array(GroupType) },
    async handle({ db, project }) {
      const types = await readGroupTypes(db, [project.id])
      return ok(
        types.map(({ name, index }) => ({
          group_type: name,
          group_type_index: index,
          name_singular: null,
          name_plural: null,
        })),
      )
    },
  })
}
