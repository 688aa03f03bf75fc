import { createRoute, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router'

export const projectSettingsRoutes = <Parent extends AnyRoute>(parent: Parent) => {
  const getParentRoute = () => parent
  return [
    createRoute({ getParentRoute, path: '/settings', component: lazyRouteComponent(() => import('./ProjectSettingsPage'), 'ProjectSettingsPage') }),
  ] as const
}
