import { createRoute, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router'
import { readPersonSearch, readPersonsSearch } from './search'

export const personRoutes = <Parent extends AnyRoute>(parent: Parent) => {
  const getParentRoute = () => parent
  return [
    createRoute({
      getParentRoute,
      path: '/persons',
      component: lazyRouteComponent(() => import('./PersonsPage'), 'PersonsPage'),
      validateSearch: readPersonsSearch,
    }),
    createRoute({
      getParentRoute,
      path: '/persons/$personId',
      component: lazyRouteComponent(() => import('./PersonPage'), 'PersonPage'),
      validateSearch: readPersonSearch,
    }),
  ] as const
}
