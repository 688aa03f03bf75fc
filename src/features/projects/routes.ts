// Projects: the same calls below an organization's path and, for the current organization, on their own. PostHog also
// calls a project an environment, so each of its paths has a second name.
import type { Db } from '../../platform/db/database.ts'
import { LEVELS } from '../../platform/http/caller.ts'
import { denied, notFound } from '../../platform/http/errors.ts'
import { paged, PageQuery } from '../../platform/http/paging.ts'
import { created, noContent, ok, route } from '../../platform/http/route.ts'
import { ActivityPage, ActivityPageQuery, readActivityPage } from '../activity-log/activity-page.ts'
import { changesBetween, recordActivity, type Actor } from '../activity-log/record.ts'
import { isReachable } from './access.ts'
import { createProject, projectActivity } from './create.ts'
import { findCurrentMembership } from './current.ts'
import { deleteEventsLater } from './delete-events.ts'
import { presentBasicProject, presentProject } from './present.ts'
import {
  countProjects,
  deleteProject,
  findShownProject,
  listProjects,
  lockProject,
  replaceProjectToken,
  updateProject,
} from './queries.ts'
import {
  BasicProject,
  Project,
  ProjectCreate,
  ProjectUpdate,
  type ProjectFields,
  type ShownProjectRow,
} from './schema.ts'

const WRITABLE_FIELDS = [
  'name',
  'timezone',
  'app_urls',
  'anonymize_ips',
  'autocapture_exceptions_opt_in',
  'autocapture_web_vitals_opt_in',
  'heatmaps_opt_in',
  'session_recording_opt_in',
  'surveys_opt_in',
  'cookieless_server_hash_mode',
  'recording_domains',
  'is_demo',
  'completed_snippet_onboarding',
] as const

export const projectRoutes = [
  ...currentOrganizationRoutes('/api/projects/'),
  ...currentOrganizationRoutes('/api/environments/'),

  route({
    method: 'GET',
    path: '/api/organizations/:organization_id/projects/',
    summary: 'List the projects of an organization',
    scope: 'project:read',
    level: 'member',
    query: PageQuery,
    answers: { 200: paged(BasicProject) },
    async handle({ db, caller, organization, level, page, paged }) {
      const reachable = isReachable(caller, level)
      const rows = await listProjects(db, organization.id, reachable, page)
      return ok(paged(await countProjects(db, organization.id, reachable), rows.map(presentBasicProject)))
    },
  }),

  route({
    method: 'POST',
    path: '/api/organizations/:organization_id/projects/',
    summary: 'Create a project in an organization',
    scope: 'project:write',
    level: 'admin',
    body: ProjectCreate,
    examples: { 'A project': { name: 'Web shop', timezone: 'Europe/Berlin' } },
    answers: { 201: Project },
    async handle(context) {
      const { db, caller, organization, level, body } = context
      const userId = caller.user?.id ?? null
      const row = await db.transaction((tx) => createProject(tx, context, organization.id, userId, body))
      return created(presentProject({ ...row, is_private: false }, level))
    },
  }),

  ...singleProjectRoutes('/api/projects/:id/'),
  ...singleProjectRoutes('/api/environments/:id/'),
  ...singleProjectRoutes('/api/organizations/:organization_id/projects/:id/'),
]

function currentOrganizationRoutes<Path extends '/api/projects/' | '/api/environments/'>(path: Path) {
  return [
    route({
      method: 'GET',
      path,
      summary: 'List the projects of the current organization',
      scope: 'project:read',
      query: PageQuery,
      answers: { 200: paged(BasicProject) },
      async handle({ db, caller, page, paged }) {
        const current = await findCurrentMembership(db, caller)
        if (!current) return ok(paged(0, []))
        const reachable = isReachable(caller, current.level)
        const rows = await listProjects(db, current.organization_id, reachable, page)
        const count = await countProjects(db, current.organization_id, reachable)
        return ok(paged(count, rows.map(presentBasicProject)))
      },
    }),

    route({
      method: 'POST',
      path,
      summary: 'Create a project in the current organization',
      scope: 'project:write',
      item: async ({ db, caller }) => {
        const current = await findCurrentMembership(db, caller)
        if (!current) throw notFound()
        if (current.level < LEVELS.admin) throw denied('This requires the level admin in the organization.')
        return current
      },
      body: ProjectCreate,
      examples: { 'A project': { name: 'Web shop', timezone: 'Europe/Berlin' } },
      answers: { 201: Project },
      async handle(context) {
        const { db, caller, item, body } = context
        const userId = caller.user?.id ?? null
        const row = await db.transaction((tx) =>
          createProject(tx, context, item.organization_id, userId, body),
        )
        return created(presentProject({ ...row, is_private: false }, item.level))
      },
    }),
  ]
}

function singleProjectRoutes<
  Path extends
    | '/api/projects/:id/'
    | '/api/environments/:id/'
    | '/api/organizations/:organization_id/projects/:id/',
>(path: Path) {
  return [
    route({
      method: 'GET',
      path,
      summary: 'One project',
      scope: 'project:read',
      subject: 'project',
      level: 'member',
      answers: { 200: Project },
      async handle({ db, project, level }) {
        return ok(presentProject(await getProject(db, project), level))
      },
    }),

    route({
      method: 'PATCH',
      path,
      summary: 'Change a project',
      scope: 'project:write',
      subject: 'project',
      level: 'member',
      body: ProjectUpdate,
      examples: { Rename: { name: 'Web shop (live)' }, 'Change the time zone': { timezone: 'Asia/Tokyo' } },
      answers: { 200: Project },
      async handle(context) {
        const { db, project, level, body } = context
        await changeProject(db, context, project, body)
        return ok(presentProject(await getProject(db, project), level))
      },
    }),

    route({
      method: 'DELETE',
      path,
      summary: 'Delete a project with everything in it',
      scope: 'project:write',
      subject: 'project',
      level: 'admin',
      needs_recent_sign_in: true,
      answers: { 204: null },
      async handle(context) {
        const { db, services, project } = context
        await db.transaction(async (tx) => {
          const deleted = await deleteProject(tx, project.organization_id, project.id)
          await deleteEventsLater(services, tx, [deleted])
          await recordActivity(tx, context, { ...projectActivity(deleted), activity: 'deleted' })
        })
        return noContent()
      },
    }),

    route({
      method: 'PATCH',
      path: `${path}reset_token/`,
      summary: "Replace the project's token",
      scope: 'project:write',
      subject: 'project',
      level: 'admin',
      answers: { 200: Project },
      async handle(context) {
        const { db, project, level, now } = context
        await db.transaction(async (tx) => {
          const replaced = await replaceProjectToken(tx, project.organization_id, project.id, now)
          await recordActivity(tx, context, { ...projectActivity(replaced), activity: 'rolled' })
        })
        return ok(presentProject(await getProject(db, project), level))
      },
    }),

    route({
      method: 'GET',
      path: `${path}activity/`,
      summary: 'What was changed in the project itself, newest first; `activity_log/` has what is in it too',
      scope: 'activity_log:read',
      subject: 'project',
      level: 'member',
      query: ActivityPageQuery,
      answers: { 200: ActivityPage },
      async handle({ db, project, query, request }) {
        const owner = { organization_id: project.organization_id }
        const filter = { scope: 'Project', item_id: String(project.id) }
        return ok(await readActivityPage(db, owner, filter, query, request))
      },
    }),
  ]
}

type ProjectRef = { id: number; organization_id: string }

async function getProject(db: Db, project: ProjectRef): Promise<ShownProjectRow> {
  const row = await findShownProject(db, project.organization_id, project.id)
  if (!row) throw notFound()
  return row
}

async function changeProject(
  db: Db,
  actor: Actor,
  project: ProjectRef,
  fields: ProjectFields,
): Promise<void> {
  await db.transaction(async (tx) => {
    const before = await lockProject(tx, project.organization_id, project.id)
    const changes = changesBetween('Project', before, fields, WRITABLE_FIELDS)
    if (changes.length === 0) return
    const after = await updateProject(tx, project.organization_id, project.id, fields, actor.now)
    await recordActivity(tx, actor, { ...projectActivity(after), activity: 'updated', changes })
  })
}
