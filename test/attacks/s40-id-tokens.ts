// ID tokens that are forged: made by somebody else, for somebody else, or for another time.
import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { expect } from 'vitest'
import { attack, attackEach, type Attack } from './attack.ts'
import type { Forgery, OpenidProvider } from '../stand-ins/openid-provider.ts'
import { personOf, type SignOnDomain, type SignOnScene } from './sign-on-scene.ts'

const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 })
const strangerJwk = { ...stranger.publicKey.export({ format: 'jwk' }), kid: 'first', use: 'sig' }
const now = () => Math.floor(Date.now() / 1000)
const pemOf = ({ key }: OpenidProvider) =>
  createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString()

/** Tokens that differ from good ones in one thing. */
const FORGERIES: [string, (provider: OpenidProvider, domain: SignOnDomain) => Forgery][] = [
  ['no signature (alg none)', () => ({ header: { alg: 'none' }, key: null })],
  ['no signature (alg NONE)', () => ({ header: { alg: 'NONE' }, key: null })],
  ['no signature, and RS256 in its header', () => ({ key: null })],
  ['no alg at all', () => ({ header: { alg: undefined } })],
  ['HS256 with the public key', (provider) => ({ header: { alg: 'HS256' }, key: pemOf(provider) })],
  ['HS256 with the key set', ({ jwk }) => ({ header: { alg: 'HS256' }, key: JSON.stringify(jwk) })],
  ['HS256 with the client secret', ({ client_secret }) => ({ header: { alg: 'HS256' }, key: client_secret })],
  ['PS256, which the provider does not announce', () => ({ header: { alg: 'PS256' } })],
  ["a stranger's key under the id of the provider's", () => ({ key: stranger.privateKey })],
  [
    "a stranger's key in its header (jwk)",
    () => ({ header: { jwk: strangerJwk, kid: undefined }, key: stranger.privateKey }),
  ],
  [
    "the address of a stranger's keys (jku)",
    () => ({ header: { jku: 'https://evil.example/keys', kid: 'x' }, key: stranger.privateKey }),
  ],
  ['a key id that nobody has', () => ({ header: { kid: 'nobody' } })],
  ['a key id that is an object', () => ({ header: { kid: { toString: 'first' } } })],
  ['a critical header that nobody knows', () => ({ header: { crit: ['exp'] } })],
  ['claims that were changed after signing', () => ({ id_token: changed })],
  ['half of its signature', () => ({ id_token: (good) => good.slice(0, -100) })],
  ['a fourth part', () => ({ id_token: (good) => `${good}.x` })],
  ['encryption', () => ({ id_token: () => 'a.b.c.d.e' })],
  ['a list in place of claims', () => ({ claims: () => [1] })],
  ['no JSON in place of claims', () => ({ claims: () => '{"sub":' })],
  ['no nonce', () => ({ claims: { nonce: undefined } })],
  ['the nonce of another sign-in', () => ({ claims: { nonce: 'n'.repeat(43) } })],
  ['another audience', () => ({ claims: { aud: 'another-client' } })],
  ['no audience', () => ({ claims: { aud: undefined } })],
  ['a second audience', ({ client_id }) => ({ claims: { aud: [client_id, 'another-client'] } })],
  [
    'two audiences, given to the other',
    ({ client_id }) => ({ claims: { aud: [client_id, 'another-client'], azp: 'another-client' } }),
  ],
  ['our audience, given to another client (azp)', () => ({ claims: { azp: 'another-client' } })],
  ['an audience that only begins like ours', ({ client_id }) => ({ claims: { aud: `${client_id}-2` } })],
  ['another issuer', () => ({ claims: { iss: 'https://accounts.google.com' } })],
  ['the issuer with a slash', ({ issuer }) => ({ claims: { iss: `${issuer}/` } })],
  ['no issuer', () => ({ claims: { iss: undefined } })],
  ['an end two minutes ago', () => ({ claims: { exp: now() - 120 } })],
  ['no end', () => ({ claims: { exp: undefined } })],
  ['an end that is a text', () => ({ claims: { exp: '9999999999' } })],
  ['a beginning in an hour', () => ({ claims: { nbf: now() + 3600 } })],
  ['a birth in an hour', () => ({ claims: { iat: now() + 3600 } })],
  ['the hash of another access token', () => ({ claims: { at_hash: 'AAAAAAAAAAAAAAAAAAAAAA' } })],
  ['no subject', () => ({ claims: { sub: undefined } })],
  ['a subject that is an object', () => ({ claims: { sub: { id: 1 } } })],
  ['a subject of a megabyte', () => ({ claims: { sub: 'x'.repeat(100_000) } })],
  ['control characters in its subject', () => ({ claims: { sub: 'ann\u0000' } })],
  ['an address that is not confirmed', () => ({ claims: { email_verified: false } })],
  ['an address that nobody says is confirmed', () => ({ claims: { email_verified: undefined } })],
  ['an address of which "false" is said', () => ({ claims: { email_verified: 'false' } })],
  [
    'a list of addresses',
    (_provider, { domain }) => ({ claims: { email: [`one@${domain}`, `two@${domain}`] } }),
  ],
  ['no address', () => ({ claims: { email: undefined } })],
  ['an address below the domain', (_provider, { domain }) => ({ claims: { email: `ann@below.${domain}` } })],
  ['an address above the domain', () => ({ claims: { email: 'ann@example' } })],
  [
    'an address with two domains',
    (_provider, { domain }) => ({ claims: { email: `ann@${domain}@evil.example` } }),
  ],
  [
    'an address that ends like the domain',
    (_provider, { domain }) => ({ claims: { email: `ann@not-${domain}` } }),
  ],
  ['no ID token', () => ({ tokens: { id_token: undefined } })],
  ['an ID token that is a number', () => ({ tokens: { id_token: 7 } })],
  ['no access token', () => ({ tokens: { access_token: undefined } })],
  ['a type of token that nobody knows', () => ({ tokens: { token_type: 'mac' } })],
]

const forged = attackEach<SignOnScene, (typeof FORGERIES)[number]>(
  'S40',
  FORGERIES,
  ([name]) => `an ID token with ${name}`,
  async (scene, [, forge]) => {
    const { shared } = scene
    const person = personOf(shared)
    const reply = await scene.signIn(shared, person, forge(shared.provider, shared))
    await scene.expectOutside(reply, person.email as string)
    await scene.expectGood(shared)
  },
)

const impostor = attack<SignOnScene>(
  'S40',
  'an address that userinfo says of somebody else',
  async (scene) => {
    const domain = await scene.newDomain((provider) => {
      provider.userinfo = { sub: 'somebody-else', email: 'x@y.example', email_verified: true }
    })
    const person = personOf(domain)
    await scene.expectOutside(
      await scene.signIn(domain, person, { claims: { email: undefined } }),
      person.email as string,
    )
    await scene.expectGood(domain)
  },
)

const nested = attack<SignOnScene>('S40', 'an ID token with a claim nested 40,000 deep', async (scene) => {
  const { shared } = scene
  const claims = (good: object) =>
    `${JSON.stringify(good).slice(0, -1)},"deep":${'['.repeat(40_000)}${']'.repeat(40_000)}}`
  const reply = await scene.signIn(shared, personOf(shared), { claims })
  // It harms nobody, so it lets the person in; showing it to admins must not fail.
  expect([reply.status, reply.headers.location]).toEqual([303, '/'])
})

/** The address of somebody else, in the token as it was signed. */
function changed(good: string): string {
  const [header, payload, signature] = good.split('.')
  const claims = JSON.parse(Buffer.from(payload!, 'base64url').toString())
  const altered = Buffer.from(JSON.stringify({ ...claims, sub: 'somebody-else' })).toString('base64url')
  return [header, altered, signature].join('.')
}

export const attacks: Attack<SignOnScene>[] = [...forged, impostor, nested]
