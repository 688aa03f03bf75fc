import { createRoute, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router'

export const sqlRoutes = <Parent extends AnyRoute>(parent: Parent) => {
  const getParentRoute = () => parent
  return [
    createRoute({ getParentRoute, path: '/sql', component: lazyRouteComponent(() => import('./SqlPage'), 'SqlPage') }),
  ] as const
}
