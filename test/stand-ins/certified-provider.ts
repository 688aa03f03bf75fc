// A certified OpenID provider (oidc-provider) on loopback, with a page to sign in on: whoever enters the name of an account
// is taken for it. It believes that it is reached by https under its issuer's name, as behind a proxy.
import Provider from 'oidc-provider'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createPlain, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecure } from 'node:https'
import type { AddressInfo } from 'node:net'

export type CertifiedProvider = {
  issuer: string
  /** For programs that say by headers how they mean to reach it. */
  url: string
  /** For browsers, if there is a certificate. */
  secure_port: number | null
  client_id: string
  client_secret: string
  /** Claims of people, by the name they sign in with, which is their subject. */
  people: Map<string, Record<string, unknown>>
  close(): Promise<void>
}

type Options = { issuer: string; redirect_uris: string[]; tls?: { key: string; cert: string } }

export async function startCertifiedProvider(options: Options): Promise<CertifiedProvider> {
  const { issuer, redirect_uris, tls } = options
  const client_id = `client-${randomBytes(6).toString('hex')}`
  const client_secret = randomBytes(24).toString('base64url')
  const people: CertifiedProvider['people'] = new Map()
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const provider = new Provider(issuer, {
    clients: [{ client_id, client_secret, redirect_uris, id_token_signed_response_alg: 'ES256' }],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256', kid: 'one' }] },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    claims: { email: ['email', 'email_verified'], profile: ['name', 'given_name', 'family_name'] },
    pkce: { required: () => true },
    ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 600, IdToken: 60, Interaction: 600, Session: 600 },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_context: unknown, accountId: string) =>
      people.has(accountId)
        ? { accountId, claims: () => ({ sub: accountId, ...people.get(accountId) }) }
        : undefined,
  })
  provider.proxy = true
  const answer = provider.callback()
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    if (request.url?.startsWith('/interaction/')) void interact(provider, client_id, request, response)
    else answer(request, response)
  }
  const plain = createPlain(serve).listen(0, '127.0.0.1')
  const secure = tls ? createSecure(tls, serve).listen(0, '127.0.0.1') : null
  await once(plain, 'listening')
  if (secure && !secure.listening) await once(secure, 'listening')
  const portOf = (server: typeof plain | typeof secure) =>
    (server?.address() as AddressInfo | undefined)?.port ?? null
  return {
    issuer,
    url: `http://127.0.0.1:${portOf(plain)}`,
    secure_port: portOf(secure),
    client_id,
    client_secret,
    people,
    async close() {
      for (const server of [plain, secure]) {
        server?.closeAllConnections()
        server?.close()
      }
    },
  }
}

/** Signing in and consenting in one. */
async function interact(
  provider: Provider,
  clientId: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { params } = await provider.interactionDetails(request, response)
  if (request.method === 'GET') {
    const page =
      '<!doctype html><form method="post"><label>Name <input name="login" autofocus></label><button>Sign in</button></form>'
    response.writeHead(200, { 'content-type': 'text/html' }).end(page)
    return
  }
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const accountId = new URLSearchParams(Buffer.concat(chunks).toString()).get('login') ?? ''
  if (accountId === '') {
    await provider.interactionFinished(request, response, {
      error: 'access_denied',
      error_description: 'Nobody there',
    })
    return
  }
  const grant = new provider.Grant({ accountId, clientId })
  grant.addOIDCScope(String(params.scope))
  const consent = { grantId: await grant.save() }
  await provider.interactionFinished(request, response, { login: { accountId }, consent })
}
