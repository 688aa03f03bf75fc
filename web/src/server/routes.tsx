import { createRoute, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router'

export const serverRoutes = <Parent extends AnyRoute>(parent: Parent) => {
  const getParentRoute = () => parent
  return [
    createRoute({ getParentRoute, path: '/server', component: lazyRouteComponent(() => import('./ServerPage'), 'ServerPage') }),
  ] as const
}
