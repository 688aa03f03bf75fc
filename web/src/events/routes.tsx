import { createRoute, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router'

export const eventRoutes = <Parent extends AnyRoute>(parent: Parent) => {
  const getParentRoute = () => parent
  return [
    createRoute({ getParentRoute, path: '/events', component: lazyRouteComponent(() => import('./EventsPage'), 'EventsPage') }),
  ] as const
}
