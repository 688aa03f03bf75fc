// The way out: a browser is sent to its provider, and an attempt waits for its return.
import { isUuid } from '../../../lib/uuid.ts'
import type { Db } from '../../../platform/db/database.ts'
import { email as emailField } from '../../../platform/http/fields.ts'
import { seeOther, type RequestFacts } from '../../../platform/http/route.ts'
import type { Services } from '../../../platform/services.ts'
import { findDomainById, findVerifiedDomainOf } from '../../domains/queries.ts'
import type { DomainRow } from '../../domains/schema.ts'
import { newState, openAttempt, type Purpose } from './attempts.ts'
import { begunAt } from './begun-here.ts'
import { refuse } from './finish.ts'
import { isTestToken } from './test-token.ts'
import type { Way } from './way.ts'

type Visit = { services: Services; db: Db; request: RequestFacts; now: Date }

/** What the address of a start page says. */
type Asked = {
  domain?: string | undefined
  email?: string | undefined
  next?: string | undefined
  test?: string | undefined
}

/** For a way that the instance offers to everybody. */
export function startSignIn(visit: Visit, way: Way, { next }: Pick<Asked, 'next'>) {
  return start(visit, way, null, 'sign-in', next)
}

/** For a way that each domain sets up: the domain by its id, or by an address in it. A test may come before its proof. */
export async function startDomainSignIn(visit: Visit, way: Way, asked: Asked) {
  const { services, db, now } = visit
  const domain = await findAsked(db, asked)
  const isTest =
    domain !== undefined && asked.test !== undefined && isTestToken(services, domain, asked.test, now)
  if (!domain || (!isTest && domain.verified_at === null))
    return refuse(
      visit,
      { provider: way.provider, domain_id: null, purpose: 'sign-in' },
      'provider_not_set_up',
    )
  return start(visit, way, domain, isTest ? 'test' : 'sign-in', asked.next)
}

async function findAsked(db: Db, { domain, email }: Asked): Promise<DomainRow | undefined> {
  if (domain !== undefined) return isUuid(domain) ? findDomainById(db, domain) : undefined
  const address = emailField().safeParse(email)
  return address.success ? findVerifiedDomainOf(db, address.data) : undefined
}

async function start(
  visit: Visit,
  way: Way,
  domain: DomainRow | null,
  purpose: Purpose,
  next: string | undefined,
) {
  const { services, db, now, request } = visit
  const about = { provider: way.provider, domain_id: domain?.id ?? null, purpose }
  const state = newState()
  const begun = await way.begin({ services, db, domain, now, signal: request.signal }, state)
  if ('refused' in begun) return refuse(visit, about, begun.refused, { checks: begun.checks })
  const kept = { ...begun.kept, ...begunAt(services, request) }
  const cookie = await openAttempt(visit, { ...about, next: pathOf(services, next) }, state, kept)
  return { ...seeOther(begun.url), cookie }
}

/** Only to a path of ours: whoever made the link is not to lead people elsewhere once they have signed in. */
export function pathOf({ settings }: Services, next: string | undefined): string {
  if (next === undefined || !/^\/(?![/\\])[^\p{Cc}\\]*$/u.test(next) || next.length > 2000) return '/'
  if (!URL.canParse(next, settings.site_url)) return '/'
  const url = new URL(next, settings.site_url)
  return url.origin === new URL(settings.site_url).origin ? url.pathname + url.search + url.hash : '/'
}
