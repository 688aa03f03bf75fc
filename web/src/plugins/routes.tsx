import { createRoute, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router'

export const appRoutes = <Parent extends AnyRoute>(parent: Parent) => {
  const getParentRoute = () => parent
  return [
    createRoute({ getParentRoute, path: '/apps', component: lazyRouteComponent(() => import('./AppsPage'), 'AppsPage') }),
    createRoute({ getParentRoute, path: '/apps/$configId/$tab', component: lazyRouteComponent(() => import('./AppPage'), 'AppPage') }),
  ] as const
}
