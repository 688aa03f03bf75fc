import { createRoute, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router'
import { textIn } from '../ui/address'

/** `open`: the id of what is open beside a list, `new`, or the step that is under way. */
export type AccountSearch = { open?: string }

export const accountRoutes = <Parent extends AnyRoute>(parent: Parent) => {
  const getParentRoute = () => parent
  return [
    createRoute({
      getParentRoute,
      path: '/account/$tab',
      component: lazyRouteComponent(() => import('./AccountPage'), 'AccountPage'),
      validateSearch: ({ open }: Record<string, unknown>): AccountSearch => {
        const id = textIn(open)
        return id === undefined ? {} : { open: id }
      },
    }),
  ] as const
}
