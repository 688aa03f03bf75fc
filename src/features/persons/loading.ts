// What must be known before events are applied: who their distinct ids lead to. Read in few statements, and no more at a
// time than fits into memory, however large persons are.
import type { Db } from '../../platform/db/database.ts'
import {
  locatePersons,
  readDistinctIds,
  readPersons,
  type IdOfProject,
  type LocatedPerson,
} from './flush-queries.ts'
import { Overtaken } from './heads.ts'
import { keyOf, type KnownPeople, type Person } from './known-people.ts'
import type { PersonEvent } from './person-event.ts'
import { mergeAskedBy } from './rules.ts'

// A person with more is not merged away: its ids would have to be read and moved in one flush.
const MAX_MOVED_IDS = 10_000

const MAX_LOOKUPS = 5_000
const MAX_BYTES = 32 * 1024 * 1024
const BYTES_PER_CHARACTER = 2
const BYTES_PER_ID = 200

type Located = ReadonlyMap<string, LocatedPerson>

/** Reads what the next events need, beginning at `from`; gives the index of the first event that must wait. */
export async function loadFor(
  db: Db,
  known: KnownPeople,
  events: readonly PersonEvent[],
  from: number,
): Promise<{ until: number; merging: Person[] }> {
  const unknown = unknownIds(known, events, from)
  if (unknown.ids.length === 0 && !unknown.has_merge) return { until: unknown.until, merging: [] }
  const located = await locate(db, unknown.ids)
  const plan = new Plan(known, located)
  let until = from
  while (until < unknown.until && plan.takesOn(events[until]!)) until++
  await addPersons(db, known, plan.persons)
  for (const { distinct_id, person } of plan.ids.values()) {
    known.addId(known.findByUuid(person.project_id, person.uuid)!, distinct_id)
  }
  return { until, merging: await addDistinctIds(db, known, plan.merging) }
}

function idsOf(event: PersonEvent): string[] {
  const merge = mergeAskedBy(event)
  return merge ? [merge.into, merge.other] : [event.distinct_id]
}

function unknownIds(known: KnownPeople, events: readonly PersonEvent[], from: number) {
  const ids = new Map<string, IdOfProject>()
  let has_merge = false
  let until = from
  for (; until < events.length && ids.size < MAX_LOOKUPS; until++) {
    const event = events[until]!
    const named = idsOf(event)
    if (named.length > 1) has_merge = true
    for (const distinct_id of named) {
      if (known.use(event.project_id, distinct_id)) continue
      ids.set(idKey(event.project_id, distinct_id), { project_id: event.project_id, distinct_id })
    }
  }
  return { ids: [...ids.values()], has_merge, until }
}

async function locate(db: Db, ids: readonly IdOfProject[]): Promise<Located> {
  if (ids.length === 0) return new Map()
  const rows = await locatePersons(db, ids)
  return new Map(rows.map(({ distinct_id, ...person }) => [idKey(person.project_id, distinct_id), person]))
}

type Involved = Pick<LocatedPerson, 'project_id' | 'uuid' | 'distinct_id_count'>

/** What to read for some events in a row. */
class Plan {
  readonly persons = new Map<string, LocatedPerson>()
  readonly ids = new Map<string, { distinct_id: string; person: LocatedPerson }>()
  readonly merging = new Map<string, Involved>()
  readonly #known: KnownPeople
  readonly #located: Located
  #bytes = 0

  constructor(known: KnownPeople, located: Located) {
    this.#known = known
    this.#located = located
  }

  /** False: enough for now. The first event is always taken, or there would be no end. */
  takesOn(event: PersonEvent): boolean {
    const ids = idsOf(event)
    const people = ids.map((id) => this.#find(event.project_id, id))
    const bytes = this.#bytes + this.#bytesFor(people)
    if (bytes > MAX_BYTES && this.#bytes > 0) return false
    this.#bytes = bytes
    ids.forEach((distinct_id) => this.#wantPerson(event.project_id, distinct_id))
    if (isMerge(people)) people.forEach((person) => person && this.#wantDistinctIds(person))
    return true
  }

  #find(project_id: number, distinct_id: string): Person | LocatedPerson | undefined {
    return this.#known.find(project_id, distinct_id) ?? this.#located.get(idKey(project_id, distinct_id))
  }

  #bytesFor(people: readonly (Person | LocatedPerson | undefined)[]): number {
    let bytes = 0
    for (const person of people) {
      if (!person) continue
      const key = keyOf(person)
      const isRead = this.persons.has(key) || this.#known.findByUuid(person.project_id, person.uuid)
      if (!isRead) bytes += person.properties_size * BYTES_PER_CHARACTER
      if (isMerge(people) && !this.merging.has(key) && isMovable(person)) {
        bytes += person.distinct_id_count * BYTES_PER_ID
      }
    }
    return bytes
  }

  #wantPerson(project_id: number, distinct_id: string): void {
    const person = this.#located.get(idKey(project_id, distinct_id))
    if (!person) return
    this.persons.set(keyOf(person), person)
    this.ids.set(idKey(project_id, distinct_id), { distinct_id, person })
  }

  #wantDistinctIds(person: Involved): void {
    if (isMovable(person)) this.merging.set(keyOf(person), person)
  }
}

/**
 * Two ids that do not lead to the same person already. Whoever takes part in a merge is found this way beforehand, even
 * where one merge follows from another: to be drawn into the second, a person must first gain something by an event
 * that names one of the ids it has now, and that event is such a one.
 */
function isMerge(people: readonly (Involved | undefined)[]): boolean {
  return people.length === 2 && (!people[0] || !people[1] || people[0].uuid !== people[1].uuid)
}

export function isMovable({ distinct_id_count }: Pick<Person, 'distinct_id_count'>): boolean {
  return distinct_id_count <= MAX_MOVED_IDS
}

async function addPersons(db: Db, known: KnownPeople, wanted: Plan['persons']): Promise<void> {
  const unread = [...wanted.values()].filter(({ project_id, uuid }) => !known.findByUuid(project_id, uuid))
  if (unread.length === 0) return
  const rows = await readPersons(db, unread)
  if (rows.length < unread.length) throw new Overtaken()
  for (const row of rows) {
    known.add({
      ...row,
      created_at: BigInt(row.created_at),
      distinct_ids: null,
      merged_into: null,
      is_stored: true,
      version: row.version + 1,
    })
  }
}

/** Gives those whose distinct ids are known completely now. */
async function addDistinctIds(db: Db, known: KnownPeople, wanted: Plan['merging']): Promise<Person[]> {
  if (wanted.size === 0) return []
  const people = [...wanted.values()].map(({ project_id, uuid }) => known.findByUuid(project_id, uuid)!)
  for (const person of people) person.distinct_ids = []
  for (const { project_id, uuid, distinct_id } of await readDistinctIds(db, people)) {
    known.findByUuid(project_id, uuid)!.distinct_ids!.push(distinct_id)
  }
  return people
}

function idKey(project_id: number, distinct_id: string): string {
  return `${project_id} ${distinct_id}`
}
