import { createRoute, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router'

export const exportRoutes = <Parent extends AnyRoute>(parent: Parent) => {
  const getParentRoute = () => parent
  return [
    createRoute({ getParentRoute, path: '/exports', component: lazyRouteComponent(() => import('./ExportsPage'), 'ExportsPage') }),
    createRoute({ getParentRoute, path: '/exports/new', component: lazyRouteComponent(() => import('./NewExportPage'), 'NewExportPage') }),
    createRoute({ getParentRoute, path: '/exports/$exportId/$tab', component: lazyRouteComponent(() => import('./ExportPage'), 'ExportPage') }),
  ] as const
}
