// Which ids make one person, and what a person is called (events.md §6 and §8.4). No I/O.
import { uuid5 } from '../../lib/uuid.ts'
import type { PersonEvent } from './person-event.ts'

const MAX_ID_LENGTH = 200
const UUID_NAMESPACE = '932979b4-65c3-4424-8467-0b66ec27bc22'

/** `is_forced`: also an identified person is merged away. */
export type Merge = { other: string; into: string; is_forced: boolean }

/** What an event asks to have merged; null for nothing, also when an id is one that no client may mean. */
export function mergeAskedBy({ event, properties, distinct_id }: PersonEvent): Merge | null {
  const given = otherIdOf(event, properties)
  if (given === undefined || given === null) return null
  const other = toIdText(given, MAX_ID_LENGTH)
  if (other === distinct_id || isRefusedId(other) || isRefusedId(distinct_id)) return null
  return { other, into: distinct_id, is_forced: event === '$merge_dangerously' }
}

function otherIdOf(event: string, properties: PersonEvent['properties']): unknown {
  switch (event) {
    case '$identify':
      return properties.$anon_distinct_id
    case '$create_alias':
    case '$merge_dangerously':
      return properties.alias
    default:
      return undefined
  }
}

/** Ids and keys are text, whatever was sent; so many characters, none of them torn in half. */
export function toIdText(value: unknown, max: number): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (text.length <= max) return text
  // Joined anew: a part of a longer text would keep all of it in memory for as long as the id is known.
  return Array.from(text.slice(0, 2 * max))
    .slice(0, max)
    .join('')
}

// What clients send when they have no id: merging on one of them would make one person of many.
const REFUSED_IN_ANY_CASE = new Set([
  'anonymous',
  'guest',
  'distinctid',
  'distinct_id',
  'id',
  'not_authenticated',
  'email',
  'undefined',
  'true',
  'false',
])
const REFUSED = new Set(['[object Object]', 'NaN', 'None', 'none', 'null', '0'])

function isRefusedId(id: string): boolean {
  const bare = /^(["'])(.*)\1$/s.exec(id)?.[2] ?? id
  return bare.trim() === '' || REFUSED.has(bare) || REFUSED_IN_ANY_CASE.has(bare.toLowerCase())
}

/**
 * The id of a person, by the distinct id it is made for.
 *
 * Two persons never come by the same one. It could only be made again for a distinct id that is unknown; but once a
 * person was made for a distinct id, that id stays known for ever: it may move to another person in a merge, it is never
 * let go. So the remains of a merged person never stand in the way of a new one. (Should an id be let go one day, a new
 * person would take the place of those remains: the insert says so.)
 */
export function personUuid(project_id: number, distinct_id: string): string {
  return uuid5(UUID_NAMESPACE, `${project_id}:${distinct_id}`)
}

const LOOKS_RANDOM = /^[a-z0-9]+-[a-z0-9]+-[a-z0-9]+-[a-z0-9]+-[a-z0-9]+$/i

export function displayName(person: {
  uuid: string
  properties: Record<string, unknown>
  distinct_ids: readonly string[]
}): string {
  for (const key of ['email', 'name', 'username']) {
    const value = Object.hasOwn(person.properties, key) ? person.properties[key] : undefined
    if (typeof value === 'number' || (typeof value === 'string' && value.trim() !== '')) return String(value)
  }
  const chosen = person.distinct_ids.find((id) => !LOOKS_RANDOM.test(id))
  return chosen ?? person.distinct_ids[0] ?? person.uuid
}
