// Access to a project: which rules there are, and one call that sets, changes or takes away one of them.
import { LEVELS } from '../../../platform/http/caller.ts'
import { invalid } from '../../../platform/http/errors.ts'
import { noContent, ok, route } from '../../../platform/http/route.ts'
import { setAccess } from '../set-access.ts'
import { nameOfLevel, presentAccessControl } from './present.ts'
import { listAccessControls, type Subject } from './queries.ts'
import {
  ACCESS_NAMES,
  AccessControl,
  AccessControls,
  AccessControlUpdate,
  type AccessControlFields,
} from './schema.ts'

type Base =
  | '/api/projects/:id/'
  | '/api/environments/:id/'
  | '/api/organizations/:organization_id/projects/:id/'

export const accessControlRoutes = [
  ...accessControlRoutesBelow('/api/projects/:id/'),
  ...accessControlRoutesBelow('/api/environments/:id/'),
  ...accessControlRoutesBelow('/api/organizations/:organization_id/projects/:id/'),
]

function accessControlRoutesBelow<Path extends Base>(base: Path) {
  return [
    route({
      method: 'GET',
      path: `${base}access_controls/`,
      summary: 'Who has which access to a project',
      scope: 'access_control:read',
      subject: 'project',
      level: 'member',
      answers: { 200: AccessControls },
      async handle({ db, project, level }) {
        const rows = await listAccessControls(db, project)
        return ok({
          access_controls: rows.map(presentAccessControl),
          available_access_levels: ACCESS_NAMES,
          default_access_level: 'member',
          minimum_access_level: 'none',
          maximum_access_level: 'admin',
          user_access_level: nameOfLevel(level),
          user_can_edit_access_levels: level >= LEVELS.admin,
        })
      },
    }),

    route({
      method: 'PUT',
      path: `${base}access_controls/`,
      summary: 'Give a member, a role or everybody else access to a project, or take it away',
      scope: 'access_control:write',
      subject: 'project',
      level: 'admin',
      needs_recent_sign_in: true,
      body: AccessControlUpdate,
      examples: {
        'Close the project': { access_level: 'none' },
        'Let a role in': { access_level: 'member', role: '01a1e89e-2539-7b33-99e2-a81b128189a0' },
      },
      answers: { 200: AccessControl, 204: null },
      async handle(context) {
        const { db, project, body } = context
        const subject = subjectIn(body)
        const row = await db.transaction((tx) => setAccess(tx, context, project, subject, body.access_level))
        return row ? ok(presentAccessControl(row)) : noContent()
      },
    }),
  ]
}

function subjectIn({ organization_member, role }: AccessControlFields): Subject {
  if (organization_member && role) {
    throw invalid(null, 'invalid_input', 'A rule is about a member or about a role, not about both.')
  }
  return { membership_id: organization_member ?? null, role_id: role ?? null }
}
