// Persons as events make them: created, changed, identified and merged (events.md §8.4), for all events of a flush in
// few statements. What is known is kept between flushes; heads tell what other processes have changed meanwhile.
import { Breather } from '../../lib/breather.ts'
import type { Db } from '../../platform/db/database.ts'
import type { ChangeRange } from '../../platform/event-store/event-store.ts'
import { Changes, type CopiesOfState } from './changes.ts'
import { Groups } from './groups.ts'
import { listChangedAfter, lockProjects } from './head-queries.ts'
import { HeadLock, Overtaken } from './heads.ts'
import { KnownPeople, type PeopleLimits } from './known-people.ts'
import { loadFor } from './loading.ts'
import type { PersonEvent } from './person-event.ts'
import { Round } from './round.ts'

export type PeopleChanges = {
  /** Changes for the copies in the event store, by project. */
  copies: ReadonlyMap<number, CopiesOfState>
  /** The numbers of the changes; null when nothing changed that is copied. */
  range: ChangeRange | null
  /** Projects that no longer exist; nothing was done for their events. */
  gone: ReadonlySet<number>
}

const DEFAULT_LIMITS: PeopleLimits = { max_distinct_ids: 100_000, max_bytes: 64 * 1024 * 1024 }
const MAX_PROJECTS = 100_000
/** Changes of all projects since the memory was right; after more, reading a project anew is the cheaper way. */
const MAX_LISTED = 10_000n

export class People {
  readonly #known: KnownPeople
  readonly #groups = new Groups()
  /** Up to which change the memory of a project is right. Nothing is remembered of projects that are not here. */
  readonly #seen = new Map<number, bigint>()
  #isUnconfirmed = false

  constructor(limits: Partial<PeopleLimits> = {}) {
    this.#known = new KnownPeople({ ...DEFAULT_LIMITS, ...limits })
  }

  /**
   * Applies events in the order given, and sets their `$group_0` to `$group_4`, in one transaction; `alongside` adds to it. One
   * call at a time.
   */
  async flush(
    db: Db,
    events: readonly PersonEvent[],
    now: Date,
    alongside: (tx: Db, changes: PeopleChanges) => Promise<void> = async () => {},
  ): Promise<PeopleChanges> {
    const attempt = (isLockedFirst: boolean) =>
      db.transaction(async (tx) => {
        const changes = await this.#apply(tx, events, now, isLockedFirst)
        await alongside(tx, changes)
        return changes
      })
    try {
      return await attempt(false).catch((error: unknown) => {
        if (!(error instanceof Overtaken)) throw error
        this.#isUnconfirmed = false
        this.#groups.forget()
        return attempt(true)
      })
    } catch (error) {
      this.#forget()
      throw error
    }
  }

  async #apply(
    tx: Db,
    events: readonly PersonEvent[],
    now: Date,
    isLockedFirst: boolean,
  ): Promise<PeopleChanges> {
    // A transaction that is retried after a deadlock comes here a second time without notice.
    if (this.#isUnconfirmed) this.#forget()
    this.#isUnconfirmed = true
    tx.afterCommit(() => {
      this.#isUnconfirmed = false
    })
    const wanted = new Set(events.map((event) => event.project_id))
    const { heads, last } = await lockProjects(tx, [...wanted])
    const gone = new Set([...wanted].filter((id) => !heads.has(id)))
    const living = events.filter((event) => heads.has(event.project_id))
    const lock = new HeadLock(tx, [...heads.keys()], this.#seen)
    await this.#catchUp(tx, isLockedFirst ? await lock.takeFirst() : heads, last)
    const changes = new Changes()
    await this.#groups.apply(tx, living, changes, lock, now)
    await this.#applyPersons(
      tx,
      living.filter((event) => event.has_person),
      changes,
      lock,
    )
    // Nobody else can have changes of these projects in between.
    const { position } = changes
    for (const [project_id, head] of lock.taken) this.#seen.set(project_id, position ?? head)
    return { ...changes.summary(lock.taken), gone }
  }

  /** After a transaction that did not commit: what is known may never have happened. */
  #forget(): void {
    this.#known.clear()
    this.#groups.forget()
    this.#seen.clear()
    this.#isUnconfirmed = false
  }

  /** Drops what others have changed since the memory was right; `last` is the number of the last change of all. */
  async #catchUp(tx: Db, heads: ReadonlyMap<number, bigint>, last: bigint): Promise<void> {
    if (this.#seen.size > MAX_PROJECTS) {
      this.#forget()
      this.#isUnconfirmed = true
    }
    const behind: { project_id: number; change: bigint }[] = []
    for (const [project_id, head] of heads) {
      const seen = this.#seen.get(project_id) ?? head
      this.#seen.set(project_id, head > seen ? head : seen)
      if (head <= seen) continue
      this.#groups.dropTypes(project_id)
      if (last - seen <= MAX_LISTED) behind.push({ project_id, change: seen })
      else {
        this.#known.dropProject(project_id)
        this.#groups.dropProject(project_id)
      }
    }
    if (behind.length === 0) return
    for (const row of await listChangedAfter(tx, behind)) {
      if (row.uuid === null) this.#groups.drop(row)
      else this.#known.drop(row.project_id, row.uuid)
      const change = BigInt(row.change)
      if (change > this.#seen.get(row.project_id)!) this.#seen.set(row.project_id, change)
    }
  }

  async #applyPersons(
    tx: Db,
    events: readonly PersonEvent[],
    changes: Changes,
    lock: HeadLock,
  ): Promise<void> {
    for (let from = 0; from < events.length;) {
      const { until, merging } = await loadFor(tx, this.#known, events, from)
      const round = new Round(this.#known)
      const breather = new Breather()
      for (let at = from; at < until; at++) {
        if (breather.isDue) await breather.take()
        round.apply(events[at]!)
      }
      try {
        const changed = round.projects()
        if (changed.size > 0) await lock.take(until === events.length ? changed : undefined)
        await round.write(tx, changes)
      } catch (error) {
        if (error instanceof Overtaken) round.takeBack()
        throw error
      } finally {
        for (const person of merging) person.distinct_ids = null
      }
      this.#known.trim()
      from = until
    }
  }
}
