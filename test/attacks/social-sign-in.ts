// Signing in through Google, GitHub or GitLab at the program under attack, as an honest person or as whoever they say.
import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import type { Reply } from '../harness/app.ts'
import type { Begun, SignOnScene } from './sign-on-scene.ts'
import type { SocialProvider } from './social-hosts.ts'

export type Json = Record<string, unknown>
/** `emails` is GitHub's list; Google's people are claims. */
export type Said = { user: Json; emails?: unknown }

export const newEmail = () => `person-${randomBytes(5).toString('hex')}@social.example`
let count = 1_000

/** Somebody honest, as each provider shows them. */
export const HONEST: Record<SocialProvider, (email: string) => Said> = {
  'google-oauth2': (email) => ({ user: { sub: `1098${++count}`, email, email_verified: true } }),
  github: (email) => ({
    user: { id: ++count, login: 'octocat', name: 'Mona Lisa', email },
    emails: [{ email, primary: true, verified: true, visibility: null }],
  }),
  gitlab: (email) => ({
    user: {
      id: ++count,
      username: 'tanuki',
      name: 'Tanuki',
      state: 'active',
      email,
      confirmed_at: '2024-01-01T00:00:00Z',
    },
  }),
}
export const PROVIDERS = Object.keys(HONEST) as SocialProvider[]

export async function begin(scene: SignOnScene, provider: SocialProvider, more = ''): Promise<Begun> {
  const reply = await scene.call('GET', `/login/${provider}/${more}`)
  expect([reply.status, reply.headers.location]).toEqual([303, expect.stringContaining('code_challenge')])
  const set = [reply.headers['set-cookie'] ?? []].flat().map(String)
  return { url: String(reply.headers.location), cookie: set.map((each) => each.split(';')[0]).join('; ') }
}

export function agree(
  scene: SignOnScene,
  provider: SocialProvider,
  url: string,
  { user, emails }: Said,
): URL {
  if (provider === 'google-oauth2') return scene.social[provider].signIn(url, user as { sub: string })
  return scene.social[provider].signIn(url, {
    user,
    ...(emails === undefined ? {} : { emails: emails as Json[] }),
  })
}

export async function through(scene: SignOnScene, provider: SocialProvider, said: Said): Promise<Reply> {
  const { url, cookie } = await begin(scene, provider)
  return scene.comeBack(agree(scene, provider, url, said), cookie)
}

export async function expectGood(scene: SignOnScene, provider: SocialProvider): Promise<string> {
  const reply = await through(scene, provider, HONEST[provider](newEmail()))
  expect([reply.status, reply.headers.location]).toEqual([303, '/'])
  expect(reply.session).toBeDefined()
  return scene.canary.plant('session token', reply.session!)
}
