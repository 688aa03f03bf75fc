// Entries of the activity log by numbered pages, as the console of PostHog asks for them.
import { z } from 'zod'
import type { Db } from '../../platform/db/database.ts'
import type { RequestFacts } from '../../platform/http/route.ts'
import { presentEntry } from './present.ts'
import { countActivity, listActivity, type EntryFilter, type LogOwner } from './queries.ts'
import { ActivityLogEntry } from './schema.ts'

const DEFAULT_LIMIT = 10
const MAX_LIMIT = 1000
const MAX_PAGE = 1_000_000

/** As everywhere, a wrong number is no error but counts as not given. */
const number = z
  .unknown()
  .transform((value) => (typeof value === 'string' && /^0*[1-9]\d*$/.test(value) ? Number(value) : undefined))
  .optional()

export const ActivityPageQuery = z.object({
  limit: number.meta({ type: 'integer', description: 'Entries per page: 10 unless told, 1000 at most.' }),
  page: number.meta({ type: 'integer', description: 'Number of the page, from 1.' }),
})

export const ActivityPage = z.object({
  count: z.int(),
  total_count: z.int(),
  next: z.string().nullable(),
  previous: z.string().nullable(),
  results: z.array(ActivityLogEntry),
})

export async function readActivityPage(
  db: Db,
  owner: LogOwner,
  filter: EntryFilter,
  query: z.output<typeof ActivityPageQuery>,
  request: RequestFacts,
): Promise<z.input<typeof ActivityPage>> {
  const limit = Math.min(query.limit ?? DEFAULT_LIMIT, MAX_LIMIT)
  const page = Math.min(query.page ?? 1, MAX_PAGE)
  const rows = await listActivity(db, owner, filter, { limit, offset: (page - 1) * limit })
  const count = await countActivity(db, owner, filter)
  const link = (to: number) => request.urlWith({ page: String(to) })
  return {
    count,
    total_count: count,
    next: page * limit < count ? link(page + 1) : null,
    previous: page > 1 ? link(page - 1) : null,
    results: rows.map(presentEntry),
  }
}
