import { createRoute, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router'

export const overviewRoutes = <Parent extends AnyRoute>(parent: Parent) => {
  const getParentRoute = () => parent
  return [
    createRoute({
      getParentRoute,
      path: '/overview',
      component: lazyRouteComponent(() => import('./OverviewPage'), 'OverviewPage'),
    }),
  ] as const
}
