// Groups as events name them (events.md §8.5): which five types a project has, and the properties of each group.
import type { Db } from '../../platform/db/database.ts'
import type { Changes } from './changes.ts'
import {
  insertGroupTypes,
  readGroups,
  readGroupTypes,
  writeGroups,
  type Group,
  type GroupRef,
  type GroupType,
} from './flush-queries.ts'
import type { PersonEvent } from './person-event.ts'
import type { HeadLock } from './heads.ts'
import { isObject } from '../../lib/json-object.ts'
import { update, type Properties } from './properties.ts'
import { RecentlyUsed } from './recently-used.ts'
import { toIdText } from './rules.ts'

const MAX_TYPES = 5
const MAX_NAME_LENGTH = 400
const MAX_KEY_LENGTH = 400
const MAX_BYTES = 8 * 1024 * 1024
const MAX_PROJECTS = 10_000
const GROUP_BYTES = 1000
const BYTES_PER_CHARACTER = 2
// As many as are read at once; a group may have a megabyte of properties.
const GROUPS_PER_ROUND = 50

type Identified = GroupRef & { event: PersonEvent; set: Properties }

export class Groups {
  /** The names of a project's types; the place in the list is the index. */
  readonly #types = new Map<number, string[]>()
  readonly #known = new RecentlyUsed<Group>()

  /** `$group_0` to `$group_4` are set when the transaction has committed: until then types may come to other indexes. */
  async apply(
    tx: Db,
    events: readonly PersonEvent[],
    changes: Changes,
    lock: HeadLock,
    now: Date,
  ): Promise<void> {
    const naming = events.filter(namesGroups)
    if (naming.length === 0) return
    await this.#loadTypes(tx, naming)
    const newTypes: GroupType[] = []
    const identified: Identified[] = []
    for (const event of naming) {
      const keys = this.#groupsOf(event, newTypes)
      tx.afterCommit(() => Object.assign(event.properties, keys))
      const group = this.#groupIdentifiedBy(event, newTypes)
      if (group) identified.push(group)
    }
    if (newTypes.length > 0) {
      await lock.take()
      await insertGroupTypes(tx, newTypes, now)
    }
    for (const round of roundsOf(identified)) await this.#write(tx, round, changes, lock)
  }

  forget(): void {
    this.#types.clear()
    this.#known.clear()
  }

  /** Others have changed something in the project, perhaps its types. */
  dropTypes(project_id: number): void {
    this.#types.delete(project_id)
  }

  drop(group: GroupRef): void {
    this.#known.delete(keyOf(group))
  }

  dropProject(project_id: number): void {
    this.#known.deleteAll((group) => group.project_id === project_id)
  }

  async #loadTypes(tx: Db, events: readonly PersonEvent[]): Promise<void> {
    if (this.#types.size > MAX_PROJECTS) this.#types.clear()
    const ids = new Set(events.map((event) => event.project_id).filter((id) => !this.#types.has(id)))
    if (ids.size === 0) return
    for (const id of ids) this.#types.set(id, [])
    for (const { project_id, name } of await readGroupTypes(tx, [...ids]))
      this.#types.get(project_id)!.push(name)
  }

  #groupsOf({ project_id, properties }: PersonEvent, newTypes: GroupType[]): Record<string, string> {
    const keys: Record<string, string> = {}
    if (!isObject(properties.$groups)) return keys
    const named = properties.$groups
    // An event may name ten thousand types. Once the project has its five, only those are looked up.
    const names = this.#types.get(project_id)!
    const asked = names.length === MAX_TYPES ? names : Object.keys(named)
    for (const name of asked) {
      const key = Object.hasOwn(named, name) ? keyText(named[name]) : null
      const index = key === null ? null : this.#indexOf(project_id, name, newTypes)
      if (key !== null && index !== null) keys[`$group_${index}`] = key
    }
    return keys
  }

  #groupIdentifiedBy(event: PersonEvent, newTypes: GroupType[]): Identified | null {
    if (event.event !== '$groupidentify') return null
    const { $group_type, $group_key, $group_set } = event.properties
    const key = keyText($group_key)
    if (key === null || typeof $group_type !== 'string') return null
    const index = this.#indexOf(event.project_id, $group_type, newTypes)
    if (index === null) return null
    return { project_id: event.project_id, index, key, event, set: isObject($group_set) ? $group_set : {} }
  }

  /** Null for a sixth type, and for an invalid name. */
  #indexOf(project_id: number, name: string, newTypes: GroupType[]): number | null {
    const names = this.#types.get(project_id)!
    const known = names.indexOf(name)
    if (known >= 0) return known
    if (names.length === MAX_TYPES || name.trim() === '' || name.length > MAX_NAME_LENGTH) return null
    newTypes.push({ project_id, index: names.length, name })
    return names.push(name) - 1
  }

  async #write(tx: Db, round: readonly Identified[], changes: Changes, lock: HeadLock): Promise<void> {
    await this.#loadGroups(tx, round)
    const changed = new Set<Group>()
    for (const { event, set, ...ref } of round) {
      const known = this.#known.get(keyOf(ref))
      const group = known ?? { ...ref, properties: {}, properties_size: 0, created_at: event.timestamp }
      const hasChanged = update(group, { set_once: {}, set, unset: [] })
      if (hasChanged || !known) changed.add(group)
      if (!known) this.#remember(group)
    }
    if (changed.size > 0) {
      const written = Array.from(changed, (group) => [group, JSON.stringify(group.properties)] as const)
      await lock.take()
      changes.reach(await writeGroups(tx, written))
      for (const [{ project_id, index, key, created_at }, properties] of written) {
        changes.addGroup(project_id, { index, key, created_at, properties })
      }
    }
    for (const group of changed) this.#remember(group)
    this.#known.trim(() => this.#known.bytes > MAX_BYTES)
  }

  async #loadGroups(tx: Db, wanted: readonly GroupRef[]): Promise<void> {
    const unknown = new Map(wanted.map((ref) => [keyOf(ref), ref]))
    for (const key of unknown.keys()) if (this.#known.get(key)) unknown.delete(key)
    if (unknown.size === 0) return
    for (const row of await readGroups(tx, [...unknown.values()])) {
      this.#remember({ ...row, created_at: BigInt(row.created_at) })
    }
  }

  #remember(group: Group): void {
    this.#known.set(keyOf(group), group, GROUP_BYTES + BYTES_PER_CHARACTER * group.properties_size)
  }
}

function namesGroups({ event, properties }: PersonEvent): boolean {
  return properties.$groups !== undefined || event === '$groupidentify'
}

/** Null when there is no key. */
function keyText(value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null
  return toIdText(value, MAX_KEY_LENGTH)
}

/** Splits them in order into rounds, each with no more different groups than may be read at once. */
function roundsOf(identified: readonly Identified[]): Identified[][] {
  const rounds: Identified[][] = []
  for (let from = 0; from < identified.length;) {
    const keys = new Set<string>()
    let until = from
    while (until < identified.length && keys.size < GROUPS_PER_ROUND) keys.add(keyOf(identified[until++]!))
    rounds.push(identified.slice(from, until))
    from = until
  }
  return rounds
}

function keyOf({ project_id, index, key }: GroupRef): string {
  return `${project_id} ${index} ${key}`
}
