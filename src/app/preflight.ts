// /_preflight/: what a sign-in page must know before anybody has signed in. Public, so it holds no secret and costs little.
import { z } from 'zod'
import { hasAnyUser } from '../features/users/queries.ts'
import { ok, route } from '../platform/http/route.ts'
import { VERSION } from './version.ts'

const Preflight = z
  .object({
    version: z.string(),
    cloud: z.literal(false),
    initiated: z.boolean().describe('Whether there is an account yet.'),
    can_create_org: z.boolean().describe('Whether anybody may sign up with an organization of their own.'),
    email_service_available: z.boolean().describe('Whether mail is configured: without it, no resets.'),
    site_url: z.string(),
    available_social_auth_providers: z
      .record(z.string(), z.boolean())
      .describe('Which providers anybody may sign in through.'),
  })
  .meta({ id: 'Preflight' })

export const preflightRoutes = [
  route({
    method: 'GET',
    path: '/_preflight/',
    summary: 'What this server offers to people who are not signed in',
    access: 'anyone',
    answers: { 200: Preflight },
    async handle({ services: { settings, mailer }, db }) {
      const initiated = await hasAnyUser(db)
      const { social_sign_in: social } = settings
      return ok({
        version: VERSION,
        cloud: false as const,
        initiated,
        // The first account is always welcome: see POST /api/signup/.
        can_create_org: settings.is_signup_open || !initiated,
        email_service_available: mailer.configured,
        site_url: settings.site_url,
        available_social_auth_providers: {
          'google-oauth2': social['google-oauth2'] !== null,
          github: social.github !== null,
          gitlab: social.gitlab !== null,
        },
      })
    },
  }),
]
