// GitHub and GitLab on loopback as far as signing in goes: authorization codes, and the few calls of their APIs that say
// who somebody is. Strict about them, and with the manners of each: GitHub refuses a code with status 200.
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Json = Record<string, unknown>
type Reply = { status: number; body: unknown }

/** `user` and `emails` as the APIs show them; only GitHub has a list of addresses. */
export type Account = { user: Json; emails?: Json[] }

export type CodeHostAccounts = {
  url: string
  client_id: string
  client_secret: string
  /** In place of its own answer, by path. */
  answers: Map<string, (response: ServerResponse) => void>
  /** Paths that were asked for, with the authorization that came along. */
  requests: { path: string; authorization: string | undefined }[]
  /** Somebody signs in at the address that we sent them to: the address that they come back to. */
  signIn(url: string, account: Account): URL
  close(): Promise<void>
}

type Manners = {
  authorize: string
  scope: string
  tokens: string
  /** What a code that is not good gets. */
  refused: Reply
  api(path: string, account: Account): unknown
}

const GITHUB: Manners = {
  authorize: 'https://github.com/login/oauth/authorize',
  scope: 'user:email',
  tokens: '/login/oauth/access_token',
  refused: {
    status: 200,
    body: { error: 'bad_verification_code', error_description: 'The code passed is incorrect or expired.' },
  },
  api: (path, { user, emails }) => ({ '/user': user, '/user/emails': emails })[path],
}

const GITLAB: Manners = {
  authorize: 'https://gitlab.com/oauth/authorize',
  scope: 'read_user',
  tokens: '/oauth/token',
  refused: { status: 400, body: { error: 'invalid_grant', error_description: 'The code is invalid.' } },
  api: (path, { user }) => ({ '/api/v4/user': user })[path],
}

export const startGitHubAccounts = () => start(GITHUB)
export const startGitLabAccounts = () => start(GITLAB)

type Grant = { account: Account; challenge: string; redirect_uri: string }

async function start(manners: Manners): Promise<CodeHostAccounts> {
  const grants = new Map<string, Grant>()
  const tokens = new Map<string, Account>()
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const path = request.url ?? ''
    const { authorization, accept } = request.headers
    host.requests.push({ path, authorization })
    const scripted = host.answers.get(path)
    if (scripted) return scripted(response)
    const form = new URLSearchParams(Buffer.concat(chunks).toString())
    const { status, body } =
      path === manners.tokens
        ? exchange(form, accept ?? '')
        : ask(path, tokens.get(authorization?.replace(/^Bearer /, '') ?? ''))
    response
      .writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
      .end(JSON.stringify(body))
  }
  const exchange = (form: URLSearchParams, accept: string): Reply => {
    const grant = grants.get(form.get('code') ?? '')
    grants.delete(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const isRight =
      accept.includes('application/json') &&
      form.get('grant_type') === 'authorization_code' &&
      form.get('client_id') === host.client_id &&
      form.get('client_secret') === host.client_secret &&
      form.get('redirect_uri') === grant?.redirect_uri &&
      challenge === grant?.challenge
    if (!grant || !isRight) return manners.refused
    const access_token = `gho_${randomBytes(16).toString('hex')}`
    tokens.set(access_token, grant.account)
    return { status: 200, body: { access_token, token_type: 'bearer', scope: manners.scope } }
  }
  const ask = (path: string, account: Account | undefined): Reply => {
    if (!account) return { status: 401, body: { message: 'Bad credentials' } }
    const body = manners.api(path, account)
    return body === undefined ? { status: 404, body: { message: 'Not Found' } } : { status: 200, body }
  }
  const server = createServer(
    (request, response) => void serve(request, response).catch(() => response.destroy()),
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const host: CodeHostAccounts = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    client_id: `Iv1.${randomBytes(8).toString('hex')}`,
    client_secret: randomBytes(20).toString('hex'),
    answers: new Map(),
    requests: [],
    signIn(url, account) {
      const asked = new URL(url)
      const get = (name: string) => asked.searchParams.get(name) ?? ''
      const isRight =
        `${asked.origin}${asked.pathname}` === manners.authorize &&
        get('client_id') === host.client_id &&
        get('response_type') === 'code' &&
        get('scope') === manners.scope &&
        get('code_challenge_method') === 'S256' &&
        get('state').length >= 16
      if (!isRight) throw new Error(`no request of OAuth: ${url}`)
      const code = randomBytes(10).toString('hex')
      const redirect_uri = get('redirect_uri')
      grants.set(code, { account, challenge: get('code_challenge'), redirect_uri })
      return new URL(`${redirect_uri}?code=${code}&state=${get('state')}`)
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return host
}
