// posthog.api: the API of this server for the app's own project, or that of another server by keys of the app's.
import { GuestResponse, guestFetch, type Answer } from './fetch.ts'
import { request } from './host.ts'

type Options = {
  host?: string
  projectApiKey?: string
  personalApiKey?: string
  /** The body; in the address for GET. */
  data?: Record<string, unknown>
  headers?: Record<string, string>
}

const ELSEWHERE = 'https://app.posthog.com'

async function call(method: string, path: string, given?: Options | null): Promise<GuestResponse> {
  const { host = ELSEWHERE, personalApiKey, projectApiKey, data, headers } = given ?? {}
  const isElsewhere = personalApiKey !== undefined || projectApiKey !== undefined
  if (isElsewhere && !(personalApiKey && projectApiKey))
    throw new Error('You must specify a personalApiKey if you specify a projectApiKey and vice-versa')
  const inAddress = { ...(isElsewhere ? { token: projectApiKey } : {}), ...(method === 'GET' ? data : {}) }
  const address = withQuery(String(path), inAddress)
  const body = method === 'GET' || data === undefined ? null : JSON.stringify(data)
  if (!isElsewhere) return new GuestResponse(address, (await request('api', method, address, body)) as Answer)
  return guestFetch(`${host.replace(/\/+$/, '')}${address}`, {
    method,
    body,
    headers: { ...headers, authorization: `Bearer ${personalApiKey}`, 'content-type': 'application/json' },
  })
}

function withQuery(path: string, values: Record<string, unknown>): string {
  const pairs = Object.entries(values).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
  if (pairs.length === 0) return path
  return `${path}${path.includes('?') ? '&' : '?'}${pairs.join('&')}`
}

export const api = {
  get: (path: string, options?: Options) => call('GET', path, options),
  post: (path: string, options?: Options) => call('POST', path, options),
  put: (path: string, options?: Options) => call('PUT', path, options),
  patch: (path: string, options?: Options) => call('PATCH', path, options),
  delete: (path: string, options?: Options) => call('DELETE', path, options),
}
