import { createRoute, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router'

export const personRoutes = <Parent extends AnyRoute>(parent: Parent) => {
  const getParentRoute = () => parent
  return [
    createRoute({ getParentRoute, path: '/persons', component: lazyRouteComponent(() => import('./PersonsPage'), 'PersonsPage') }),
    createRoute({ getParentRoute, path: '/persons/$personId', component: lazyRouteComponent(() => import('./PersonPage'), 'PersonPage') }),
  ] as const
}
