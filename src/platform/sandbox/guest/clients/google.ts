// Calls to Google's APIs in the name of a service account.
import { kit } from './kit.ts'

export type Credentials = {
  client_email?: string
  private_key?: string
  private_key_id?: string
  project_id?: string
  token_uri?: string
}
export type GoogleOptions = { projectId?: string; credentials?: Credentials; apiEndpoint?: string }
type Call = { method?: string; json?: unknown; body?: Uint8Array; content_type?: string }

const TOKEN_URI = 'https://oauth2.googleapis.com/token'
const LIFETIME_S = 3600
/** A token is asked for anew this long before it ends. */
const MARGIN_MS = 300_000
/** As the numbers of gRPC, which apps look for in messages. */
const GRPC_CODES: Record<string, number> = { NOT_FOUND: 5, ALREADY_EXISTS: 6, PERMISSION_DENIED: 7 }

export class ApiError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly errors: unknown[],
    /** Google's word for what went wrong, such as `NOT_FOUND`. */
    readonly status: string,
  ) {
    super(message)
    this.name = 'ApiError'
  }
}

export class GoogleClient {
  readonly project: string
  readonly #home: string
  #token: { text: Promise<string>; until: number } | null = null

  constructor(
    private readonly options: GoogleOptions = {},
    home: string,
    private readonly scope: string,
  ) {
    this.project = options.projectId ?? options.credentials?.project_id ?? ''
    const endpoint = options.apiEndpoint ?? home
    this.#home = (endpoint.includes('://') ? endpoint : `https://${endpoint}`).replace(/\/$/, '')
  }

  async call<T>(path: string, { method = 'GET', json, body, content_type }: Call = {}): Promise<T> {
    const answer = await kit.fetch(`${this.#home}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${await this.#bearer()}`,
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...(content_type === undefined ? {} : { 'content-type': content_type }),
      },
      body: json === undefined ? body : JSON.stringify(json),
    })
    const text = await answer.text()
    if (!answer.ok) throw readError(answer.status, text)
    return (text === '' ? null : JSON.parse(text)) as T
  }

  #bearer(): Promise<string> {
    if (this.#token && this.#token.until > Date.now()) return this.#token.text
    const token = { text: this.#askForToken(), until: Date.now() + LIFETIME_S * 1000 - MARGIN_MS }
    this.#token = token
    token.text.catch(() => {
      if (this.#token === token) this.#token = null
    })
    return token.text
  }

  async #askForToken(): Promise<string> {
    const { client_email, private_key, private_key_id, token_uri } = this.options.credentials ?? {}
    if (!client_email || !private_key) throw new Error('The credentials have no client_email or private_key.')
    const aud = token_uri ?? TOKEN_URI
    const iat = Math.floor(Date.now() / 1000)
    const header = { alg: 'RS256', typ: 'JWT', kid: private_key_id }
    const claims = { iss: client_email, scope: this.scope, aud, iat, exp: iat + LIFETIME_S }
    const signed = [header, claims].map((part) => encode(JSON.stringify(part))).join('.')
    const signature = kit.crypto.createSign('RSA-SHA256').update(signed).sign(private_key) as Uint8Array
    const answer = await kit.fetch(aud, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `grant_type=${encodeURIComponent('urn:ietf:params:oauth:grant-type:jwt-bearer')}&assertion=${signed}.${encode(signature)}`,
    })
    const text = await answer.text()
    if (!answer.ok) throw new ApiError(answer.status, `Google gave no token: ${text.slice(0, 500)}`, [], '')
    return (JSON.parse(text) as { access_token: string }).access_token
  }
}

const encode = (data: string | Uint8Array) => kit.Buffer.from(data).toString('base64url')

function readError(status: number, text: string): ApiError {
  try {
    const { error } = JSON.parse(text) as {
      error: { code?: number; message?: string; errors?: unknown[]; status?: string }
    }
    return new ApiError(error.code ?? status, error.message ?? text, error.errors ?? [], error.status ?? '')
  } catch {
    return new ApiError(status, text.slice(0, 1_000) || `HTTP ${status}`, [], '')
  }
}

/** With gRPC's code and word before it, where an app looks for them. */
export function likeGrpc(error: unknown): unknown {
  if (error instanceof ApiError && error.status !== '')
    error.message = `${GRPC_CODES[error.status] ?? 2} ${error.status}: ${error.message}`
  return error
}
