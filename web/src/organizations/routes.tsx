import { createRoute, lazyRouteComponent, redirect, type AnyRoute } from '@tanstack/react-router'
import type { Schema } from '../api/client'
import { textsIn } from '../ui/address'

export type OrganizationSearch = {
  /** What the list of members is narrowed down to. */
  search?: string
  /** The id of what is open beside the list, or `new`. */
  open?: string
  /** The part of the open domain that is shown, and which of its sign-ins, directory groups or directory requests. */
  part?: string
  sign_in?: string
  group?: string
  request?: string
  /** Filters of the activity log: who (id), what (kind of thing), from and to (days). */
  user?: string
  what?: string
  from?: string
  to?: string
}

const NAMES = ['search', 'open', 'part', 'sign_in', 'group', 'request', 'user', 'what', 'from', 'to'] as const

const searchIn = (search: Record<string, unknown>): OrganizationSearch => textsIn(search, NAMES)

export const organizationRoutes = <Parent extends AnyRoute>(parent: Parent) => {
  const getParentRoute = () => parent
  return [
    // Where the test of a provider leads (src/features/sign-in/provider/finish.ts): it knows the domain, not the address.
    createRoute({
      getParentRoute,
      path: '/organization',
      validateSearch: searchIn,
      async beforeLoad({ context, search }) {
        const { me } = context as { me: Schema<'Account'> }
        const { organizationOf } = await import('./domains/organization-of')
        const organizationId = await organizationOf(me, search.open)
        if (organizationId === null) throw redirect({ to: '/' })
        const part = search.sign_in === undefined ? {} : { part: 'sign-ins' }
        throw redirect({
          to: '/organization/$organizationId/$tab',
          params: { organizationId, tab: 'domains' },
          search: { ...search, ...part },
        })
      },
    }),
    createRoute({
      getParentRoute,
      path: '/organization/$organizationId/$tab',
      component: lazyRouteComponent(() => import('./OrganizationPage'), 'OrganizationPage'),
      validateSearch: searchIn,
    }),
  ] as const
}
