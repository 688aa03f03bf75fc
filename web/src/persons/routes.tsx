import { createRoute, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router'
import { queries } from '../queries'
import { personsQuery } from './queries'
import { readPersonSearch, readPersonsSearch, type PersonsSearch } from './search'

export const personRoutes = <Parent extends AnyRoute>(parent: Parent) => {
  const getParentRoute = () => parent
  return [
    createRoute({
      getParentRoute,
      path: '/persons',
      component: lazyRouteComponent(() => import('./PersonsPage'), 'PersonsPage'),
      validateSearch: readPersonsSearch,
      loaderDeps: ({ search: { q = '' } }: { search: PersonsSearch }) => ({ q }),
      staleTime: Infinity,
      // Asked for while the page itself is on its way.
      loader({ params, deps: { q } }: { params: { projectId: string }; deps: { q: string } }) {
        void queries.prefetchInfiniteQuery(personsQuery(params.projectId, q))
      },
    }),
    createRoute({
      getParentRoute,
      path: '/persons/$personId',
      component: lazyRouteComponent(() => import('./PersonPage'), 'PersonPage'),
      validateSearch: readPersonSearch,
    }),
  ] as const
}
