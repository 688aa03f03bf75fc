// Whoever opens an address waits for who they are, then for its page, then for what the page shows. The router finds
// these out one after another; here all of them are asked for at once.
import type { RegisteredRouter } from '@tanstack/react-router'
import { meQuery } from './api/me'
import { isStranger } from './page'
import { queries } from './queries'

type Loader = (of: { params: object; deps: object }) => unknown

export function askAhead(router: RegisteredRouter): void {
  if (isStranger()) return
  const matches = router.matchRoutes(router.latestLocation)
  if (!matches.some(({ routeId }) => routeId === '/frame')) return
  void queries.prefetchQuery(meQuery)
  for (const { routeId, params, loaderDeps } of matches) {
    const route = router.routesById[routeId as keyof typeof router.routesById]
    const loader = route.options.loader as Loader | undefined
    // What fails is asked for again by the router, which says so.
    for (const start of [() => router.loadRouteChunk(route), () => loader?.({ params, deps: loaderDeps })])
      void Promise.resolve(start()).catch(() => undefined)
  }
}
