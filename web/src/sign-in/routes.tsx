// Pages before signing in. Mails link to most of them; src/features/sign-in/emails.ts and invites/link.ts write the links.
import { createRoute, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router'
import { LoginPage } from './LoginPage'
import { nextOf } from './next'

export const signInRoutes = <Root extends AnyRoute>(root: Root) => {
  const getParentRoute = () => root
  const recovery = () => import('./recovery')
  const signup = () => import('./signup')
  const withNext = (search: Record<string, unknown>): { next?: string } =>
    'next' in search ? { next: nextOf(search.next) } : {}
  return [
    createRoute({ getParentRoute, path: '/login', component: LoginPage, validateSearch: withNext }),
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
