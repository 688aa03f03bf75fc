import { createRoute, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router'
import { textIn } from '../ui/address'

/** `search`: what the settings are narrowed down to. */
export type ServerSearch = { search?: string }

export const serverRoutes = <Parent extends AnyRoute>(parent: Parent) => {
  const getParentRoute = () => parent
  return [
    createRoute({
      getParentRoute,
      path: '/server',
      component: lazyRouteComponent(() => import('./ServerPage'), 'ServerPage'),
      validateSearch: ({ search }: Record<string, unknown>): ServerSearch => {
        const text = textIn(search)
        return text === undefined ? {} : { search: text }
      },
    }),
  ] as const
}
