// Definitions of the properties of a project's events, persons and groups.
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import { notFound } from '../../platform/http/errors.ts'
import { paged } from '../../platform/http/paging.ts'
import { noContent, ok, route } from '../../platform/http/route.ts'
import { z } from 'zod'
import { changesBetween, recordActivity } from '../activity-log/record.ts'
import { refreshCounts } from './count.ts'
import { isSeenOn, propertyConditions } from './filters.ts'
import { presentPropertyDefinition, usersOf } from './present.ts'
import {
  countPropertyDefinitions,
  deletePropertyDefinition,
  eventsWithProperty,
  findPropertyDefinition,
  forgetProperty,
  listPropertyDefinitions,
  lockPropertyDefinition,
  updatePropertyDefinition,
} from './queries.ts'
import { changedFields } from './rules.ts'
import {
  PropertyDefinition,
  PropertyDefinitionQuery,
  PropertyDefinitionUpdate,
  SeenTogetherQuery,
  type PropertyDefinitionRow,
} from './schema.ts'

type Base = '/api/projects/:project_id' | '/api/environments/:project_id'

const FIELDS = ['description', 'tags', 'hidden', 'verified', 'property_type'] as const

export const propertyDefinitionRoutes = [
  ...propertyDefinitionRoutesAt('/api/projects/:project_id'),
  ...propertyDefinitionRoutesAt('/api/environments/:project_id'),
]

function propertyDefinitionRoutesAt(base: Base) {
  return [
    route({
      method: 'GET',
      path: `${base}/property_definitions/`,
      summary: 'List the properties that events, persons or groups of a project have, with their types',
      scope: 'property_definition:read',
      level: 'member',
      query: PropertyDefinitionQuery,
      answers: { 200: paged(PropertyDefinition) },
      async handle({ services, db, project, query, page, paged }) {
        const where = propertyConditions(project.id, query)
        await refreshCounts(services, project)
        const { event_names } = query
        const isSeen =
          event_names && event_names.length > 0 ? isSeenOn(project.id, event_names) : sql`NULL::boolean`
        const rows = await listPropertyDefinitions(db, where, isSeen, page)
        const users = await usersOf(db, rows)
        const count = await countPropertyDefinitions(db, where)
        return ok(
          paged(
            count,
            rows.map((row) => presentPropertyDefinition(row, users)),
          ),
        )
      },
    }),

    route({
      method: 'GET',
      path: `${base}/property_definitions/seen_together/`,
      summary: 'Which of these events have had a property',
      scope: 'property_definition:read',
      level: 'member',
      query: SeenTogetherQuery,
      answers: { 200: z.record(z.string(), z.boolean()) },
      async handle({ db, project, query: { event_names, property_name } }) {
        const having = await eventsWithProperty(db, project.id, event_names, property_name)
        return ok(Object.fromEntries(event_names.map((name) => [name, having.has(name)])))
      },
    }),

    route({
      method: 'GET',
      path: `${base}/property_definitions/:id/`,
      summary: 'One property',
      scope: 'property_definition:read',
      level: 'member',
      item: ({ db, project, params }) => getPropertyDefinition(db, project.id, params.id),
      answers: { 200: PropertyDefinition },
      handle: async ({ db, item }) => ok(await presented(db, item)),
    }),

    route({
      method: 'PATCH',
      path: `${base}/property_definitions/:id/`,
      summary: 'Describe, tag, verify or hide a property, or say its type',
      scope: 'property_definition:write',
      level: 'member',
      item: ({ db, project, params }) => getPropertyDefinition(db, project.id, params.id),
      body: PropertyDefinitionUpdate,
      examples: { 'Describe and set the type': { description: 'In euros.', property_type: 'Numeric' } },
      answers: { 200: PropertyDefinition },
      async handle(context) {
        const { db, project, item, body, caller, now } = context
        const row = await db.transaction(async (tx) => {
          const before = await lockPropertyDefinition(tx, project.id, item.id)
          const fields = changedFields(before, body, caller.user?.id ?? null, now)
          if (Object.keys(fields).length === 0) return before
          const after = await updatePropertyDefinition(tx, project.id, item.id, fields)
          const changes = changesBetween('PropertyDefinition', before, fields, FIELDS)
          await recordActivity(tx, context, { ...activityOf(project, after), activity: 'updated', changes })
          return after
        })
        return ok(await presented(db, row))
      },
    }),

    route({
      method: 'DELETE',
      path: `${base}/property_definitions/:id/`,
      summary: 'Remove a property from the catalogue; stored values stay, and the next one brings it back',
      scope: 'property_definition:write',
      level: 'member',
      item: ({ db, project, params }) => getPropertyDefinition(db, project.id, params.id),
      answers: { 204: null },
      async handle(context) {
        const { services, db, project, item } = context
        // Events that are not looked at yet would bring it back.
        await refreshCounts(services, project, { at_once: true })
        await db.transaction(async (tx) => {
          const row = await deletePropertyDefinition(tx, project.id, item.id)
          if (row.type === 'event') await forgetProperty(tx, project.id, row.name)
          await recordActivity(tx, context, { ...activityOf(project, row), activity: 'deleted' })
          await services.changes.tell(tx, 'definitions', project.id, project.id)
        })
        return noContent()
      },
    }),
  ]
}

async function getPropertyDefinition(db: Db, projectId: number, id: string): Promise<PropertyDefinitionRow> {
  const row = await findPropertyDefinition(db, projectId, id)
  if (!row) throw notFound()
  return row
}

async function presented(db: Db, row: PropertyDefinitionRow) {
  return presentPropertyDefinition(row, await usersOf(db, [row]))
}

function activityOf(project: { id: number; organization_id: string }, { id, name }: PropertyDefinitionRow) {
  return {
    organization_id: project.organization_id,
    project_id: project.id,
    scope: 'PropertyDefinition' as const,
    item_id: id,
    name,
  }
}
