import { createRoute, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router'
import { queries } from '../queries'
import { eventsQuery, questionOf } from './queries'
import { readEventsSearch, type EventsSearch } from './search'

export const eventRoutes = <Parent extends AnyRoute>(parent: Parent) => {
  const getParentRoute = () => parent
  return [
    createRoute({
      getParentRoute,
      path: '/events',
      component: lazyRouteComponent(() => import('./EventsPage'), 'EventsPage'),
      validateSearch: readEventsSearch,
      loaderDeps: ({ search: { filters, after, before } }: { search: EventsSearch }) => ({
        ...(filters === undefined ? {} : { filters }),
        ...(after === undefined ? {} : { after }),
        ...(before === undefined ? {} : { before }),
      }),
      // Once for each question: the list itself knows when to ask again.
      staleTime: Infinity,
      // Asked for while the page itself is on its way.
      loader({ params, deps }: { params: { projectId: string }; deps: EventsSearch }) {
        void queries.prefetchInfiniteQuery(eventsQuery(questionOf(params.projectId, deps)))
      },
    }),
  ] as const
}
