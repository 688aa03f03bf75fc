import { createRoute, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router'
import { statusQuery } from '../batch-exports/queries'
import { queries } from '../queries'

export const overviewRoutes = <Parent extends AnyRoute>(parent: Parent) => {
  const getParentRoute = () => parent
  return [
    createRoute({
      getParentRoute,
      path: '/overview',
      staleTime: Infinity,
      // Asked for while the page itself is on its way.
      loader({ params }: { params: { projectId: string } }) {
        void queries.prefetchQuery(statusQuery(params.projectId))
      },
      component: lazyRouteComponent(() => import('./OverviewPage'), 'OverviewPage'),
    }),
  ] as const
}
