// Batch exports: the same calls below both names of a project, and below its organization for all of its projects.
import { EXPORT_EXAMPLES, RANGE_EXAMPLES } from './examples.ts'
import type { Db } from '../../platform/db/database.ts'
import type { OrganizationInReach, ProjectInReach } from '../../platform/http/access.ts'
import type { Caller, Level } from '../../platform/http/caller.ts'
import { invalid } from '../../platform/http/errors.ts'
import { int } from '../../platform/http/fields.ts'
import { paged, PageQuery } from '../../platform/http/paging.ts'
import { created, noContent, ok, route } from '../../platform/http/route.ts'
import { isReachable } from '../projects/access.ts'
import { findCurrentProjectId } from '../projects/current.ts'
import { findFirstProject, findShownProject } from '../projects/queries.ts'
import { changeExport, replaceExport, type Addressed } from './change.ts'
import { createExport } from './create.ts'
import { withFreshness } from './freshness/present.ts'
import { presentExports, presentWithRuns } from './present.ts'
import { countExports, getExport, getProjectOfExport, listExports, type ExportOwner } from './queries.ts'
import {
  BackfillRequest,
  BatchExport,
  BatchExportWithBackfill,
  ExportCreate,
  ExportReplace,
  ExportUpdate,
  UnpauseRequest,
} from './schema.ts'
import { backfillExport, deleteExport, repairExport, resumeExport, type ActionResult } from './actions.ts'

type Base =
  | '/api/projects/:project_id'
  | '/api/environments/:project_id'
  | '/api/organizations/:organization_id'

export const batchExportRoutes = [
  ...exportRoutesBelow('/api/projects/:project_id'),
  ...exportRoutesBelow('/api/environments/:project_id'),
  ...exportRoutesBelow('/api/organizations/:organization_id'),
]

function exportRoutesBelow(base: Base) {
  return [
    route({
      method: 'GET',
      path: `${base}/batch_exports/`,
      summary: 'List batch exports, newest first',
      scope: 'batch_export:read',
      level: 'member',
      query: PageQuery,
      answers: { 200: paged(BatchExport) },
      async handle(context) {
        const { db, page, paged, now } = context
        const owner = ownerIn(context)
        const rows = await listExports(db, owner, page)
        const shown = await withFreshness(context, rows, await presentExports(db, rows, now))
        return ok(paged(await countExports(db, owner), shown))
      },
    }),

    route({
      method: 'POST',
      path: `${base}/batch_exports/`,
      summary: 'Create a batch export',
      scope: 'batch_export:write',
      level: 'member',
      body: ExportCreate,
      examples: EXPORT_EXAMPLES,
      answers: { 201: BatchExport },
      async handle(context) {
        const { db, body, now } = context
        const row = await createExport(context, await projectFor(context, body), body)
        return created(await presentWithRuns(db, row, now))
      },
    }),

    route({
      method: 'GET',
      path: `${base}/batch_exports/:id/`,
      summary: 'One batch export',
      scope: 'batch_export:read',
      level: 'member',
      item: getAddressed,
      answers: { 200: BatchExport },
      async handle(context) {
        const { db, item, now } = context
        const shown = [await presentWithRuns(db, item.row, now)]
        return ok((await withFreshness(context, [item.row], shown))[0]!)
      },
    }),

    route({
      method: 'PATCH',
      path: `${base}/batch_exports/:id/`,
      summary: 'Change a batch export; the configuration is merged into the stored one',
      scope: 'batch_export:write',
      level: 'member',
      item: getAddressed,
      body: ExportUpdate,
      examples: { 'Export every day': { interval: 'day', offset_hour: 3, timezone: 'Europe/Berlin' } },
      answers: { 200: BatchExport },
      async handle(context) {
        const { db, item, body, now } = context
        return ok(await presentWithRuns(db, await changeExport(context, item, body), now))
      },
    }),

    route({
      method: 'PUT',
      path: `${base}/batch_exports/:id/`,
      summary: 'Replace a batch export; every required field must be sent',
      scope: 'batch_export:write',
      level: 'member',
      item: getAddressed,
      body: ExportReplace,
      examples: EXPORT_EXAMPLES,
      answers: { 200: BatchExport },
      async handle(context) {
        const { db, item, body, now } = context
        return ok(await presentWithRuns(db, await replaceExport(context, item, body), now))
      },
    }),

    route({
      method: 'DELETE',
      path: `${base}/batch_exports/:id/`,
      summary: 'Delete a batch export, ending its backfills and runs',
      scope: 'batch_export:write',
      level: 'member',
      item: getAddressed,
      answers: { 204: null },
      async handle(context) {
        await deleteExport(context, context.item)
        return noContent()
      },
    }),

    route({
      method: 'POST',
      path: `${base}/batch_exports/:id/pause/`,
      summary: 'Pause the schedule: no more runs start by it',
      scope: 'batch_export:write',
      level: 'member',
      item: getAddressed,
      answers: { 200: BatchExport },
      async handle(context) {
        const { db, item, now } = context
        return ok(await presentWithRuns(db, await changeExport(context, item, { paused: true }), now))
      },
    }),

    route({
      method: 'POST',
      path: `${base}/batch_exports/:id/unpause/`,
      summary: 'Resume the schedule',
      scope: 'batch_export:write',
      level: 'member',
      item: getAddressed,
      body: UnpauseRequest,
      examples: { 'Export what was missed as well': { backfill: true } },
      answers: { 200: BatchExportWithBackfill },
      async handle(context) {
        const { db, item, body, now } = context
        return ok(await presentResult(db, await resumeExport(context, item, body), now))
      },
    }),

    route({
      method: 'POST',
      path: `${base}/batch_exports/:id/backfill/`,
      summary: 'Deliver the events of a time range that the export has not delivered yet',
      scope: 'batch_export:write',
      level: 'member',
      item: getAddressed,
      body: BackfillRequest,
      examples: RANGE_EXAMPLES,
      answers: { 200: BatchExportWithBackfill },
      async handle(context) {
        const { db, item, body, now } = context
        return ok(await presentResult(db, await backfillExport(context, item, body), now))
      },
    }),

    route({
      method: 'POST',
      path: `${base}/batch_exports/:id/repair/`,
      summary: 'Deliver the events of a time range again, with the same file names and keys',
      scope: 'batch_export:write',
      level: 'member',
      item: getAddressed,
      body: BackfillRequest,
      examples: RANGE_EXAMPLES,
      answers: { 200: BatchExportWithBackfill },
      async handle(context) {
        const { db, item, body, now } = context
        return ok(await presentResult(db, await repairExport(context, item, body), now))
      },
    }),
  ]
}

/** A path names the project or, one level up, the organization. */
type InPath = {
  db: Db
  caller: Caller
  level?: Level
  project?: ProjectInReach
  organization?: OrganizationInReach
}

function ownerIn({ caller, level, project, organization }: InPath): ExportOwner {
  if (project) return { project_id: project.id }
  return { organization_id: organization!.id, reachable: isReachable(caller, level) }
}

async function getAddressed(context: InPath & { params: { id: string } }): Promise<Addressed> {
  const { db, caller, level, organization, params } = context
  const reachable = isReachable(caller, level)
  const project = context.project ?? (await getProjectOfExport(db, organization!.id, reachable, params.id))
  return { project, row: await getExport(db, project.id, params.id) }
}

/** Below an organization: the project that is asked for, else the caller's current one, else the oldest. */
async function projectFor(
  { db, caller, level, project, organization }: InPath,
  body: ExportCreate,
): Promise<ProjectInReach> {
  if (project) return project
  const { id } = organization!
  const asked = body.team_id ?? body.project_id ?? null
  const wanted = asked === null ? await findCurrentProjectId(db, caller) : int().safeParse(asked).data
  const reachable = isReachable(caller, level)
  const found = typeof wanted === 'number' ? await findShownProject(db, id, wanted, reachable) : undefined
  if (!found && asked !== null) {
    throw invalid('team_id', 'does_not_exist', 'The organization has no such project.')
  }
  const chosen = found ?? (await findFirstProject(db, id, reachable))
  if (!chosen) throw invalid(null, 'invalid_input', 'The organization has no project to export from.')
  return chosen
}

async function presentResult(db: Db, { row, backfill_id }: ActionResult, now: Date) {
  return { ...(await presentWithRuns(db, row, now)), ...(backfill_id === undefined ? {} : { backfill_id }) }
}
