// One HTTP call to a user's address: limits, redirects, and errors that give nothing away. The dispatcher passed in
// decides what may be dialled, on every hop.
import type { Dispatcher } from 'undici'
import { OutboundFailed, OutboundNotHttp, OutboundRefused } from './errors.ts'

export type OutboundInit = {
  method?: Dispatcher.HttpMethod
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** Limit for the answer's body; 1 MiB by default. */
  max_bytes?: number
  /** From the first lookup to the last byte, over all hops; 10 s by default. */
  timeout_ms?: number
  /** How many redirects to follow. With 0, the default, a 3xx answer is returned as it is. */
  redirects?: number
  signal?: AbortSignal
}

export type OutboundAnswer = { status: number; headers: Record<string, string>; body: Buffer }

type Sent = { method: Dispatcher.HttpMethod; headers: Map<string, string>; body: string | Uint8Array | null }

const DEFAULT_MAX_BYTES = 1024 * 1024
const DEFAULT_TIMEOUT_MS = 10_000

/**
 * Headers about the connection, which is ours. `host` would also choose the name that the certificate is checked for.
 */
const CONNECTION_HEADERS = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Headers that may go to another origin. An allowlist: keys travel in `x-api-key` and a hundred other headers. */
const HARMLESS_HEADERS = new Set(['accept', 'accept-language', 'content-type', 'user-agent'])

const REDIRECTS = new Set([301, 302, 303, 307, 308])

export async function call(
  dispatcher: Dispatcher,
  target: string,
  init: OutboundInit,
): Promise<OutboundAnswer> {
  const { redirects = 0, max_bytes = DEFAULT_MAX_BYTES } = init
  let url = parseHttpUrl(target)
  let sent = firstRequest(url, init)
  const limit = startLimit(init.timeout_ms ?? DEFAULT_TIMEOUT_MS, init.signal)
  try {
    for (let hops_left = redirects; ; hops_left -= 1) {
      const answer = await limit.within(send(dispatcher, url, sent, limit.signal))
      const next = redirects > 0 ? redirectTarget(answer, url) : null
      if (!next) return await readAnswer(answer, max_bytes)
      await answer.body.dump()
      if (hops_left === 0) throw new OutboundFailed('redirect_limit')
      sent = requestAfterRedirect(sent, answer.statusCode, url, next)
      url = next
    }
  } catch (error) {
    throw limit.explain(error)
  } finally {
    limit.end()
  }
}

/** Node's own error for a bad URL carries the URL, hence the test before parsing. */
function parseHttpUrl(text: string, base?: URL): URL {
  if (!URL.canParse(text, base?.href)) throw new OutboundNotHttp()
  const url = new URL(text, base)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new OutboundNotHttp()
  return url
}

function firstRequest(url: URL, init: OutboundInit): Sent {
  const headers = new Map([['user-agent', 'Longshore']])
  const login = basicLogin(url)
  if (login) headers.set('authorization', login)
  for (const [name, value] of Object.entries(init.headers ?? {})) {
    if (!CONNECTION_HEADERS.has(name.toLowerCase())) headers.set(name.toLowerCase(), value)
  }
  return { method: init.method ?? 'GET', headers, body: init.body ?? null }
}

function basicLogin(url: URL): string | null {
  if (!url.username && !url.password) return null
  try {
    const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
    return `Basic ${Buffer.from(pair).toString('base64')}`
  } catch {
    throw new OutboundNotHttp()
  }
}

function send(dispatcher: Dispatcher, url: URL, sent: Sent, signal: AbortSignal) {
  return dispatcher.request({
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method: sent.method,
    headers: Object.fromEntries(sent.headers),
    body: sent.body,
    signal,
  })
}

function redirectTarget(answer: Dispatcher.ResponseData, from: URL): URL | null {
  const location = answer.headers.location
  if (!REDIRECTS.has(answer.statusCode) || location === undefined) return null
  return parseHttpUrl(String(location), from)
}

function requestAfterRedirect(sent: Sent, status: number, from: URL, to: URL): Sent {
  const headers = new Map(sent.headers)
  if (from.origin !== to.origin) {
    for (const name of headers.keys()) if (!HARMLESS_HEADERS.has(name)) headers.delete(name)
  }
  const becomesGet = status === 303 ? sent.method !== 'HEAD' : status < 303 && sent.method === 'POST'
  if (!becomesGet) return { ...sent, headers }
  headers.delete('content-type')
  return { method: 'GET', headers, body: null }
}

async function readAnswer(answer: Dispatcher.ResponseData, max_bytes: number): Promise<OutboundAnswer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    bytes += chunk.length
    // Leaving the loop closes the connection, so the rest is not even received.
    if (bytes > max_bytes) throw new OutboundFailed('size_limit')
    chunks.push(chunk)
  }
  return { status: answer.statusCode, headers: flatHeaders(answer.headers), body: Buffer.concat(chunks) }
}

function flatHeaders(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  // The names are the other side's: without a prototype, `__proto__` is a key like any other.
  const flat = Object.create(null) as Record<string, string>
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return flat
}

function startLimit(timeout_ms: number, outer: AbortSignal | undefined) {
  const controller = new AbortController()
  let timed_out = false
  const timer = setTimeout(() => {
    timed_out = true
    controller.abort()
  }, timeout_ms)
  const abort = () => controller.abort()
  outer?.addEventListener('abort', abort)
  if (outer?.aborted) abort()
  return {
    signal: controller.signal,
    /** undici looks at the signal only once it is connected; a slow lookup or connection must not outlast the limit. */
    async within<T>(work: Promise<T>): Promise<T> {
      const reached = new Promise<never>((_resolve, reject) => {
        const stop = () => reject(new Error('stopped'))
        if (controller.signal.aborted) stop()
        else controller.signal.addEventListener('abort', stop, { once: true })
      })
      return await Promise.race([work, reached])
    },
    end() {
      clearTimeout(timer)
      outer?.removeEventListener('abort', abort)
    },
    explain(error: unknown): unknown {
      if (error instanceof OutboundRefused || error instanceof OutboundFailed) return error
      if (timed_out) return new OutboundFailed('time_limit')
      if (outer?.aborted) return outer.reason
      return toFailure(error)
    },
  }
}

/** A new error without the old one as its cause: that one may hold headers or an address. */
function toFailure(error: unknown): OutboundFailed {
  const code = error instanceof Error && 'code' in error ? String(error.code) : null
  const ours = code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED'
  return new OutboundFailed(ours ? 'request' : 'connection', code)
}
