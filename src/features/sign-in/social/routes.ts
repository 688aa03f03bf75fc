// Signing in through Google, GitHub and GitLab, where the operator of the instance has set them up.
import { route } from '../../../platform/http/route.ts'
import { answerOf, Return, Start } from '../oidc/addresses.ts'
import { finishSignIn } from '../provider/finish.ts'
import { NAMES } from '../provider/names.ts'
import { startSignIn } from '../provider/start.ts'
import { redirectUri } from './applications.ts'
import { github } from './github.ts'
import { gitlab } from './gitlab.ts'
import { google } from './google.ts'

export const socialRoutes = [google, github, gitlab].flatMap((way) => [
  route({
    method: 'GET',
    path: `/login/${way.provider}/`,
    summary: `Sign in through ${NAMES[way.provider]}`,
    access: 'anyone',
    guesses: 'sign-on',
    query: Start,
    answers: { 303: null },
    handle: (context) => startSignIn(context, way, context.query),
  }),

  route({
    method: 'GET',
    path: `/complete/${way.provider}/`,
    summary: `Where ${NAMES[way.provider]} sends people back to`,
    access: 'anyone',
    guesses: 'sign-on',
    query: Return,
    answers: { 303: null },
    handle(context) {
      const { services, query } = context
      return finishSignIn(context, way, query.state, answerOf(query, redirectUri(services, way.provider)))
    },
  }),
])
