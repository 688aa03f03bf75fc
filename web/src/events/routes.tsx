import { createRoute, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router'
import { readEventsSearch } from './search'

export const eventRoutes = <Parent extends AnyRoute>(parent: Parent) => {
  const getParentRoute = () => parent
  return [
    createRoute({
      getParentRoute,
      path: '/events',
      component: lazyRouteComponent(() => import('./EventsPage'), 'EventsPage'),
      validateSearch: readEventsSearch,
    }),
  ] as const
}
