// GitHub, for the whole instance. It has no OpenID Connect: its API says who somebody is.
import { z } from 'zod'
import { oauthWay } from '../oidc/oauth-way.ts'
import { addressOf, splitName, subjectOf } from '../oidc/person.ts'
import { plainOauth } from './oauth.ts'

const API = 'https://api.github.com'

const User = z.object({ id: z.int().positive(), login: z.string(), name: z.string().nullish() })
const Emails = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }))

export const github = oauthWay(
  'github',
  plainOauth({
    provider: 'github',
    scope: 'user:email',
    paths: { authorize: '/login/oauth/authorize', tokens: '/login/oauth/access_token' },
    async readPerson(issuer, ask) {
      const user = await ask(`${API}/user`, User)
      // Those in /user are what somebody chose to show; only here it says whether they were confirmed.
      const emails = await ask(`${API}/user/emails`, Emails)
      const primary = emails.find((each) => each.primary)
      return {
        issuer,
        subject: subjectOf(user.id),
        email: addressOf(primary?.email),
        is_email_vouched: primary?.verified === true,
        ...splitName(user.name ?? user.login),
        received: { ...user, emails },
      }
    },
  }),
)
