// The table of contents of the console: one line per folder. src/app/console/serve.ts names the same addresses.
import { createRootRoute, createRoute, createRouter, Outlet, redirect } from '@tanstack/react-router'
import { accountRoutes } from './account/routes'
import { meQuery, projectQuery } from './api/me'
import { exportRoutes } from './batch-exports/routes'
import { definitionRoutes } from './definitions/routes'
import { eventRoutes } from './events/routes'
import { Frame } from './frame/Frame'
import { NotFound, PageFailed } from './frame/Problems'
import { ProjectFrame } from './frame/ProjectFrame'
import { getStartedRoutes } from './get-started/routes'
import { organizationRoutes } from './organizations/routes'
import { overviewRoutes } from './overview/routes'
import { personRoutes } from './persons/routes'
import { appRoutes } from './plugins/routes'
import { projectSettingsRoutes } from './projects/routes'
import { queries } from './queries'
import { serverRoutes } from './server/routes'
import { signInRoutes } from './sign-in/routes'
import { sqlRoutes } from './sql/routes'
import { Loading } from './ui/States'

const root = createRootRoute({ component: Outlet })

/** Pages of people who are signed in. */
const frame = createRoute({
  getParentRoute: () => root,
  id: 'frame',
  component: Frame,
  async beforeLoad({ location }) {
    const me = await queries.ensureQueryData(meQuery)
    if (me === null) throw redirect({ to: '/login', search: { next: location.href } })
    return { me }
  },
})

const home = createRoute({
  getParentRoute: () => frame,
  path: '/',
  beforeLoad({ context: { me } }) {
    if (me.team) throw redirect({ to: '/project/$projectId', params: { projectId: String(me.team.id) } })
    if (me.organization)
      throw redirect({
        to: '/organization/$organizationId/$tab',
        params: { organizationId: me.organization.id, tab: 'projects' },
      })
    throw redirect({ to: '/account/$tab', params: { tab: 'profile' } })
  },
})

const project = createRoute({
  getParentRoute: () => frame,
  path: '/project/$projectId',
  component: ProjectFrame,
  loader: ({ params }) => queries.ensureQueryData(projectQuery(params.projectId)),
})

/** Until the first event there is nothing to look at. */
const projectHome = createRoute({
  getParentRoute: () => project,
  path: '/',
  async beforeLoad({ params }) {
    const { ingested_event } = await queries.ensureQueryData(projectQuery(params.projectId))
    throw redirect({ to: `/project/$projectId/${ingested_event ? 'overview' : 'get-started'}`, params })
  },
})

const tree = root.addChildren([
  ...signInRoutes(root),
  frame.addChildren([
    home,
    project.addChildren([
      projectHome,
      ...getStartedRoutes(project),
      ...overviewRoutes(project),
      ...eventRoutes(project),
      ...sqlRoutes(project),
      ...personRoutes(project),
      ...definitionRoutes(project),
      ...exportRoutes(project),
      ...appRoutes(project),
      ...projectSettingsRoutes(project),
    ]),
    ...organizationRoutes(frame),
    ...accountRoutes(frame),
    ...serverRoutes(frame),
  ]),
])

export const router = createRouter({
  routeTree: tree,
  defaultPreload: 'intent',
  defaultPendingComponent: Loading,
  defaultErrorComponent: PageFailed,
  defaultNotFoundComponent: NotFound,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
