// What events name that the catalogue does not have yet. Every event passes here on its way into the store, so the usual
// case, nothing new, is a look into a set for each property.
import { isObject, type JsonObject } from '../../lib/json-object.ts'
import { groupOwner, type KnownProject, type KnownProperties, type Owner } from './known.ts'
import { isName, MAX_EVENTS, MAX_PAIRS, MAX_PROPERTIES, MAX_PROPERTIES_OF_EVENT } from './limits.ts'
import { detectPropertyType, type PropertyType } from './property-type.ts'

export type NamedEvent = { event: string; properties: JsonObject }

/** New names of one project. */
export type News = {
  /** Events, with those of their properties that were not seen on them before. */
  events: Map<string, Set<string>>
  properties: Map<Owner, Map<string, PropertyType | null>>
}

/** Events, persons and the five types of groups. */
const MAX_OWNERS = 7

/** They say something of persons and groups, not of the event. */
const NOT_LISTED = new Set([
  '$set',
  '$set_once',
  '$unset',
  '$groups',
  '$group_0',
  '$group_1',
  '$group_2',
  '$group_3',
  '$group_4',
])

export function noNews(): News {
  return { events: new Map(), properties: new Map() }
}

/** How many names were added. `known` is what the catalogue has, as far as that is at hand. */
export function addNews(
  news: News,
  known: KnownProject | undefined,
  { event, properties }: NamedEvent,
  now: Date,
): number {
  const look = { news, known, now, added: 0 }
  if (!noteEvent(look, event)) return look.added
  if (event === '$groupidentify') {
    const { $group_type, $group_set } = properties
    if (typeof $group_type === 'string' && isObject($group_set))
      noteProperties(look, groupOwner($group_type), $group_set)
    return look.added
  }
  noteEventProperties(look, event, properties)
  for (const set of [properties.$set, properties.$set_once]) {
    if (isObject(set)) noteProperties(look, 'person', set)
  }
  return look.added
}

type Look = { news: News; known: KnownProject | undefined; now: Date; added: number }

/** False for a name that is not listed. */
function noteEvent(look: Look, event: string): boolean {
  const { news, known } = look
  if (known?.events.has(event) || news.events.has(event)) return true
  if ((known?.events.size ?? 0) + news.events.size >= MAX_EVENTS || !isName(event)) return false
  news.events.set(event, new Set())
  look.added++
  return true
}

function noteEventProperties(look: Look, event: string, properties: JsonObject): void {
  const seen = look.known?.events.get(event)
  const untyped = look.known?.properties.get('event')?.untyped
  const hasUntyped = untyped !== undefined && untyped.size > 0
  for (const name in properties) {
    const isSeen = seen?.has(name) === true
    if (isSeen && !(hasUntyped && untyped.has(name))) continue
    if (NOT_LISTED.has(name) || !noteProperty(look, 'event', name, properties[name])) continue
    if (!isSeen) notePair(look, event, name, seen?.size ?? 0)
  }
}

function noteProperties(look: Look, owner: Owner, properties: JsonObject): void {
  const typed = look.known?.properties.get(owner)?.typed
  for (const name in properties) {
    if (!typed?.has(name)) noteProperty(look, owner, name, properties[name])
  }
}

/** False when the property is not listed. */
function noteProperty(look: Look, owner: Owner, name: string, value: unknown): boolean {
  const known = look.known?.properties.get(owner)
  if (known?.typed.has(name)) return true
  const news = look.news.properties.get(owner)
  const before = news?.get(name)
  if (before) return true
  const isUntyped = known?.untyped.has(name) === true
  const isNew = before === undefined && !isUntyped
  if (isNew && (countOf(known) + (news?.size ?? 0) >= MAX_PROPERTIES || !isName(name))) return false
  if (!news && look.news.properties.size >= MAX_OWNERS) return false
  const type = detectPropertyType(name, value, look.now)
  // Nothing new of one that is listed without a type.
  if (type === null && !isNew) return true
  if (news) news.set(name, type)
  else look.news.properties.set(owner, new Map([[name, type]]))
  look.added++
  return true
}

function notePair(look: Look, event: string, name: string, seen: number): void {
  if (look.known && look.known.pairs >= MAX_PAIRS) return
  const { events } = look.news
  let names = events.get(event)
  if (!names) events.set(event, (names = new Set()))
  if (seen + names.size >= MAX_PROPERTIES_OF_EVENT || names.has(name)) return
  names.add(name)
  look.added++
}

function countOf(known: KnownProperties | undefined): number {
  return known ? known.typed.size + known.untyped.size : 0
}
