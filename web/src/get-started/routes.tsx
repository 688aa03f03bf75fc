import { createRoute, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router'

export const getStartedRoutes = <Parent extends AnyRoute>(parent: Parent) => {
  const getParentRoute = () => parent
  return [
    createRoute({ getParentRoute, path: '/get-started', component: lazyRouteComponent(() => import('./GetStartedPage'), 'GetStartedPage') }),
  ] as const
}
