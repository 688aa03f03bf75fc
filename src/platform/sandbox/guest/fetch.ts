// fetch, and the answer it gives.
import { GuestBuffer } from './buffer.ts'
import { decodeBase64, fromBase64, toBase64, toBytes } from './bytes.ts'
import { request } from './host.ts'
import { GuestURLSearchParams } from './url.ts'

type Options = { method?: string; headers?: unknown; body?: unknown }
export type Answer = { status: number; status_text: string; headers: Record<string, string>; body: string }

export async function guestFetch(resource: unknown, options: Options = {}): Promise<GuestResponse> {
  const headers = new GuestHeaders(options.headers)
  const { body } = options
  if (body instanceof GuestURLSearchParams && !headers.has('content-type')) {
    headers.set('content-type', 'application/x-www-form-urlencoded;charset=UTF-8')
  }
  const url = String(resource)
  const answer = await request(
    'fetch',
    url,
    String(options.method ?? 'GET').toUpperCase(),
    Object.fromEntries(headers),
    body === undefined || body === null ? null : toBase64(bodyBytes(body)),
  ).catch((error: Error) => {
    throw new FetchError(error.message)
  })
  return new GuestResponse(url, answer as Answer)
}

/** By this name apps of node-fetch tell a failed request from their own faults. */
export class FetchError extends Error {
  readonly type = 'system'

  constructor(message: string) {
    super(message)
    this.name = 'FetchError'
  }
}

function bodyBytes(body: unknown): Uint8Array {
  const isBinary = body instanceof ArrayBuffer || ArrayBuffer.isView(body)
  return toBytes(isBinary ? body : String(body))
}

export class GuestHeaders {
  readonly #fields = new Map<string, string>()

  constructor(from: unknown = {}) {
    const pairs = (Symbol.iterator in Object(from) ? from : Object.entries(from ?? {})) as Iterable<
      [string, unknown]
    >
    for (const [name, value] of pairs) this.set(name, value)
  }
  get(name: string): string | null {
    return this.#fields.get(String(name).toLowerCase()) ?? null
  }
  has(name: string): boolean {
    return this.#fields.has(String(name).toLowerCase())
  }
  set(name: string, value: unknown): void {
    this.#fields.set(String(name).toLowerCase(), String(value))
  }
  delete(name: string): void {
    this.#fields.delete(String(name).toLowerCase())
  }
  forEach(visit: (value: string, name: string) => void): void {
    this.#fields.forEach((value, name) => visit(value, name))
  }
  entries() {
    return this.#fields.entries()
  }
  keys() {
    return this.#fields.keys()
  }
  values() {
    return this.#fields.values()
  }
  [Symbol.iterator]() {
    return this.#fields.entries()
  }
}

export class GuestResponse {
  readonly status: number
  readonly statusText: string
  readonly ok: boolean
  readonly headers: GuestHeaders
  readonly #body: string

  constructor(
    readonly url: string,
    answer: Answer,
  ) {
    this.status = answer.status
    this.statusText = answer.status_text
    this.ok = answer.status >= 200 && answer.status < 300
    this.headers = new GuestHeaders(answer.headers)
    this.#body = answer.body
  }
  async text(): Promise<string> {
    return decodeBase64(this.#body)
  }
  async json(): Promise<unknown> {
    return JSON.parse(await this.text())
  }
  async arrayBuffer(): Promise<ArrayBufferLike> {
    return fromBase64(this.#body).buffer
  }
  async buffer(): Promise<GuestBuffer> {
    return GuestBuffer.from(this.#body, 'base64')
  }
}
