// Check 2: who is calling. A key beats the session cookie; only the first key found is tried.
import type { Services } from '../services.ts'
import type { Access } from './access.ts'
import type { Caller } from './caller.ts'
import { denied, unauthenticated } from './errors.ts'

export type Credentials = {
  authorization: string | undefined
  /** `personal_api_key` of the body; read only when no header brings a key. */
  bodyKey(): Promise<unknown>
  queryKey: unknown
  cookie: string | undefined
  ip: string
  /** Counts the guess, and throws when there were too many. */
  onWrongKey(): Promise<void>
}

/** Null when nothing was presented, or only a cookie that no longer counts. */
export async function identify(
  services: Services,
  access: Access,
  given: Credentials,
  now: Date,
): Promise<Caller | null> {
  const key = bearerKey(given.authorization) ?? (await given.bodyKey()) ?? given.queryKey
  if (key !== undefined) {
    const caller = typeof key === 'string' ? await access.findCallerByKey(services.db, key.trim(), now) : null
    if (caller) return caller
    await given.onWrongKey()
    throw unauthenticated('authentication_failed', isProjectToken(key) ? PROJECT_TOKEN : undefined)
  }
  const token = sessionToken(given.cookie)
  return token === undefined ? null : access.findCallerBySession(services, token, given.ip, now)
}

const PROJECT_TOKEN =
  'This is the token of a project, which only sends events. Send a personal API key: it starts with phx_.'

const isProjectToken = (key: unknown) => typeof key === 'string' && key.trim().startsWith('phc_')

function bearerKey(header: string | undefined): string | undefined {
  return /^\s*bearer(?:\s+(.*))?$/i
    .exec(header ?? '')
    ?.slice(1)
    .map((key) => key ?? '')[0]
}

export function sessionToken(cookie: string | undefined): string | undefined {
  return /(?:^|;\s*)sessionid=([^;\s]+)/.exec(cookie ?? '')?.[1]
}

type WriteFacts = {
  origin: string | undefined
  fetch_site: string | undefined
  own_origins: readonly string[]
}

const OWN_SITE = ['same-origin', 'none']

/** A browser on another site may carry our cookie along, but it always says where it stands. */
export function assertSameOrigin({ origin, fetch_site, own_origins }: WriteFacts): void {
  const isForeignOrigin = origin !== undefined && !own_origins.includes(origin)
  const isForeignSite = fetch_site !== undefined && !OWN_SITE.includes(fetch_site)
  if (isForeignOrigin || isForeignSite) throw denied('Changes from another site are not accepted.')
}

/** A header given twice is no header we can trust: only the first counts. */
export function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}
