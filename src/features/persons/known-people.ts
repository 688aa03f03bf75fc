// What ingestion remembers of persons, so that an event of a known one costs no statement. Bounded in ids and bytes.
import type { Sized } from './properties.ts'
import { RecentlyUsed } from './recently-used.ts'

export type Person = Sized & {
  readonly project_id: number
  readonly uuid: string
  is_identified: boolean
  /** Microseconds since 1970, UTC. */
  created_at: bigint
  distinct_id_count: number
  /** All of them, in the order of adding; null unless this person may take part in a merge right now. */
  distinct_ids: string[] | null
  merged_into: Person | null
  /** It has a row in the database. */
  is_stored: boolean
  /** Version of the row when it is written next. */
  version: number
}

export type PeopleLimits = { max_distinct_ids: number; max_bytes: number }

type Remembered = { key: string; person: Person; distinct_ids: string[] }

// Objects and maps around the texts; found by filling the cache and looking at the heap.
const PERSON_BYTES = 600
const ID_BYTES = 150
const BYTES_PER_CHARACTER = 2

export class KnownPeople {
  readonly #limits: PeopleLimits
  readonly #people = new RecentlyUsed<Remembered>()
  readonly #byDistinctId = new Map<number, Map<string, Remembered>>()
  #idCount = 0

  constructor(limits: PeopleLimits) {
    this.#limits = limits
  }

  find(project_id: number, distinct_id: string): Person | undefined {
    return this.#byDistinctId.get(project_id)?.get(distinct_id)?.person
  }

  /** Like `find`, and marks the person as used. */
  use(project_id: number, distinct_id: string): Person | undefined {
    const found = this.#byDistinctId.get(project_id)?.get(distinct_id)
    return found && this.#people.get(found.key)?.person
  }

  findByUuid(project_id: number, uuid: string): Person | undefined {
    return this.#people.get(keyOf({ project_id, uuid }))?.person
  }

  add(person: Person): void {
    const key = keyOf(person)
    this.#people.set(key, { key, person, distinct_ids: [] }, weightOf(person, 0))
  }

  /** From now on this id leads to that person, who is known already. */
  addId(person: Person, distinct_id: string): void {
    const remembered = this.#people.get(keyOf(person))
    if (!remembered) throw new Error('a distinct id for a person that is not known')
    let ids = this.#byDistinctId.get(person.project_id)
    if (!ids) this.#byDistinctId.set(person.project_id, (ids = new Map()))
    if (!ids.has(distinct_id)) this.#idCount++
    ids.set(distinct_id, remembered)
    remembered.distinct_ids.push(distinct_id)
  }

  /** Called after its properties or ids changed. */
  weigh(person: Person): void {
    const remembered = this.#people.get(keyOf(person))
    if (!remembered) return
    this.#people.set(keyOf(person), remembered, weightOf(person, remembered.distinct_ids.length))
  }

  /** Whoever others have changed is read again when needed; whoever is merged into another gives it its ids after this. */
  drop(project_id: number, uuid: string): void {
    const key = keyOf({ project_id, uuid })
    const remembered = this.#people.get(key)
    if (!remembered) return
    this.#people.delete(key)
    this.#dropIds(remembered)
  }

  dropProject(project_id: number): void {
    const ids = this.#byDistinctId.get(project_id)
    if (!ids) return
    for (const { key } of ids.values()) this.#people.delete(key)
    this.#idCount -= ids.size
    this.#byDistinctId.delete(project_id)
  }

  /** Never called while events are applied: whoever is known then must stay known. */
  trim(): void {
    const { max_bytes, max_distinct_ids } = this.#limits
    const isTooMuch = () => this.#people.bytes > max_bytes || this.#idCount > max_distinct_ids
    this.#people.trim(isTooMuch, (remembered) => this.#dropIds(remembered))
  }

  clear(): void {
    this.#people.clear()
    this.#byDistinctId.clear()
    this.#idCount = 0
  }

  #dropIds(remembered: Remembered): void {
    const { person, distinct_ids } = remembered
    const ids = this.#byDistinctId.get(person.project_id)
    if (!ids) return
    for (const id of distinct_ids) {
      // It may lead to somebody else by now.
      if (ids.get(id) === remembered && ids.delete(id)) this.#idCount--
    }
    if (ids.size === 0) this.#byDistinctId.delete(person.project_id)
  }
}

export function keyOf({ project_id, uuid }: Pick<Person, 'project_id' | 'uuid'>): string {
  return `${project_id} ${uuid}`
}

function weightOf({ properties_size }: Person, idCount: number): number {
  return PERSON_BYTES + BYTES_PER_CHARACTER * properties_size + ID_BYTES * idCount
}
