// The chain of hashes over an organization's entries: what each hash covers, and the check that none was altered.
import { createHash } from 'node:crypto'
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'

export type ChainedEntry = {
  id: string
  organization_id: string | null
  project_id: number | null
  user_id: number | null
  key_id: string | null
  actor_name: string
  ip: string | null
  scope: string
  activity: string
  item_id: string | null
  detail: object
  created_at: Date
}

const CHAINED: readonly (keyof ChainedEntry)[] = [
  'id',
  'organization_id',
  'project_id',
  'user_id',
  'key_id',
  'actor_name',
  'ip',
  'scope',
  'activity',
  'item_id',
  'detail',
  'created_at',
]

/** Same entry, same text: keys sorted throughout, because jsonb keeps its own order. */
export function chainText(entry: ChainedEntry): string {
  return JSON.stringify(Object.fromEntries(CHAINED.map((field) => [field, entry[field]])), sortedKeys)
}

type BrokenEntry = { id: string; organization_id: string | null }

/**
 * The first entry whose hash does not follow from its predecessor, over the whole log; null when all hold. An entry cut
 * off a chain's end leaves no trace in what is left: only a copy kept elsewhere shows that.
 */
export function findBrokenEntry(db: Db): Promise<BrokenEntry | null> {
  return db.transaction(async (tx) => {
    // One moment for all batches: an entry committed late, behind a position already read, would look like a gap.
    await tx.run(sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`)
    return firstBroken(tx)
  })
}

async function firstBroken(tx: Db): Promise<BrokenEntry | null> {
  const previous = new Map<string | null, string>()
  let position = '0'
  for (;;) {
    const rows = await tx.rows<ChainedEntry & { hash: string; position: string }>(sql`
      SELECT * FROM activity_log WHERE position > ${position} ORDER BY position LIMIT 1000`)
    for (const row of rows) {
      const hash = createHash('sha256')
        .update((previous.get(row.organization_id) ?? '') + chainText(row))
        .digest('hex')
      if (hash !== row.hash) return { id: row.id, organization_id: row.organization_id }
      previous.set(row.organization_id, hash)
      position = row.position
    }
    if (rows.length === 0) return null
  }
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
