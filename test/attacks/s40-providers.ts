// OpenID providers that misbehave: they hang, flood, lead inward, or say of themselves what is not so.
import { generateKeyPairSync } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { expect } from 'vitest'
import type { OpenidProvider } from '../stand-ins/openid-provider.ts'
import { attackEach, type Attack } from './attack.ts'
import { personOf, type SignOnScene } from './sign-on-scene.ts'

const weak = generateKeyPairSync('rsa', { modulusLength: 1024 })

const hang = () => {}
const endless = (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  const more = () => {
    while (!response.destroyed && response.write('[1,'.repeat(20_000)));
  }
  response.on('drain', more)
  more()
}
const inward = (scene: SignOnScene) => `http://127.0.0.1:${scene.inner.port}/`

/** What a provider does at one of its addresses. */
const MANNERS: [string, (scene: SignOnScene) => (response: ServerResponse) => void][] = [
  ['sends without end', () => endless],
  ['redirects inward', (scene) => (response) => response.writeHead(307, { location: inward(scene) }).end()],
  ['cuts the connection', () => (response) => response.destroy()],
  [
    'sends a page',
    () => (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>'),
  ],
  [
    'sends nesting',
    () => (response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('['.repeat(200_000)),
  ],
]
const DISCOVERY = '/.well-known/openid-configuration'
const BAD = [
  ...['/token', '/keys', '/userinfo', DISCOVERY].flatMap((path) =>
    MANNERS.map(([name, react]) => ({ path, name, react })),
  ),
  // These take as long as a call may.
  ...['/token', DISCOVERY].map((path) => ({ path, name: 'hangs', react: () => hang })),
]

const misbehaving = attackEach<SignOnScene, (typeof BAD)[number]>(
  'S40',
  BAD,
  ({ path, name }) => `a provider that ${name} at ${path}`,
  async (scene, { path, react }) => {
    const domain = await scene.newDomain(({ answers }) => answers.set(path, react(scene)))
    const person = personOf(domain)
    const isAtStart = path === DISCOVERY
    const forgery = path === '/userinfo' ? { claims: { email: undefined } } : {}
    const reply = isAtStart
      ? await scene.call('GET', `/login/oidc/?domain=${domain.id}`)
      : await scene.signIn(domain, person, forgery)
    await scene.expectOutside(reply, person.email as string)
    expect(scene.inner.connections).toBe(0)
    await scene.expectGood(scene.shared)
  },
)

/** What a provider says of itself. */
const SELVES: [string, (provider: OpenidProvider, scene: SignOnScene) => void][] = [
  ['another issuer', ({ metadata }) => void (metadata.issuer = 'https://accounts.google.com')],
  ['an issuer for everybody', ({ metadata, issuer }) => void (metadata.issuer = `${issuer}/{tenantid}/v2.0`)],
  ['a script as its page', ({ metadata }) => void (metadata.authorization_endpoint = 'javascript:alert(1)')],
  [
    'a page without TLS',
    ({ metadata }) => void (metadata.authorization_endpoint = 'http://idp.example/authorize'),
  ],
  [
    'nothing but HS256',
    ({ metadata }) => void (metadata.id_token_signing_alg_values_supported = ['HS256', 'none']),
  ],
  [
    'tokens inside',
    ({ metadata }, scene) => void (metadata.token_endpoint = inward(scene).replace('http', 'https')),
  ],
  ['tokens without TLS', ({ metadata }, scene) => void (metadata.token_endpoint = inward(scene))],
  ['keys inside', ({ metadata }, scene) => void (metadata.jwks_uri = inward(scene).replace('http', 'https'))],
  ['keys in a file', ({ metadata }) => void (metadata.jwks_uri = 'file:///etc/passwd')],
  [
    'keys at the metadata service',
    ({ metadata }) => void (metadata.jwks_uri = 'https://169.254.169.254/keys'),
  ],
  ['no keys', ({ keys }) => void keys.splice(0)],
  [
    'thousands of keys',
    ({ keys, jwk }) =>
      void keys.splice(0, 1, ...Array.from({ length: 5_000 }, (_, at) => ({ ...jwk, kid: `k${at}` }))),
  ],
  ['five keys of one id', ({ keys, jwk }) => void keys.push(jwk, jwk, jwk, jwk)],
  [
    'a key that is none',
    ({ keys }) => void keys.splice(0, 1, { kty: 'RSA', kid: 'first', n: 'AQAB', e: 'AQAB' }),
  ],
  ['a symmetric key', ({ keys }) => void keys.splice(0, 1, { kty: 'oct', kid: 'first', k: 'c2VjcmV0' })],
  [
    'a key of 1,024 bits',
    (provider) => {
      provider.keys.splice(0, 1, { ...weak.publicKey.export({ format: 'jwk' }), kid: 'first' })
      provider.key = weak.privateKey
    },
  ],
]

const posing = attackEach<SignOnScene, (typeof SELVES)[number]>(
  'S40',
  SELVES,
  ([name]) => `a provider that publishes ${name}`,
  async (scene, [, change]) => {
    const domain = await scene.newDomain((provider) => change(provider, scene))
    const person = personOf(domain)
    const start = await scene.call('GET', `/login/oidc/?domain=${domain.id}`)
    expect(String(start.headers.location)).not.toMatch(/^(javascript|http:\/\/idp)/)
    const isSent = String(start.headers.location).includes('code_challenge')
    await scene.expectOutside(isSent ? await scene.signIn(domain, person) : start, person.email as string)
    expect(scene.inner.connections).toBe(0)
    await scene.expectGood(scene.shared)
  },
)

export const attacks: Attack<SignOnScene>[] = [...misbehaving, ...posing]
