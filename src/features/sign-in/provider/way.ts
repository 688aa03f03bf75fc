// What every way in through a provider has in common: SAML, OpenID Connect, Google, GitHub, GitLab. A way sends the browser
// to its provider and reads what comes back; who may come in by that is decided in one place, come-in.ts.
import type { Db } from '../../../platform/db/database.ts'
import type { Services } from '../../../platform/services.ts'
import type { DomainRow } from '../../domains/schema.ts'
import type { Provider, Vouched } from '../../identities/schema.ts'
import type { RefusalCode } from './refusals.ts'

/** One thing that was looked at; `message` says it in words an admin can act on. */
export type Check = { check: string; is_passed: boolean; message: string }

/** `received`: attributes or claims as the provider sent them, never a token or secret. */
type Reading = { checks: Check[]; received: Record<string, unknown> }

export type Verdict = Reading & ({ vouched: Vouched } | { refused: RefusalCode })

/** `domain` is the verified one whose settings count; null for providers of the whole instance. */
export type WayContext = {
  services: Services
  db: Db
  domain: DomainRow | null
  now: Date
  signal?: AbortSignal | undefined
}

/** What a way keeps with the attempt until the answer comes: nonce, code verifier, id of the request. */
export type Kept = Record<string, string>

export type Way = {
  provider: Provider
  /** Where the browser goes. */
  begin(
    context: WayContext,
    state: string,
  ): Promise<{ url: string; kept: Kept } | { refused: RefusalCode; checks: Check[] }>
  /** Nothing a provider or browser sends makes this throw: it is refused. Faults of ours do throw. */
  read(context: WayContext, kept: Kept, answer: Record<string, string>): Promise<Verdict>
}
