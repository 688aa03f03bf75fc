// The way back: what the provider says is read, decided on, recorded, and the browser is sent on. Everything is checked
// before anything is written, and the session is always a new one.
import { uuid7 } from '../../../lib/uuid.ts'
import type { Db } from '../../../platform/db/database.ts'
import type { Caller } from '../../../platform/http/caller.ts'
import { one } from '../../../platform/http/identify.ts'
import {
  seeOther,
  type RequestFacts,
  type SessionCookie,
  type SmallCookie,
} from '../../../platform/http/route.ts'
import type { Services } from '../../../platform/services.ts'
import { findDomainById } from '../../domains/queries.ts'
import type { DomainRow } from '../../domains/schema.ts'
import { AddressTaken } from '../../users/addresses.ts'
import type { UserRow } from '../../users/schema.ts'
import { hasDevice } from '../../two-factor/totp.ts'
import { closeSession, openPendingSession, openSessionBy } from '../sessions.ts'
import { cookieName, takeAttempt, type Attempt } from './attempts.ts'
import { comeIn, type Decision } from './come-in.ts'
import { openLink } from './links.ts'
import { wasBegunHere } from './begun-here.ts'
import { recordSignIn, type Outcome } from './records.ts'
import { refusedChecks } from './refused-checks.ts'
import type { RefusalCode } from './refusals.ts'
import { isSecondFactorDemanded } from './second-factor.ts'
import type { Check, Verdict, Way } from './way.ts'

export type Returning = {
  services: Services
  db: Db
  caller: Caller | null
  request: RequestFacts
  now: Date
}

type About = Pick<Attempt, 'provider' | 'domain_id' | 'purpose'>
type Found = { checks?: Check[]; received?: Record<string, unknown>; email?: string | null; user_id?: number }

type Answer = {
  status: 303
  body: null
  headers: { location: string }
  session?: SessionCookie
  cookie?: SmallCookie
}

/** `answer` is what the browser brought; of a way whose verdict was kept before, nothing of it counts. */
export async function finishSignIn(
  returning: Returning,
  way: Way,
  state: string | undefined,
  answer: Record<string, string>,
): Promise<Answer> {
  const { services, db, request, now } = returning
  const { provider } = way
  const taken = await takeAttempt(returning, provider, state ?? '', one(request.headers.cookie))
  if ('refused' in taken)
    return refuse(returning, { provider, domain_id: null, purpose: 'sign-in' }, taken.refused)
  const { attempt, kept } = taken
  const cookie = { name: cookieName(state!), value: null, max_age_s: 0 }
  const domain = attempt.domain_id === null ? null : ((await findDomainById(db, attempt.domain_id)) ?? null)
  const isGone = attempt.domain_id !== null && (!domain || isUnproved(domain, attempt))
  if (isGone) return { ...(await refuse(returning, attempt, 'provider_not_set_up')), cookie }
  const context = { services, db, domain, now, signal: request.signal }
  const verdict = taken.verdict ?? (await way.read(context, kept, answer))
  const finished =
    attempt.purpose === 'test'
      ? await showTest(returning, attempt, domain!, verdict)
      : await conclude(returning, attempt, domain, verdict, wasBegunHere(kept) ? returning.caller : null)
  return { ...finished, cookie }
}

/** Domains are tested before they are proved as well. */
function isUnproved({ verified_at }: DomainRow, { purpose }: Attempt): boolean {
  return verified_at === null && purpose !== 'test'
}

/** `asking` is who is signed in, if they began this themselves: what is linked then is theirs by their own wish. */
async function conclude(
  returning: Returning,
  attempt: Attempt,
  domain: DomainRow | null,
  verdict: Verdict,
  asking: Caller | null,
): Promise<Answer> {
  if ('refused' in verdict) return refuse(returning, attempt, verdict.refused, verdict)
  const { vouched } = verdict
  const found = { checks: verdict.checks, received: verdict.received, email: vouched.email }
  const decide = () =>
    returning.db.transaction(async (tx) => {
      const decision = await comeIn({ ...returning, caller: asking }, tx, vouched)
      return 'user' in decision
        ? { decision, session: await enter(returning, tx, attempt, decision.user) }
        : { decision }
    })
  const { decision, session } = await again(decide)
  if ('refused' in decision) {
    const checks = [...found.checks, ...refusedChecks(decision.refused, vouched, domain)]
    return refuse(returning, attempt, decision.refused, { ...found, checks })
  }
  const outcome: Outcome = 'user' in decision ? 'signed_in' : 'link_needed'
  const user = 'user' in decision ? decision.user : decision.link_needed
  await record(returning, attempt, outcome, { ...found, user_id: user.id })
  if (session) return { ...seeOther(session.location), session: session.cookie }
  const link = openLink(returning, vouched, user, attempt.next)
  return seeOther(pageAt('/login', { link, email: user.email, provider: vouched.provider }))
}

/** A fresh session, never the one that was there; a pending one where our own second factor is wanted as well. */
export async function enter(
  { request, caller, now }: Returning,
  tx: Db,
  { provider, domain_id, next }: Pick<Attempt, 'provider' | 'domain_id' | 'next'>,
  user: UserRow,
): Promise<{ cookie: SessionCookie; location: string }> {
  if (caller?.kind === 'session') await closeSession(tx, caller.session.token_hash)
  const proof = { signed_in_by: provider, domain_id }
  if ((await isSecondFactorDemanded(tx, user.id)) && (await hasDevice(tx, user.id))) {
    const cookie = await openPendingSession(tx, user.id, now, proof)
    return { cookie, location: pageAt('/login', { step: 'code', next }) }
  }
  const opening = { user_id: user.id, ...proof, has_second_factor: false }
  return { cookie: await openSessionBy(tx, opening, now, request), location: next }
}

/** Two who come with one new address at once: the one who was later finds the account made. */
async function again<T>(decide: () => Promise<T>): Promise<T> {
  try {
    return await decide()
  } catch (error) {
    if (!(error instanceof AddressTaken)) throw error
    return decide()
  }
}

class Undo extends Error {
  constructor(readonly decision: Decision) {
    super('a test changes nothing')
  }
}

/** The whole way without changing anything, and then what was seen. */
async function showTest(
  returning: Returning,
  attempt: Attempt,
  domain: DomainRow,
  verdict: Verdict,
): Promise<Answer> {
  const decision =
    'refused' in verdict
      ? verdict
      : await returning.db
          .transaction<Decision>(async (tx) => {
            throw new Undo(await comeIn({ ...returning, caller: null }, tx, verdict.vouched))
          })
          .catch((error: unknown) => {
            if (error instanceof Undo) return error.decision
            throw error
          })
  const outcome: Outcome =
    'refused' in decision ? decision.refused : 'user' in decision ? 'signed_in' : 'link_needed'
  const { vouched } = { vouched: null, ...verdict }
  const more = vouched && 'refused' in decision ? refusedChecks(decision.refused, vouched, domain) : []
  const checks = [...verdict.checks, ...more]
  const id = await record(returning, attempt, outcome, { ...verdict, checks, email: vouched?.email ?? null })
  return seeOther(pageAt('/organization', { tab: 'domains', open: domain.id, sign_in: id }))
}

/** A page that says what happened and what to do, with an id that finds the details in the admin's log. */
export async function refuse(
  visit: Pick<Returning, 'services' | 'db' | 'request' | 'now'>,
  about: About,
  code: RefusalCode,
  found: Found = {},
): Promise<Answer> {
  const id = await record(visit, about, code, found)
  if (about.purpose === 'test' && about.domain_id !== null)
    return seeOther(pageAt('/organization', { tab: 'domains', open: about.domain_id, sign_in: id }))
  return seeOther(pageAt('/login', { error_code: code, sign_in: id }))
}

/** A domain's sign-ins are recorded for its admins; all others go to the log of the server. */
async function record(
  { services, db, request, now }: Pick<Returning, 'services' | 'db' | 'request' | 'now'>,
  { provider, domain_id, purpose }: About,
  outcome: Outcome,
  { checks = [], received = {}, email = null, user_id }: Found,
): Promise<string> {
  const about = { provider, domain_id, purpose, outcome, email, user_id: user_id ?? null, ip: request.ip }
  if (domain_id !== null) return recordSignIn(db, { ...about, domain_id, checks, received }, now)
  const id = uuid7(now)
  services.log.info({ sign_in: { id, ...about, checks } }, 'sign-in through a provider')
  return id
}

/** A page of the console. */
function pageAt(path: string, parameters: Record<string, string>): string {
  return `${path}?${new URLSearchParams(parameters).toString()}`
}
