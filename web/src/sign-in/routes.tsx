// Pages before signing in. Mails link to most of them; src/features/sign-in/emails.ts and invites/link.ts write the links.
import { createRoute, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router'
import { textsIn } from '../ui/address'
import { nextOf } from './next'

/** Where to go, the address to begin with, and what a provider's way back says (src/features/sign-in/provider/finish.ts). */
type LoginSearch = { [name in 'next' | (typeof LOGIN_NAMES)[number]]?: string }

const LOGIN_NAMES = ['email', 'step', 'link', 'provider', 'error_code', 'sign_in'] as const

export const signInRoutes = <Root extends AnyRoute>(root: Root) => {
  const getParentRoute = () => root
  const recovery = () => import('./recovery')
  const signup = () => import('./signup')
  const withNext = (search: Record<string, unknown>): { next?: string } =>
    'next' in search ? { next: nextOf(search.next) } : {}
  return [
    createRoute({
      getParentRoute,
      path: '/login',
      component: lazyRouteComponent(() => import('./LoginPage'), 'LoginPage'),
      validateSearch: (search: Record<string, unknown>): LoginSearch => ({
        ...withNext(search),
        ...textsIn(search, LOGIN_NAMES),
      }),
    }),
    createRoute({
      getParentRoute,
      path: '/login/recovery/$uuid/$token',
      component: lazyRouteComponent(recovery, 'OwnerRecoveryPage'),
    }),
    createRoute({
      getParentRoute,
      path: '/login/token',
      component: lazyRouteComponent(recovery, 'SecondFactorPage'),
      validateSearch: withNext,
    }),
    createRoute({ getParentRoute, path: '/signup', component: lazyRouteComponent(signup, 'SignupPage') }),
    createRoute({
      getParentRoute,
      path: '/signup/$inviteId',
      component: lazyRouteComponent(signup, 'InvitePage'),
    }),
    createRoute({ getParentRoute, path: '/reset', component: lazyRouteComponent(recovery, 'ResetPage') }),
    createRoute({
      getParentRoute,
      path: '/reset/$uuid/$token',
      component: lazyRouteComponent(recovery, 'NewPasswordPage'),
    }),
    createRoute({
      getParentRoute,
      path: '/verify_email/$uuid',
      component: lazyRouteComponent(recovery, 'LookIntoMailPage'),
    }),
    createRoute({
      getParentRoute,
      path: '/verify_email/$uuid/$token',
      component: lazyRouteComponent(recovery, 'VerifyPage'),
    }),
    createRoute({
      getParentRoute,
      path: '/undo_email_change/$uuid/$token',
      component: lazyRouteComponent(recovery, 'UndoPage'),
    }),
  ] as const
}
