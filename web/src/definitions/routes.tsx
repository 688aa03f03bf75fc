import { createRoute, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router'
import { readDefinitionsSearch } from './search'

export const definitionRoutes = <Parent extends AnyRoute>(parent: Parent) => {
  const getParentRoute = () => parent
  return [
    createRoute({
      getParentRoute,
      path: '/definitions/$tab',
      component: lazyRouteComponent(() => import('./DefinitionsPage'), 'DefinitionsPage'),
      validateSearch: readDefinitionsSearch,
    }),
  ] as const
}
