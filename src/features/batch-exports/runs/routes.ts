// Runs of an export: look at them, stop one, repeat one. The same calls below both names of a project.
import type { Db } from '../../../platform/db/database.ts'
import { invalid } from '../../../platform/http/errors.ts'
import { readMoment, type Clock } from '../../../platform/http/parameters.ts'
import { ok, route } from '../../../platform/http/route.ts'
import { retryRun } from '../backfills/retry.ts'
import { LOG_MESSAGES, LogStreamQuery } from '../logs/schema.ts'
import { writeLog } from '../logs/write.ts'
import { getExport, lockExport } from '../queries.ts'
import { cursorPage, cursorPaged, readCursor } from './cursor.ts'
import { presentRun, runPresenter } from './present.ts'
import { cancelRun } from './queries.ts'
import { getRun, listRuns, type RunFilter } from './read-queries.ts'
import { runNow } from '../schedule/run-now.ts'
import { recordCancelled, recordRetried, recordRunNow } from './record-actions.ts'
import { BackfillStarted, Cancelled, ORDERINGS, Run, RunQuery, type RunOrdering } from './schema.ts'
import { streamRun } from './stream.ts'

type Base = '/api/projects/:project_id' | '/api/environments/:project_id'

const PAGE_SIZE = 100

export const runRoutes = [
  ...runRoutesBelow('/api/projects/:project_id'),
  ...runRoutesBelow('/api/environments/:project_id'),
]

function runRoutesBelow(base: Base) {
  return [
    route({
      method: 'GET',
      path: `${base}/batch_exports/:batch_export_id/runs/`,
      summary: 'List the runs of an export',
      scope: 'batch_export:read',
      level: 'member',
      item: ({ db, project, params }) => getExport(db, project.id, params.batch_export_id),
      query: RunQuery,
      answers: { 200: cursorPaged(Run) },
      async handle({ db, project, item, query, request, now }) {
        const filter = readFilter(query, { now, timezone: project.timezone })
        const cursor = readCursor(query.cursor)
        const nearest = await listRuns(db, item, filter, cursor, PAGE_SIZE + 1)
        const present = await runPresenter(db, nearest, now)
        return ok(cursorPage(nearest, PAGE_SIZE, cursor, request, present))
      },
    }),

    route({
      method: 'POST',
      path: `${base}/batch_exports/:batch_export_id/runs/`,
      summary: 'Run an export now: deliver what has arrived since its last interval ended',
      scope: 'batch_export:write',
      level: 'member',
      item: ({ db, project, params }) => getExport(db, project.id, params.batch_export_id),
      answers: { 200: Run },
      async handle(context) {
        const { db, item, now } = context
        const run = await db.transaction(async (tx) => {
          const { run, is_made } = await runNow(tx, item, now)
          if (is_made) await recordRunNow(tx, context, item, run)
          return run
        })
        return ok(await presentRun(db, run, now))
      },
    }),

    route({
      method: 'GET',
      path: `${base}/batch_exports/:batch_export_id/runs/:id/`,
      summary: 'One run',
      scope: 'batch_export:read',
      level: 'member',
      item: findRunOfPath,
      answers: { 200: Run },
      handle: async ({ db, item, now }) => ok(await presentRun(db, item.run, now)),
    }),

    route({
      method: 'GET',
      path: `${base}/batch_exports/:batch_export_id/runs/:id/stream/`,
      summary: 'One run and its log, until it has ended',
      scope: 'batch_export:read',
      level: 'member',
      item: findRunOfPath,
      query: LogStreamQuery,
      messages: { run: Run, ...LOG_MESSAGES },
      answers: { 200: null },
      handle: ({ services, item, query, request }) => streamRun(services, item.run, query, request),
    }),

    route({
      method: 'POST',
      path: `${base}/batch_exports/:batch_export_id/runs/:id/retry/`,
      summary: 'Repeat a run, with the rows it had or would have had',
      scope: 'batch_export:write',
      level: 'member',
      item: findRunOfPath,
      answers: { 200: BackfillStarted },
      async handle(context) {
        const { db, project, item, now } = context
        return db.transaction(async (tx) => {
          const row = await lockExport(tx, project.id, item.row.id)
          const started = await retryRun(tx, item.run, now)
          await recordRetried(tx, context, row, { id: started.backfill_id, retry_of: item.run.id })
          return ok(started)
        })
      },
    }),

    route({
      method: 'POST',
      path: `${base}/batch_exports/:batch_export_id/runs/:id/cancel/`,
      summary: 'Stop a run that has not ended',
      scope: 'batch_export:write',
      level: 'member',
      item: findRunOfPath,
      answers: { 200: Cancelled },
      async handle(context) {
        const { db, item, now } = context
        const { row, run } = item
        await db.transaction(async (tx) => {
          if (!(await cancelRun(tx, run, now))) {
            throw invalid(null, 'invalid_input', 'The run has ended, or is just ending.')
          }
          await writeLog(tx, { ...run, run_id: run.id }, 'INFO', 'Cancelled on request.', now)
          await recordCancelled(tx, context, row, 'run', run)
        })
        return ok({ cancelled: true as const })
      },
    }),
  ]
}

async function findRunOfPath(context: {
  db: Db
  project: { id: number }
  params: { batch_export_id: string; id: string }
}) {
  const { db, project, params } = context
  const row = await getExport(db, project.id, params.batch_export_id)
  return { row, run: await getRun(db, row, params.id) }
}

/** Older runs are left out unless asked for. */
function readFilter(query: RunQuery, clock: Clock): RunFilter {
  const isKnown = (text: string): text is RunOrdering => ORDERINGS.some((known) => known === text)
  const ordering = query.ordering !== undefined && isKnown(query.ordering) ? query.ordering : '-created_at'
  const by = ordering.endsWith('created_at') ? 'created_at' : 'data_interval_start'
  const [from, to] = by === 'created_at' ? (['after', 'before'] as const) : (['start', 'end'] as const)
  return {
    by,
    is_newest_first: ordering.startsWith('-'),
    from: readMoment(from, query[from] ?? '-7d', clock)!,
    to: readMoment(to, query[to], clock) ?? clock.now.toISOString(),
    status: query.status ?? null,
  }
}
