// The chain of hashes over an organization's entries: what each hash covers, and the check that none was altered.
import { createHash } from 'node:crypto'
import type { Db } from '../../platform/db/database.ts'
import { sql, type Statement } from '../../platform/db/sql.ts'

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

/** How many entries, and the sum of their hashes modulo 2^256 in hex: it does not depend on their order. */
export type Tally = { entries: number; sum: string }

/** What the entry about a deleted account says of the entries that the person was taken out of (see erase.ts). */
export type Erasure = {
  erased: Tally
  /** By the id of an earlier such entry: those of its entries that now count among `erased`, as they were. */
  replaced: Record<string, Tally>
}

export const NO_TALLY: Tally = { entries: 0, sum: '0' }
const MODULUS = 2n ** 256n

export function addToTally(tally: Tally, entry: ChainedEntry): Tally {
  const hash = createHash('sha256').update(chainText(entry)).digest('hex')
  return joinTallies(tally, { entries: 1, sum: hash }, 1)
}

function joinTallies(one: Tally, other: Tally, sign: 1 | -1): Tally {
  const sum = BigInt(`0x${one.sum}`) + BigInt(sign) * BigInt(`0x${other.sum}`)
  return {
    entries: one.entries + sign * other.entries,
    sum: (((sum % MODULUS) + MODULUS) % MODULUS).toString(16),
  }
}

/** Entries that say they were erased against those that say what was: all must be zero in the end. */
class Erasures {
  readonly #open = new Map<string, Tally & { organization_id: string | null }>()

  add(entry: ChainedEntry & { erased_by: string | null }): void {
    const { id, organization_id, erased_by, detail } = entry
    if (erased_by) this.#put(erased_by, organization_id, addToTally(NO_TALLY, entry), 1)
    const facts = (detail as { facts?: Partial<Erasure> }).facts
    if (entry.scope !== 'User' || entry.activity !== 'deleted' || !facts?.erased) return
    this.#put(id, organization_id, facts.erased, -1)
    for (const [earlier, tally] of Object.entries(facts.replaced ?? {})) {
      this.#put(earlier, organization_id, tally, 1)
    }
  }

  #put(id: string, organization_id: string | null, tally: Tally, sign: 1 | -1): void {
    const joined = joinTallies(this.#open.get(id) ?? NO_TALLY, tally, sign)
    this.#open.set(id, { ...joined, organization_id })
  }

  firstWrong(): BrokenEntry | null {
    for (const [id, { entries, sum, organization_id }] of this.#open) {
      if (entries !== 0 || sum !== '0') return { id, organization_id }
    }
    return null
  }
}

type BrokenEntry = { id: string; organization_id: string | null }

/**
 * The first entry whose hash does not follow from its predecessor, over the whole log; null when all hold. An entry cut
 * off a chain's end leaves no trace in what is left: only a copy kept elsewhere shows that.
 *
 * An entry that a person was taken out of vouches for the next by the hash it had; its content is vouched for by the
 * entry that records the deletion, which is the one named here when it does not fit.
 */
export async function findBrokenEntry(db: Db): Promise<BrokenEntry | null> {
  return (await readChain(db, sql`TRUE`)).broken
}

/** The same for the entries of one organization: each has a chain of its own. */
export function checkChain(db: Db, organizationId: string): Promise<ReadChain> {
  return readChain(db, sql`organization_id = ${organizationId}`)
}

type ReadChain = { entries: number; broken: BrokenEntry | null }

function readChain(db: Db, only: Statement): Promise<ReadChain> {
  return db.transaction(async (tx) => {
    // One moment for all batches: an entry committed late, behind a position already read, would look like a gap.
    await tx.run(sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`)
    return firstBroken(tx, only)
  })
}

type StoredEntry = ChainedEntry & { hash: string; position: string; erased_by: string | null }

async function firstBroken(tx: Db, only: Statement): Promise<ReadChain> {
  const previous = new Map<string | null, string>()
  const erasures = new Erasures()
  let position = '0'
  let entries = 0
  for (;;) {
    const rows = await tx.rows<StoredEntry>(sql`
      SELECT * FROM activity_log WHERE ${only} AND position > ${position} ORDER BY position LIMIT 1000`)
    for (const row of rows) {
      entries += 1
      erasures.add(row)
      const text = (previous.get(row.organization_id) ?? '') + chainText(row)
      const hash = row.erased_by ? row.hash : createHash('sha256').update(text).digest('hex')
      if (hash !== row.hash) return { entries, broken: { id: row.id, organization_id: row.organization_id } }
      previous.set(row.organization_id, hash)
      position = row.position
    }
    if (rows.length === 0) return { entries, broken: erasures.firstWrong() }
  }
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
