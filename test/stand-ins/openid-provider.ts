// An OpenID provider on loopback that is strict with its clients, and sends whatever a test wants it to send: the part of
// the identity provider that was taken over, or set up by an attacker.
import { createHash, generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createPlain, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecure } from 'node:https'
import type { AddressInfo } from 'node:net'
import { makeJwt } from './jwt.ts'

type Json = Record<string, unknown>

/** How the tokens of the next sign-in differ from good ones. */
export type Forgery = {
  header?: Json
  claims?: Json | ((claims: Json) => unknown)
  /** Null: no signature. A text: HS256 with it. */
  key?: KeyObject | string | null
  /** In place of the ID token, made from it. */
  id_token?(good: string): unknown
  /** Besides what the token endpoint sends, or in place of it. */
  tokens?: Json
}

export type Person = Json & { sub: string }

type Grant = { person: Person; nonce: string; challenge: string; redirect_uri: string; forgery: Forgery }

export type OpenidProvider = {
  issuer: string
  client_id: string
  client_secret: string
  /** Its private key, and the public part that is in its key set. */
  key: KeyObject
  jwk: Json
  /** Where it listens. */
  port: number
  now(): Date
  /** Changes what it publishes about itself. */
  metadata: Json
  keys: Json[]
  /** In place of its own answer, by path. */
  answers: Map<string, (response: ServerResponse) => void>
  /** Paths that were asked for, with what was sent. */
  requests: { path: string; headers: IncomingMessage['headers']; body: string }[]
  /** What userinfo says besides `sub`. */
  userinfo: Json
  /** Somebody signs in at the address that we sent them to: the address that they come back to. */
  signIn(url: string, person: Person, forgery?: Forgery): URL
  close(): Promise<void>
}

type Options = {
  issuer?: string
  host?: string
  tls?: { key: string; cert: string }
  /** RSA: making one takes a while. */
  key_pair?: { publicKey: KeyObject; privateKey: KeyObject }
  /** Its clock. */
  now?: () => Date
}

export async function startOpenidProvider(options: Options = {}): Promise<OpenidProvider> {
  const { host = '127.0.0.1', tls, now = () => new Date() } = options
  const { publicKey, privateKey } = options.key_pair ?? generateKeyPairSync('rsa', { modulusLength: 2048 })
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'first', use: 'sig', alg: 'RS256' }
  const grants = new Map<string, Grant>()
  const serve = (request: IncomingMessage, response: ServerResponse) =>
    void answer(provider, grants, request, response).catch(() => response.destroy())
  const server = (tls ? createSecure(tls, serve) : createPlain(serve)).listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const issuer = options.issuer ?? `https://idp.example:${port}`
  const provider: OpenidProvider = {
    issuer,
    client_id: `client-${randomBytes(6).toString('hex')}`,
    client_secret: randomBytes(24).toString('base64url'),
    key: privateKey,
    jwk,
    port,
    now,
    metadata: {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/keys`,
      userinfo_endpoint: `${issuer}/userinfo`,
      id_token_signing_alg_values_supported: ['RS256'],
      token_endpoint_auth_methods_supported: ['client_secret_basic'],
      authorization_response_iss_parameter_supported: true,
    },
    keys: [jwk],
    answers: new Map(),
    requests: [],
    userinfo: {},
    signIn: (url, person, forgery = {}) => signIn(provider, grants, url, person, forgery),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return provider
}

function signIn(
  provider: OpenidProvider,
  grants: Map<string, Grant>,
  url: string,
  person: Person,
  forgery: Forgery,
): URL {
  const asked = new URL(url)
  const get = (name: string) => asked.searchParams.get(name) ?? ''
  const isRight =
    `${asked.origin}${asked.pathname}` === provider.metadata.authorization_endpoint &&
    get('client_id') === provider.client_id &&
    get('response_type') === 'code' &&
    get('code_challenge_method') === 'S256' &&
    get('scope').split(' ').includes('openid') &&
    ['state', 'nonce', 'code_challenge', 'redirect_uri'].every((name) => get(name).length >= 16)
  if (!isRight) throw new Error(`no request of OpenID Connect: ${url}`)
  const code = randomBytes(16).toString('base64url')
  const redirect_uri = get('redirect_uri')
  grants.set(code, { person, nonce: get('nonce'), challenge: get('code_challenge'), redirect_uri, forgery })
  const back = new URL(redirect_uri)
  back.searchParams.set('code', code)
  back.searchParams.set('state', get('state'))
  if (provider.metadata.authorization_response_iss_parameter_supported) {
    back.searchParams.set('iss', provider.issuer)
  }
  return back
}

async function answer(
  provider: OpenidProvider,
  grants: Map<string, Grant>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks).toString()
  // Below the issuer's own path, if it has one.
  const path = (request.url ?? '').replace(new URL(provider.issuer).pathname.replace(/\/$/, ''), '')
  provider.requests.push({ path, headers: request.headers, body })
  const scripted = provider.answers.get(path)
  if (scripted) return scripted(response)
  const [status, json] = reply(provider, grants, path, request.headers.authorization ?? '', body)
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
}

function reply(
  provider: OpenidProvider,
  grants: Map<string, Grant>,
  path: string,
  authorization: string,
  body: string,
): [number, unknown] {
  switch (path) {
    case '/.well-known/openid-configuration':
      return [200, provider.metadata]
    case '/keys':
      return [200, { keys: provider.keys }]
    case '/token':
      return exchange(provider, grants, authorization, new URLSearchParams(body))
    case '/userinfo': {
      const sub = /^Bearer access-(.*)$/.exec(authorization)?.[1]
      return sub === undefined ? [401, { error: 'invalid_token' }] : [200, { sub, ...provider.userinfo }]
    }
    default:
      return [404, { error: 'not_found' }]
  }
}

/** A code is good once, for the client, address and verifier that it was made for. */
function exchange(
  provider: OpenidProvider,
  grants: Map<string, Grant>,
  authorization: string,
  form: URLSearchParams,
): [number, unknown] {
  const login = Buffer.from(`${provider.client_id}:${encodeURIComponent(provider.client_secret)}`)
  const given = Buffer.from(authorization.replace(/^Basic /, ''), 'base64').toString()
  if (decodeURIComponent(given) !== decodeURIComponent(login.toString()))
    return [401, { error: 'invalid_client' }]
  const code = form.get('code') ?? ''
  const grant = grants.get(code)
  grants.delete(code)
  const challenge = createHash('sha256')
    .update(form.get('code_verifier') ?? '')
    .digest('base64url')
  const isRight =
    form.get('grant_type') === 'authorization_code' &&
    grant?.redirect_uri === form.get('redirect_uri') &&
    grant.challenge === challenge
  if (!grant || !isRight) return [400, { error: 'invalid_grant', error_description: 'unknown code' }]
  return [200, tokensFor(provider, grant)]
}

function tokensFor(provider: OpenidProvider, { person, nonce, forgery }: Grant): Json {
  const now = Math.floor(provider.now().getTime() / 1000)
  const { sub, ...rest } = person
  const access_token = `access-${sub}`
  const at_hash = createHash('sha256').update(access_token).digest().subarray(0, 16).toString('base64url')
  const good = {
    iss: provider.issuer,
    aud: provider.client_id,
    iat: now,
    exp: now + 300,
    sub,
    nonce,
    at_hash,
    ...rest,
  }
  const { claims, key = provider.key } = forgery
  const header = { alg: 'RS256', kid: 'first', typ: 'JWT', ...forgery.header }
  const said = typeof claims === 'function' ? claims(good) : { ...good, ...claims }
  const id_token = makeJwt(header, said, key)
  return {
    access_token,
    token_type: 'Bearer',
    expires_in: 300,
    id_token: forgery.id_token?.(id_token) ?? id_token,
    ...forgery.tokens,
  }
}
