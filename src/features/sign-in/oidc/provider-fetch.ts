// How providers are called: through the gate, within limits of size and time, without following redirects.
import type { CustomFetch } from 'openid-client'
import type { Outbound } from '../../../platform/outbound/outbound.ts'

/** For all calls of one sign-in together: a person waits for them. */
const SIGN_IN_LIMIT_MS = 15_000
const CALL_LIMIT_MS = 5_000
/** Google's and Microsoft's key sets have less than 20 KB. */
const MAX_BYTES = 256 * 1024
const NO_BODY = [204, 205, 304]

/** For one sign-in: `signal` is aborted when its person leaves. */
export function providerFetch(outbound: Outbound, signal: AbortSignal | undefined): CustomFetch {
  const limit = AbortSignal.timeout(SIGN_IN_LIMIT_MS)
  const stop = signal ? AbortSignal.any([limit, signal]) : limit
  return async (url, { method, headers, body }) => {
    const answer = await outbound.fetch(url, {
      method: method as 'GET' | 'POST',
      headers,
      ...(body instanceof URLSearchParams ? { body: body.toString() } : {}),
      max_bytes: MAX_BYTES,
      timeout_ms: CALL_LIMIT_MS,
      signal: stop,
    })
    return asResponse(answer)
  }
}

/** Only the type is kept of the headers: others may hold what `Headers` does not take, and nobody reads them. */
function asResponse({ status, headers, body }: Awaited<ReturnType<Outbound['fetch']>>): Response {
  const type = headers['content-type'] ?? ''
  return new Response(NO_BODY.includes(status) ? null : new Uint8Array(body), {
    status: status >= 200 && status <= 599 ? status : 502,
    headers: /^[\x20-\x7e]+$/.test(type) ? { 'content-type': type } : {},
  })
}
