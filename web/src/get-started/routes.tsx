import { createRoute, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router'

const readSearch = ({ sdk }: Record<string, unknown>): { sdk?: string } =>
  typeof sdk === 'string' ? { sdk } : {}

export const getStartedRoutes = <Parent extends AnyRoute>(parent: Parent) => {
  const getParentRoute = () => parent
  return [
    createRoute({
      getParentRoute,
      path: '/get-started',
      component: lazyRouteComponent(() => import('./GetStartedPage'), 'GetStartedPage'),
      validateSearch: readSearch,
    }),
  ] as const
}
