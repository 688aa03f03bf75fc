// Signing in through the OpenID provider of a domain: out, and back again.
import { route } from '../../../platform/http/route.ts'
import { oidcRedirectUris } from '../../domains/oidc-client.ts'
import { finishSignIn } from '../provider/finish.ts'
import { startDomainSignIn } from '../provider/start.ts'
import { answerOf, DomainStart, Return } from './addresses.ts'
import { domainOidc } from './domain-oidc.ts'

export const oidcRoutes = [
  route({
    method: 'GET',
    path: '/login/oidc/',
    summary: "Sign in through a domain's OpenID provider",
    access: 'anyone',
    guesses: 'sign-on',
    query: DomainStart,
    answers: { 303: null },
    handle: (context) => startDomainSignIn(context, domainOidc, context.query),
  }),

  route({
    method: 'GET',
    path: '/complete/oidc/',
    summary: 'Where OpenID providers that name themselves send people back to',
    access: 'anyone',
    guesses: 'sign-on',
    query: Return,
    answers: { 303: null },
    handle(context) {
      const { services, query } = context
      const { shared } = oidcRedirectUris(services, '')
      return finishSignIn(context, domainOidc, query.state, answerOf(query, shared))
    },
  }),

  route({
    method: 'GET',
    path: '/complete/oidc/:domain_id/',
    summary: 'Where other OpenID providers send people back to, for each domain another address',
    access: 'anyone',
    guesses: 'sign-on',
    query: Return,
    answers: { 303: null },
    handle(context) {
      const { services, query, params } = context
      const { own } = oidcRedirectUris(services, params.domain_id)
      return finishSignIn(context, domainOidc, query.state, answerOf(query, own))
    },
  }),
]
