import { createRoute, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router'
import { queries } from '../queries'
import { statusQuery } from './queries'
import { exportSearch, listSearch, newSearch } from './search'

export const exportRoutes = <Parent extends AnyRoute>(parent: Parent) => {
  const getParentRoute = () => parent
  return [
    createRoute({
      getParentRoute,
      path: '/exports',
      component: lazyRouteComponent(() => import('./ExportsPage'), 'ExportsPage'),
      validateSearch: listSearch,
      staleTime: Infinity,
      // Asked for while the page itself is on its way.
      loader({ params }: { params: { projectId: string } }) {
        void queries.prefetchQuery(statusQuery(params.projectId))
      },
    }),
    createRoute({
      getParentRoute,
      path: '/exports/new',
      component: lazyRouteComponent(() => import('./new/NewExportPage'), 'NewExportPage'),
      validateSearch: newSearch,
    }),
    createRoute({
      getParentRoute,
      path: '/exports/$exportId/$tab',
      component: lazyRouteComponent(() => import('./ExportPage'), 'ExportPage'),
      validateSearch: exportSearch,
    }),
  ] as const
}
