import { createRoute, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router'
import { textIn } from '../ui/address'

export type OrganizationSearch = {
  /** What the list of members is narrowed down to. */
  search?: string
  /** The id of what is open beside the list, or `new`. */
  open?: string
  /** Filters of the activity log: who (id), what (kind of thing), from and to (days). */
  user?: string
  what?: string
  from?: string
  to?: string
}

const NAMES = ['search', 'open', 'user', 'what', 'from', 'to'] as const

export const organizationRoutes = <Parent extends AnyRoute>(parent: Parent) => {
  const getParentRoute = () => parent
  return [
    createRoute({
      getParentRoute,
      path: '/organization/$organizationId/$tab',
      component: lazyRouteComponent(() => import('./OrganizationPage'), 'OrganizationPage'),
      validateSearch: (search: Record<string, unknown>): OrganizationSearch =>
        Object.fromEntries(
          NAMES.flatMap((name) => {
            const text = textIn(search[name])
            return text === undefined ? [] : [[name, text]]
          }),
        ),
    }),
  ] as const
}
