// Definitions of a project's events: the stream makes them, people describe, verify, hide and remove them.
import type { Db } from '../../platform/db/database.ts'
import { notFound } from '../../platform/http/errors.ts'
import { paged } from '../../platform/http/paging.ts'
import { noContent, ok, route } from '../../platform/http/route.ts'
import { changesBetween, recordActivity } from '../activity-log/record.ts'
import { refreshCounts } from './count.ts'
import { eventConditions, eventOrder } from './filters.ts'
import { presentEventDefinition, usersOf } from './present.ts'
import {
  countEventDefinitions,
  deleteEventDefinition,
  findEventDefinition,
  findEventDefinitionByName,
  listEventDefinitions,
  lockEventDefinition,
  updateEventDefinition,
} from './queries.ts'
import { changedFields } from './rules.ts'
import {
  EventDefinition,
  EventDefinitionQuery,
  EventDefinitionUpdate,
  EventNameQuery,
  type EventDefinitionRow,
} from './schema.ts'

type Base = '/api/projects/:project_id' | '/api/environments/:project_id'

const FIELDS = ['description', 'tags', 'hidden', 'verified'] as const

export const eventDefinitionRoutes = [
  ...eventDefinitionRoutesAt('/api/projects/:project_id'),
  ...eventDefinitionRoutesAt('/api/environments/:project_id'),
]

function eventDefinitionRoutesAt(base: Base) {
  return [
    route({
      method: 'GET',
      path: `${base}/event_definitions/`,
      summary: 'List the events that a project has, with how often and when they came',
      scope: 'event_definition:read',
      level: 'member',
      query: EventDefinitionQuery,
      answers: { 200: paged(EventDefinition) },
      async handle({ services, db, project, query, page, paged, now }) {
        await refreshCounts(services, project)
        const where = eventConditions(project.id, query, now)
        const rows = await listEventDefinitions(db, where, eventOrder(query), page)
        const users = await usersOf(db, rows)
        const count = await countEventDefinitions(db, where)
        return ok(
          paged(
            count,
            rows.map((row) => presentEventDefinition(row, users)),
          ),
        )
      },
    }),

    route({
      method: 'GET',
      path: `${base}/event_definitions/by_name/`,
      summary: 'One event by its exact name',
      scope: 'event_definition:read',
      level: 'member',
      query: EventNameQuery,
      answers: { 200: EventDefinition },
      async handle({ services, db, project, query }) {
        await refreshCounts(services, project)
        const row = await findEventDefinitionByName(db, project.id, query.name)
        if (!row) throw notFound()
        return ok(await presented(db, row))
      },
    }),

    route({
      method: 'GET',
      path: `${base}/event_definitions/:id/`,
      summary: 'One event',
      scope: 'event_definition:read',
      level: 'member',
      item: ({ db, project, params }) => getEventDefinition(db, project.id, params.id),
      answers: { 200: EventDefinition },
      async handle({ services, db, project, params }) {
        await refreshCounts(services, project)
        return ok(await presented(db, await getEventDefinition(db, project.id, params.id)))
      },
    }),

    route({
      method: 'PATCH',
      path: `${base}/event_definitions/:id/`,
      summary: 'Describe, tag, verify or hide an event',
      scope: 'event_definition:write',
      level: 'member',
      item: ({ db, project, params }) => getEventDefinition(db, project.id, params.id),
      body: EventDefinitionUpdate,
      examples: { 'Describe and verify': { description: 'Somebody paid.', tags: ['shop'], verified: true } },
      answers: { 200: EventDefinition },
      async handle(context) {
        const { db, project, item, body, caller, now } = context
        const row = await db.transaction(async (tx) => {
          const before = await lockEventDefinition(tx, project.id, item.id)
          const fields = changedFields(before, body, caller.user?.id ?? null, now)
          if (Object.keys(fields).length === 0) return before
          const after = await updateEventDefinition(tx, project.id, item.id, fields)
          const changes = changesBetween('EventDefinition', before, fields, FIELDS)
          await recordActivity(tx, context, { ...activityOf(project, after), activity: 'updated', changes })
          return after
        })
        return ok(await presented(db, row))
      },
    }),

    route({
      method: 'DELETE',
      path: `${base}/event_definitions/:id/`,
      summary:
        'Remove an event from the catalogue; stored events stay, and the next such event brings it back',
      scope: 'event_definition:write',
      level: 'member',
      item: ({ db, project, params }) => getEventDefinition(db, project.id, params.id),
      answers: { 204: null },
      async handle(context) {
        const { services, db, project, item } = context
        // Events that are not counted yet would bring it back.
        await refreshCounts(services, project, { at_once: true })
        await db.transaction(async (tx) => {
          const row = await deleteEventDefinition(tx, project.id, item.id)
          await recordActivity(tx, context, { ...activityOf(project, row), activity: 'deleted' })
          await services.changes.tell(tx, 'definitions', project.id, project.id)
        })
        return noContent()
      },
    }),
  ]
}

async function getEventDefinition(db: Db, projectId: number, id: string): Promise<EventDefinitionRow> {
  const row = await findEventDefinition(db, projectId, id)
  if (!row) throw notFound()
  return row
}

async function presented(db: Db, row: EventDefinitionRow) {
  return presentEventDefinition(row, await usersOf(db, [row]))
}

function activityOf(project: { id: number; organization_id: string }, { id, name }: EventDefinitionRow) {
  return {
    organization_id: project.organization_id,
    project_id: project.id,
    scope: 'EventDefinition' as const,
    item_id: id,
    name,
  }
}
