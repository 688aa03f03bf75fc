// The directory that is calling: whose it is, and as whom it acts. Its changes go one after the other.
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Services } from '../../platform/services.ts'
import type { Actor } from '../activity-log/record.ts'
import type { DomainRow } from '../domains/schema.ts'

export type Directory = {
  services: Services
  domain: DomainRow
  actor: Actor
  now: Date
  /** Address of the service, without a slash at the end. */
  base: string
}

/** Entra ID asks for 25 requests a second. */
const RATES = [
  { count: 2_400, window_ms: 60_000 },
  { count: 60_000, window_ms: 3_600_000 },
]

/** For each request, and for each operation of a bulk request. */
export function takeFromRate({ services, domain, now }: Directory, amount: number): void {
  services.throttle.take('scim', domain.id, RATES, now, amount)
}

/** One change at a time for each domain: two requests that create the same person at once make one. */
export function changing<T>({ services, domain }: Directory, work: (tx: Db) => Promise<T>): Promise<T> {
  return services.db.transaction(async (tx) => {
    await lockDirectory(tx, domain.id)
    return work(tx)
  })
}

export async function lockDirectory(tx: Db, domainId: string): Promise<void> {
  await tx.run(sql`SELECT pg_advisory_xact_lock(hashtextextended('scim ' || ${domainId}, 0))`)
}
