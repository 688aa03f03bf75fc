// The domain that a path names, or 404.
import { isUuid } from '../../lib/uuid.ts'
import type { Db } from '../../platform/db/database.ts'
import { notFound } from '../../platform/http/errors.ts'
import { findDomain } from './queries.ts'
import type { DomainRow } from './schema.ts'

export async function getDomain(db: Db, organizationId: string, id: string): Promise<DomainRow> {
  const row = isUuid(id) ? await findDomain(db, organizationId, id) : undefined
  if (!row) throw notFound()
  return row
}
