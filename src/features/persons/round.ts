// Some events in a row, applied to persons that are all known by now; then what came of it, written.
import type { Db } from '../../platform/db/database.ts'
import type { Changes } from './changes.ts'
import {
  insertPersons,
  updatePersons,
  writeDistinctIds,
  type IdOfProject,
  type WrittenPerson,
} from './flush-queries.ts'
import type { KnownPeople, Person } from './known-people.ts'
import { isMovable } from './loading.ts'
import type { PersonEvent } from './person-event.ts'
import { readUpdate, update } from './properties.ts'
import { mergeAskedBy, personUuid, type Merge } from './rules.ts'

export class Round {
  readonly #known: KnownPeople
  readonly #changed = new Set<Person>()
  /** In the order of giving, the last time counting. */
  readonly #givenIds = new Map<string, IdOfProject & { person: Person }>()
  /** Properties as JSON text, as long as they stay as they are. */
  readonly #texts = new Map<Person, string>()

  constructor(known: KnownPeople) {
    this.#known = known
  }

  apply(event: PersonEvent): void {
    const merge = mergeAskedBy(event)
    const person = merge
      ? this.#merge(event.project_id, merge)
      : this.#known.find(event.project_id, event.distinct_id)
    const settled = person ?? this.#create(event, merge)
    if (person && update(person, readUpdate(event.properties))) this.#touch(person)
    event.person = { id: settled.uuid, properties: this.#textOf(settled) }
  }

  #touch(person: Person): void {
    this.#changed.add(person)
    this.#texts.delete(person)
  }

  #textOf(person: Person): string {
    const known = this.#texts.get(person)
    if (known !== undefined) return known
    const text = JSON.stringify(person.properties)
    this.#texts.set(person, text)
    return text
  }

  #create(event: PersonEvent, merge: Merge | null): Person {
    const person: Person = {
      project_id: event.project_id,
      uuid: personUuid(event.project_id, event.distinct_id),
      properties: {},
      properties_size: 0,
      is_identified: merge !== null,
      created_at: event.timestamp,
      distinct_id_count: 0,
      distinct_ids: [],
      merged_into: null,
      is_stored: false,
      version: 0,
    }
    update(person, readUpdate(event.properties))
    update(person, { set_once: {}, set: { $creator_event_uuid: event.uuid }, unset: [] })
    this.#known.add(person)
    this.#giveId(person, event.distinct_id)
    if (merge) this.#giveId(person, merge.other)
    return person
  }

  /** The person that both ids lead to now, or `into` alone where the merge is refused; none when neither is known. */
  #merge(project_id: number, { other, into, is_forced }: Merge): Person | undefined {
    const from = this.#known.find(project_id, other)
    const to = this.#known.find(project_id, into)
    if (from && !to) this.#giveId(from, into)
    if (to && !from) this.#giveId(to, other)
    if (from && to && from !== to) {
      if ((is_forced || !from.is_identified) && isMovable(from)) this.#absorb(from, to)
    }
    const person = to ?? from
    if (person && !person.is_identified) {
      person.is_identified = true
      this.#touch(person)
    }
    return person
  }

  #absorb(from: Person, to: Person): void {
    if (!from.distinct_ids) throw new Error('a person is merged whose distinct ids were not read')
    if (update(to, { set_once: from.properties, set: {}, unset: [] })) this.#texts.delete(to)
    if (from.created_at < to.created_at) to.created_at = from.created_at
    // With ids that are no longer its own in the database: whoever has moved them overtakes this round.
    this.#known.drop(from.project_id, from.uuid)
    for (const distinct_id of from.distinct_ids) this.#giveId(to, distinct_id)
    Object.assign(from, { properties: {}, properties_size: 0, distinct_id_count: 0, merged_into: to })
    this.#texts.delete(from)
    if (from.is_stored) this.#changed.add(from)
    else this.#changed.delete(from)
  }

  #giveId(person: Person, distinct_id: string): void {
    const { project_id } = person
    const key = `${project_id} ${distinct_id}`
    this.#givenIds.delete(key)
    this.#givenIds.set(key, { project_id, distinct_id, person })
    if (this.#known.find(project_id, distinct_id) !== person) this.#known.addId(person, distinct_id)
    person.distinct_ids?.push(distinct_id)
    person.distinct_id_count++
    this.#changed.add(person)
  }

  /** Those about which there is something to write. */
  projects(): Set<number> {
    return new Set(Array.from(this.#changed, (person) => person.project_id))
  }

  /** Nothing is written: whoever was changed is read again when it is needed. */
  takeBack(): void {
    for (const { project_id, uuid } of this.#changed) this.#known.drop(project_id, uuid)
  }

  async write(tx: Db, changes: Changes): Promise<void> {
    const written = Array.from(this.#changed, (person): WrittenPerson => [person, this.#textOf(person)])
    const made = written.filter(([person]) => !person.is_stored)
    const changed = written.filter(([person]) => person.is_stored)
    if (made.length > 0) changes.reach(await insertPersons(tx, made))
    if (changed.length > 0) changes.reach(await updatePersons(tx, changed))
    const givenIds = [...this.#givenIds.values()]
    const writtenIds = givenIds.length > 0 ? await writeDistinctIds(tx, givenIds) : []
    for (const each of written) this.#settle(each, changes)
    for (const id of writtenIds) {
      changes.reach(BigInt(id.change))
      changes.addDistinctId(id.project_id, id)
    }
  }

  #settle([person, properties]: WrittenPerson, changes: Changes): void {
    const { project_id, uuid, is_identified, created_at } = person
    person.is_stored = true
    person.distinct_ids = null
    if (person.merged_into) changes.deletePerson(project_id, uuid)
    else {
      changes.addPerson(project_id, {
        id: uuid,
        created_at,
        is_identified,
        properties,
        version: person.version,
      })
      this.#known.weigh(person)
    }
    person.version++
  }
}
