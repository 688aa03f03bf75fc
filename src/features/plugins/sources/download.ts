// Calls to the services that keep code: under one time limit, with redirects only among hosts of the same service.
import { parseBounded } from '../../../lib/json-bounds.ts'
import { OutboundFailed, OutboundRefused } from '../../../platform/outbound/errors.ts'
import type { OutboundAnswer } from '../../../platform/outbound/call.ts'
import type { Outbound } from '../../../platform/outbound/outbound.ts'
import { badSource, sourceUnavailable } from './faults.ts'
import type { Provider } from './source-url.ts'

const TIME_LIMIT_MS = 15_000
const MAX_REDIRECTS = 3
const MAX_ARCHIVE_BYTES = 20 * 1024 * 1024
const MAX_JSON_BYTES = 1024 * 1024
/** Authors of packages decide what is in some of the answers. */
const JSON_BOUNDS = { depth: 64, values: 100_000 }

const SERVICES: Record<Provider, { name: string; hosts: ReadonlySet<string> }> = {
  github: { name: 'GitHub', hosts: new Set(['api.github.com', 'github.com', 'codeload.github.com']) },
  gitlab: { name: 'GitLab', hosts: new Set(['gitlab.com']) },
  npm: { name: 'npm', hosts: new Set(['registry.npmjs.org']) },
}

const REDIRECTS = new Set([301, 302, 303, 307, 308])

export type Download = {
  json(url: string): Promise<unknown>
  archive(url: string): Promise<Buffer>
}

/** `authorization` goes to the origin that is asked first and nowhere else. */
export function openDownload(
  outbound: Outbound,
  provider: Provider,
  authorize: (host: string) => string | null,
  time_limit_ms = TIME_LIMIT_MS,
): Download {
  const { name, hosts } = SERVICES[provider]
  const deadline = Date.now() + time_limit_ms

  const get = async (address: string, max_bytes: number): Promise<Buffer> => {
    let url = new URL(address)
    const first = url.origin
    for (let redirects = 0; ; redirects += 1) {
      const authorization = url.origin === first ? authorize(url.host) : null
      const answer = await outbound
        .fetch(url.href, {
          headers: { accept: '*/*', ...(authorization === null ? {} : { authorization }) },
          max_bytes,
          timeout_ms: Math.max(1, deadline - Date.now()),
        })
        .catch((error: unknown) => {
          throw explain(error, name)
        })
      if (!REDIRECTS.has(answer.status)) return bodyOf(answer, name)
      if (redirects === MAX_REDIRECTS) throw badSource(`${name} sends us from one place to the next.`)
      url = redirectTarget(answer, url, hosts, name)
    }
  }

  return {
    archive: (url) => get(url, MAX_ARCHIVE_BYTES),
    async json(url) {
      const body = await get(url, MAX_JSON_BYTES)
      try {
        return parseBounded(body.toString(), JSON_BOUNDS)
      } catch {
        throw sourceUnavailable(`${name} gave an answer that cannot be read.`)
      }
    },
  }
}

function redirectTarget(answer: OutboundAnswer, from: URL, hosts: ReadonlySet<string>, name: string): URL {
  const location = answer.headers.location ?? ''
  const url = URL.canParse(location, from.href) ? new URL(location, from) : null
  // `host` has the port too, if it is not the usual one.
  if (url?.protocol !== 'https:' || !hosts.has(url.host))
    throw badSource(`${name} sends us to another place.`)
  return url
}

function bodyOf({ status, headers, body }: OutboundAnswer, name: string): Buffer {
  if (status === 200) return body
  if (isRateLimited(status, headers)) {
    throw sourceUnavailable(`${name} wants us to ask less often: try again later.`, waitOf(headers))
  }
  if (status >= 500 || status === 408)
    throw sourceUnavailable(`${name} has a fault of its own: try again later.`)
  if (status === 401 || status === 403) throw badSource(`${name} does not accept the token, or not for this.`)
  throw badSource(`${name} knows nothing at this address, or keeps it private: check it, and its token.`)
}

function isRateLimited(status: number, headers: Record<string, string>): boolean {
  if (status === 429) return true
  return status === 403 && (headers['x-ratelimit-remaining'] === '0' || headers['retry-after'] !== undefined)
}

function waitOf(headers: Record<string, string>): number | undefined {
  const wait_s = Number(headers['retry-after'] ?? NaN)
  if (Number.isFinite(wait_s)) return wait_s
  const reset_s = Number(headers['x-ratelimit-reset'] ?? headers['ratelimit-reset'] ?? NaN)
  return Number.isFinite(reset_s) ? reset_s - Date.now() / 1000 : undefined
}

function explain(error: unknown, name: string): unknown {
  if (error instanceof OutboundFailed) {
    if (error.failure === 'size_limit')
      return badSource(`What ${name} has at this address is larger than 20 MB.`)
    if (error.failure === 'time_limit') return sourceUnavailable(`${name} took too long: try again later.`)
    return sourceUnavailable(`${name} cannot be reached: try again later.`)
  }
  if (error instanceof OutboundRefused)
    return sourceUnavailable(`${name} cannot be reached: try again later.`)
  return error
}
