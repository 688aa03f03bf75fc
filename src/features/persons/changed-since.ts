// What copies in the event store have missed, read from the relational store.
import type { Database, Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import { listChangedGroups, listChangedIds, listChangedPersons, listChanges } from './change-queries.ts'
import { Changes, type CopiesOfState } from './changes.ts'
import { readHeads } from './head-queries.ts'

export type ChangedPage = {
  copies: ReadonlyMap<number, CopiesOfState>
  /** The last change of the page. */
  position: bigint
  is_complete: boolean
}

// A page is held in memory twice: as rows and as what is written from them.
const MAX_PAGE_CHARACTERS = 32 * 1024 * 1024
/** As large as the numbers of changes can become. */
const NO_END = 2n ** 63n - 1n

/**
 * What changed after a position, up to `last` if that is given, oldest first, at most `limit` changes at a time. Go on from the
 * position given back until `is_complete`. All of a page is read at one moment: rows and heads belong together.
 */
export function changedSince(
  db: Database,
  after: bigint,
  limit: number,
  last: bigint | null = null,
): Promise<ChangedPage> {
  return db.transaction(async (tx) => {
    await tx.run(sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`)
    const found = await listChanges(tx, after, last ?? NO_END, limit)
    const { until, is_complete } = pageOf(found, limit)
    if (until === null) return { copies: new Map(), position: after, is_complete: true }
    const changes = await readChanges(tx, after, until)
    const { copies } = changes.summary(await readHeads(tx, changes.projects()))
    return { copies, position: until, is_complete }
  })
}

async function readChanges(db: Db, after: bigint, until: bigint): Promise<Changes> {
  const changes = new Changes()
  for (const row of await listChangedPersons(db, after, until)) {
    if (row.is_merged) changes.deletePerson(row.project_id, row.id)
    else {
      const { id, is_identified, version } = row
      changes.addPerson(row.project_id, { ...copied(row), id, is_identified, version })
    }
  }
  for (const row of await listChangedIds(db, after, until)) {
    changes.addDistinctId(row.project_id, row)
  }
  for (const row of await listChangedGroups(db, after, until)) {
    changes.addGroup(row.project_id, { ...copied(row), index: row.index, key: row.key })
  }
  return changes
}

/** As many as fit, and at least one. */
function pageOf(changes: readonly { change: string; size: number }[], limit: number) {
  let characters = 0
  const fitting = changes.filter(({ size }, index) => {
    characters += size
    return index === 0 || characters <= MAX_PAGE_CHARACTERS
  })
  const last = fitting.at(-1)
  return {
    until: last ? BigInt(last.change) : null,
    is_complete: fitting.length === changes.length && changes.length < limit,
  }
}

function copied({ created_at, properties }: { created_at: string; properties: string }) {
  return { created_at: BigInt(created_at), properties }
}
