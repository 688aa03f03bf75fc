// Whether a way of signing in may be demanded: an admin must have come in by it lately, so that it does not lock everybody out.
import type { Db } from '../../platform/db/database.ts'
import { wasUsedByAdmin } from '../identities/queries.ts'
import type { Provider } from '../identities/schema.ts'
import type { DomainRow } from './schema.ts'

const WITHIN_MS = 24 * 60 * 60 * 1000

/** By the settings that the provider has now. */
export function isTested(db: Db, domain: DomainRow, provider: Provider, now: Date): Promise<boolean> {
  const changed_ms = domain.provider_changed_at?.getTime() ?? 0
  return wasUsedByAdmin(db, domain, provider, new Date(Math.max(now.getTime() - WITHIN_MS, changed_ms + 1)))
}
