import { createRoute, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router'

export const organizationRoutes = <Parent extends AnyRoute>(parent: Parent) => {
  const getParentRoute = () => parent
  return [
    createRoute({ getParentRoute, path: '/organization/$organizationId/$tab', component: lazyRouteComponent(() => import('./OrganizationPage'), 'OrganizationPage') }),
  ] as const
}
