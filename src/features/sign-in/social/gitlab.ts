// GitLab, for the whole instance: gitlab.com, or one of one's own. By its API rather than OpenID Connect, because
// applications that were registered for PostHog have the scope `read_user` alone.
import { z } from 'zod'
import { oauthWay } from '../oidc/oauth-way.ts'
import { addressOf, splitName, subjectOf } from '../oidc/person.ts'
import { Fault } from '../oidc/steps.ts'
import { plainOauth } from './oauth.ts'

const User = z.object({
  id: z.int().positive(),
  username: z.string(),
  name: z.string().nullish(),
  state: z.string(),
  email: z.string().nullish(),
  confirmed_at: z.string().nullish(),
})

export const gitlab = oauthWay(
  'gitlab',
  plainOauth({
    provider: 'gitlab',
    scope: 'read_user',
    paths: { authorize: '/oauth/authorize', tokens: '/oauth/token' },
    async readPerson(issuer, ask) {
      const user = await ask(`${issuer}/api/v4/user`, User)
      if (user.state !== 'active') {
        throw new Fault('profile', 'The account is not active at GitLab.', 'provider_refused', user)
      }
      return {
        issuer,
        subject: subjectOf(user.id),
        email: addressOf(user.email),
        // A changed address takes the place of the old one only once it was confirmed.
        is_email_vouched: Boolean(user.confirmed_at),
        ...splitName(user.name ?? user.username),
        received: user,
      }
    },
  }),
)
