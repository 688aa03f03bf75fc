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
  const routes = matches.map(({ routeId }) => router.routesById[routeId as keyof typeof router.routesById])
  // A browser asks for six things at a time. Answers take longest, so the parts of the page wait behind them.
  const starts = [
    ...matches.map(({ params, loaderDeps }, index) => () => {
      const loader = routes[index]!.options.loader as Loader | undefined
      return loader?.({ params, deps: loaderDeps })
    }),
    ...routes.map((route) => () => router.loadRouteChunk(route)),
  ]
  // What fails is asked for again by the router, which says so.
  for (const start of starts) void Promise.resolve(start()).catch(() => undefined)
}
