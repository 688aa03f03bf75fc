import { createRoute, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router'

export const accountRoutes = <Parent extends AnyRoute>(parent: Parent) => {
  const getParentRoute = () => parent
  return [
    createRoute({ getParentRoute, path: '/account/$tab', component: lazyRouteComponent(() => import('./AccountPage'), 'AccountPage') }),
  ] as const
}
