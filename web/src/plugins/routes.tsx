import { createRoute, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router'
import { readAppSearch, readListSearch } from './search'

export const appRoutes = <Parent extends AnyRoute>(parent: Parent) => {
  const getParentRoute = () => parent
  return [
    createRoute({
      getParentRoute,
      path: '/apps',
      component: lazyRouteComponent(() => import('./AppsPage'), 'AppsPage'),
      validateSearch: readListSearch,
    }),
    createRoute({
      getParentRoute,
      path: '/apps/new/$way',
      component: lazyRouteComponent(() => import('./NewAppPage'), 'NewAppPage'),
      validateSearch: readListSearch,
    }),
    createRoute({
      getParentRoute,
      path: '/apps/$configId/$tab',
      component: lazyRouteComponent(() => import('./AppPage'), 'AppPage'),
      validateSearch: readAppSearch,
    }),
  ] as const
}
