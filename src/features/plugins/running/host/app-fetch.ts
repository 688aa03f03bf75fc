// An app's calls to the outside: through the gate, within limits.
import type { FetchAnswer, FetchRequest } from '../../../../platform/sandbox/sandbox.ts'
import { OutboundFailed, OutboundRefused } from '../../../../platform/outbound/errors.ts'
import type { Outbound } from '../../../../platform/outbound/outbound.ts'
import { HostError } from './host-error.ts'

const TIMEOUT_MS = 10_000
const MAX_ANSWER = 5 * 1024 * 1024
const REDIRECTS = 3
const USER_AGENT = 'Longshore-App'
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
/** Besides those about the connection, which never leave: no cookies, no proxies, and the name is ours. */
const OUR_HEADERS = new Set(['cookie', 'user-agent', 'proxy-authorization', 'proxy-authenticate'])

/** How many at once is the sandbox's affair. */
export async function fetchForApp(
  outbound: Outbound,
  { url, method, headers, body }: FetchRequest,
  signal: AbortSignal,
): Promise<FetchAnswer> {
  const verb = METHODS.find((known) => known === method.toUpperCase())
  if (!verb) throw new HostError('This HTTP method is not known.')
  signal.throwIfAborted()
  const kept = Object.entries(headers).filter(([name]) => !OUR_HEADERS.has(name.toLowerCase()))
  try {
    const answer = await outbound.fetch(url, {
      method: verb,
      headers: { ...Object.fromEntries(kept), 'user-agent': USER_AGENT },
      ...(body === null ? {} : { body: Buffer.from(body, 'base64') }),
      timeout_ms: TIMEOUT_MS,
      max_bytes: MAX_ANSWER,
      redirects: REDIRECTS,
      signal,
    })
    return { status: answer.status, headers: answer.headers, body: answer.body.toString('base64') }
  } catch (error) {
    if (error instanceof OutboundRefused || error instanceof OutboundFailed)
      throw new HostError(error.message)
    throw error
  }
}
