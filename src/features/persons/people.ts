// Persons as events make them: created, changed, identified and merged (events.md §8.4), for all events of a flush in
// few statements. What is known is kept between flushes, which is safe with one writer per database.
import { Breather } from '../../lib/breather.ts'
import type { Db } from '../../platform/db/database.ts'
import type { Copies } from '../../platform/event-store/event-store.ts'
import { Changes } from './changes.ts'
import { lockProjects } from './flush-queries.ts'
import { Groups } from './groups.ts'
import { KnownPeople, type PeopleLimits } from './known-people.ts'
import { loadFor } from './loading.ts'
import type { PersonEvent } from './person-event.ts'
import { listChangedGroups, listChangedIds, listChangedPersons, listChanges } from './change-queries.ts'
import { Round } from './round.ts'

export type PeopleChanges = {
  /** Changes for the copies in the event store, by project. */
  copies: ReadonlyMap<number, Copies>
  /** Position of the last change; null when nothing changed. */
  position: bigint | null
  /** Projects that no longer exist; nothing was done for their events. */
  gone: ReadonlySet<number>
}

// A page is held in memory twice: as rows and as what is written from them.
const MAX_PAGE_CHARACTERS = 32 * 1024 * 1024
const DEFAULT_LIMITS: PeopleLimits = { max_distinct_ids: 100_000, max_bytes: 64 * 1024 * 1024 }

export class People {
  readonly #known: KnownPeople
  readonly #groups = new Groups()
  #isUnconfirmed = false

  constructor(limits: Partial<PeopleLimits> = {}) {
    this.#known = new KnownPeople({ ...DEFAULT_LIMITS, ...limits })
  }

  /** Applies events in the order given, one call per transaction, and sets their `$group_0` to `$group_4`. */
  async apply(tx: Db, events: readonly PersonEvent[], now: Date): Promise<PeopleChanges> {
    // A transaction that is retried after a deadlock comes here a second time without notice.
    if (this.#isUnconfirmed) this.forget()
    this.#isUnconfirmed = true
    tx.afterCommit(() => {
      this.#isUnconfirmed = false
    })
    const wanted = new Set(events.map((event) => event.project_id))
    const found = await lockProjects(tx, [...wanted])
    const gone = new Set([...wanted].filter((id) => !found.has(id)))
    const living = events.filter((event) => found.has(event.project_id))
    const changes = new Changes()
    await this.#groups.apply(tx, living, changes, now)
    await this.#applyPersons(
      tx,
      living.filter((event) => event.has_person),
      changes,
    )
    return { copies: changes.copies(), position: changes.position, gone }
  }

  /** After a transaction that did not commit: what is known may never have happened. */
  forget(): void {
    this.#known.clear()
    this.#groups.forget()
  }

  async #applyPersons(tx: Db, events: readonly PersonEvent[], changes: Changes): Promise<void> {
    for (let from = 0; from < events.length;) {
      const { until, merging } = await loadFor(tx, this.#known, events, from)
      const round = new Round(this.#known)
      const breather = new Breather()
      for (let at = from; at < until; at++) {
        if (breather.isDue) await breather.take()
        round.apply(events[at]!)
      }
      await round.write(tx, changes)
      for (const person of merging) person.distinct_ids = null
      this.#known.trim()
      from = until
    }
  }
}

/**
 * Everything that changed after a position, oldest first, at most `limit` changes at a time: for copies that missed
 * something because the program ended between the two commits. Go on from the position given back until `is_complete`.
 */
export async function changedSince(
  db: Db,
  position: bigint,
  limit: number,
): Promise<{ copies: ReadonlyMap<number, Copies>; position: bigint; is_complete: boolean }> {
  const { until, is_complete } = pageOf(await listChanges(db, position, limit), limit)
  if (until === null) return { copies: new Map(), position, is_complete: true }
  const changes = new Changes()
  for (const row of await listChangedPersons(db, position, until)) {
    if (row.is_merged) changes.deletePerson(row.project_id, row.id)
    else {
      const { id, is_identified, version } = row
      changes.addPerson(row.project_id, { ...copied(row), id, is_identified, version })
    }
  }
  for (const row of await listChangedIds(db, position, until)) {
    changes.addDistinctId(row.project_id, row)
  }
  for (const row of await listChangedGroups(db, position, until)) {
    changes.addGroup(row.project_id, { ...copied(row), index: row.index, key: row.key })
  }
  return { copies: changes.copies(), position: until, is_complete }
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
