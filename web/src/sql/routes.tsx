import { createRoute, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router'
import { validateSqlSearch } from './address'

export const sqlRoutes = <Parent extends AnyRoute>(parent: Parent) => {
  const getParentRoute = () => parent
  return [
    createRoute({
      getParentRoute,
      path: '/sql',
      validateSearch: validateSqlSearch,
      component: lazyRouteComponent(() => import('./SqlPage'), 'SqlPage'),
    }),
  ] as const
}
