// Google, GitHub and GitLab taken over or out of order: they hang, flood, lead inward, or give tokens that are none.
import type { ServerResponse } from 'node:http'
import { expect } from 'vitest'
import { attackEach, type Attack } from './attack.ts'
import type { SignOnScene } from './sign-on-scene.ts'
import type { SocialProvider } from './social-hosts.ts'
import { expectGood, HONEST, newEmail, through } from './social-sign-in.ts'

const inJson = (status: number, body: unknown) => (response: ServerResponse) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
const endless = (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  const more = () => {
    while (!response.destroyed && response.write('[1,'.repeat(20_000)));
  }
  response.on('drain', more)
  more()
}

type Manner = [string, (scene: SignOnScene) => (response: ServerResponse) => void]

const ANYWHERE: Manner[] = [
  [
    'sends a page',
    () => (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hi'),
  ],
  [
    'sends half of its JSON',
    () => (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":'),
  ],
  ['sends without end', () => endless],
  [
    'sends nesting',
    () => (response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('['.repeat(200_000)),
  ],
  ['sends nothing', () => (response) => response.writeHead(204).end()],
  ['is down', () => inJson(503, { message: 'down' })],
  [
    'redirects inward',
    (scene) => (response) =>
      response.writeHead(302, { location: `http://127.0.0.1:${scene.inner.port}/` }).end(),
  ],
  ['cuts the connection', () => (response) => response.destroy()],
]
/** Where codes are changed into tokens. */
const TOKENS: Manner[] = [
  ['gives no token', () => inJson(200, { token_type: 'bearer' })],
  ['gives a number as token', () => inJson(200, { access_token: 7, token_type: 'bearer' })],
  [
    'gives a token with a line end',
    () => inJson(200, { access_token: 'a\r\nx-admin: 1', token_type: 'bearer' }),
  ],
  ['gives a token of another type', () => inJson(200, { access_token: 'a', token_type: 'mac' })],
  ['names no type of its token', () => inJson(200, { access_token: 'a' })],
  [
    'says an error beside its token',
    () => inJson(200, { error: 'no', access_token: 'a', token_type: 'bearer' }),
  ],
  ["gives a stranger's token", () => inJson(200, { access_token: 'gho_stolen', token_type: 'bearer' })],
]
const PLACES: [SocialProvider, string, Manner[]][] = [
  ['github', '/login/oauth/access_token', [...ANYWHERE, ...TOKENS]],
  ['github', '/user', ANYWHERE],
  ['github', '/user/emails', [...ANYWHERE, ['hangs', () => () => {}]]],
  ['gitlab', '/oauth/token', [...ANYWHERE, ...TOKENS]],
  ['gitlab', '/api/v4/user', ANYWHERE],
  ['google-oauth2', '/token', TOKENS],
]
const MANNERS = PLACES.flatMap(([provider, path, manners]) =>
  manners.map(([name, react]) => ({ provider, path, name, react })),
)

export const attacks: Attack<SignOnScene>[] = attackEach<SignOnScene, (typeof MANNERS)[number]>(
  'S40',
  MANNERS,
  ({ provider, path, name }) => `${provider} ${name} at ${path}`,
  async (scene, { provider, path, react }) => {
    const { answers } = scene.social[provider]
    const email = newEmail()
    answers.set(path, react(scene))
    try {
      await scene.expectOutside(await through(scene, provider, HONEST[provider](email)), email)
    } finally {
      answers.delete(path)
    }
    expect(scene.inner.connections).toBe(0)
    await expectGood(scene, provider)
  },
)
