// Backfills of an export: look at them, ask for one, stop one. The same calls below both names of a project.
import { RANGE_EXAMPLES } from '../examples.ts'
import type { Db } from '../../../platform/db/database.ts'
import { created, ok, route } from '../../../platform/http/route.ts'
import { getExport } from '../queries.ts'
import { cursorPage, cursorPaged, readCursor } from '../runs/cursor.ts'
import { recordCancelled } from '../runs/record-actions.ts'
import { BackfillStarted, Cancelled } from '../runs/schema.ts'
import { BackfillRequest } from '../schema.ts'
import { backfillExport } from '../actions.ts'
import { cancelBackfill } from './cancel.ts'
import { estimateBackfill } from './estimate.ts'
import { presentBackfill, presentEstimate } from './present.ts'
import { readBackfillRange } from './range.ts'
import { getBackfill, listBackfills, type BackfillOrder } from './read-queries.ts'
import {
  Backfill,
  BACKFILL_ORDERINGS,
  BackfillEstimate,
  BackfillQuery,
  type BackfillOrdering,
} from './schema.ts'

type Base = '/api/projects/:project_id' | '/api/environments/:project_id'

const PAGE_SIZE = 50

export const backfillRoutes = [
  ...backfillRoutesBelow('/api/projects/:project_id'),
  ...backfillRoutesBelow('/api/environments/:project_id'),
]

function backfillRoutesBelow(base: Base) {
  return [
    route({
      method: 'GET',
      path: `${base}/batch_exports/:batch_export_id/backfills/`,
      summary: 'List the backfills of an export',
      scope: 'batch_export:read',
      level: 'member',
      item: ({ db, project, params }) => getExport(db, project.id, params.batch_export_id),
      query: BackfillQuery,
      answers: { 200: cursorPaged(Backfill) },
      async handle({ db, item, query, request }) {
        const cursor = readCursor(query.cursor)
        const nearest = await listBackfills(db, item, readOrder(query.ordering), cursor, PAGE_SIZE + 1)
        return ok(cursorPage(nearest, PAGE_SIZE, cursor, request, presentBackfill))
      },
    }),

    route({
      method: 'POST',
      path: `${base}/batch_exports/:batch_export_id/backfills/`,
      summary: 'Deliver the events of a time range that the export has not delivered yet',
      scope: 'batch_export:write',
      level: 'member',
      item: ({ db, project, params }) => getExport(db, project.id, params.batch_export_id),
      body: BackfillRequest,
      examples: RANGE_EXAMPLES,
      answers: { 201: BackfillStarted },
      async handle(context) {
        const { project, item, body } = context
        const { backfill_id } = await backfillExport(context, { project, row: item }, body)
        return created({ backfill_id: backfill_id! })
      },
    }),

    route({
      method: 'POST',
      path: `${base}/batch_exports/:batch_export_id/backfills/estimate/`,
      summary: 'What a backfill would deliver, without starting it',
      scope: 'batch_export:read',
      level: 'member',
      item: ({ db, project, params }) => getExport(db, project.id, params.batch_export_id),
      body: BackfillRequest,
      examples: RANGE_EXAMPLES,
      answers: { 200: BackfillEstimate },
      async handle({ services, item, body, now }) {
        const range = readBackfillRange(body, item, now)
        const estimate = await estimateBackfill(services, item, range, now)
        return ok(presentEstimate(item, range, estimate, now))
      },
    }),

    route({
      method: 'GET',
      path: `${base}/batch_exports/:batch_export_id/backfills/:id/`,
      summary: 'One backfill, and how far it has come',
      scope: 'batch_export:read',
      level: 'member',
      item: findBackfillOfPath,
      answers: { 200: Backfill },
      handle: async ({ item }) => ok(presentBackfill(item.backfill)),
    }),

    route({
      method: 'POST',
      path: `${base}/batch_exports/:batch_export_id/backfills/:id/cancel/`,
      summary: 'Stop a backfill and its runs',
      scope: 'batch_export:write',
      level: 'member',
      item: findBackfillOfPath,
      answers: { 200: Cancelled },
      async handle(context) {
        const { db, item, now } = context
        await db.transaction(async (tx) => {
          await cancelBackfill(tx, item.backfill, now)
          await recordCancelled(tx, context, item.row, 'backfill', item.backfill)
        })
        return ok({ cancelled: true as const })
      },
    }),
  ]
}

async function findBackfillOfPath(context: {
  db: Db
  project: { id: number }
  params: { batch_export_id: string; id: string }
}) {
  const { db, project, params } = context
  const row = await getExport(db, project.id, params.batch_export_id)
  return { row, backfill: await getBackfill(db, row, params.id) }
}

function readOrder(text: string | undefined): BackfillOrder {
  const isKnown = (name: string): name is BackfillOrdering =>
    BACKFILL_ORDERINGS.some((known) => known === name)
  const ordering = text !== undefined && isKnown(text) ? text : '-created_at'
  const by = ordering.endsWith('created_at') ? 'created_at' : 'start_at'
  return { by, is_newest_first: ordering.startsWith('-') }
}
