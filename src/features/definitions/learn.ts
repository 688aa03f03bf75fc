// From news to rows: what the catalogue lacks of them is written, for many projects at once.
import { uuid7 } from '../../lib/uuid.ts'
import type { Db } from '../../platform/db/database.ts'
import { readGroupTypes } from '../persons/flush-queries.ts'
import {
  emptyProject,
  groupOwner,
  propertiesOf,
  type KnownProject,
  type KnownProperties,
  type Owner,
} from './known.ts'
import { MAX_EVENTS, MAX_PAIRS, MAX_PROPERTIES, MAX_PROPERTIES_OF_EVENT } from './limits.ts'
import type { News } from './news.ts'
import type { PropertyType } from './property-type.ts'
import {
  readKnownEvents,
  readKnownProperties,
  writeEvents,
  writeProperties,
  type NewEvent,
  type NewProperty,
} from './write-queries.ts'

const ROWS_PER_STATEMENT = 2_000

/** What the catalogue has of each of these projects. */
export async function readKnown(db: Db, projectIds: readonly number[]): Promise<Map<number, KnownProject>> {
  const known = new Map(projectIds.map((id) => [id, emptyProject()]))
  if (projectIds.length === 0) return known
  for (const { project_id, name, properties } of await readKnownEvents(db, projectIds)) {
    const project = known.get(project_id)!
    project.events.set(name, new Set(properties))
    project.pairs += properties.length
  }
  for (const { project_id, type, group_type, name, has_type } of await readKnownProperties(db, projectIds)) {
    const owner = type === 'group' ? groupOwner(group_type ?? '') : type
    const { typed, untyped } = propertiesOf(known.get(project_id)!, owner)
    ;(has_type ? typed : untyped).add(name)
  }
  return known
}

/** Writes what is missing, then adds it to `known`, which holds all of these projects. */
export async function learn(
  db: Db,
  news: ReadonlyMap<number, News>,
  known: ReadonlyMap<number, KnownProject>,
  now: Date,
): Promise<void> {
  const lacking = new Map([...news].map(([id, each]) => [id, lackingOf(each, known.get(id)!)]))
  const types = await groupIndexes(db, lacking)
  for (const [id, { properties }] of lacking) {
    for (const owner of properties.keys()) if (!placeOf(id, owner, types)) properties.delete(owner)
  }
  const ids = [...lacking.keys()].sort((one, other) => one - other)
  const events = ids.flatMap((id) => eventRows(id, lacking.get(id)!, now))
  const properties = ids.flatMap((id) => propertyRows(id, lacking.get(id)!, types, now))
  if (events.length > 0 || properties.length > 0) {
    await db.transaction(async (tx) => {
      for (const rows of portionsOf(properties)) await writeProperties(tx, rows, now)
      for (const rows of portionsOf(events)) await writeEvents(tx, rows, now)
    })
  }
  for (const [id, each] of lacking) remember(each, known.get(id)!)
}

/** Without what is known, and within the limits. */
function lackingOf(news: News, known: KnownProject): News {
  const properties = new Map<Owner, Map<string, PropertyType | null>>()
  for (const [owner, names] of news.properties) {
    const lacking = lackingProperties(names, known.properties.get(owner) ?? NONE)
    if (lacking.size > 0) properties.set(owner, lacking)
  }
  const { typed, untyped } = known.properties.get('event') ?? NONE
  const fresh = properties.get('event')
  const isListed = (name: string) => typed.has(name) || untyped.has(name) || fresh?.has(name) === true
  return { events: lackingEvents(news.events, known, isListed), properties }
}

const NONE: KnownProperties = { typed: new Set(), untyped: new Set() }

function lackingProperties(
  names: ReadonlyMap<string, PropertyType | null>,
  { typed, untyped }: KnownProperties,
): Map<string, PropertyType | null> {
  let room = MAX_PROPERTIES - typed.size - untyped.size
  const isLacking = ([name, type]: [string, PropertyType | null]) =>
    !typed.has(name) && (untyped.has(name) ? type !== null : room-- > 0)
  return new Map([...names].filter(isLacking))
}

function lackingEvents(
  named: News['events'],
  known: KnownProject,
  isListed: (property: string) => boolean,
): News['events'] {
  const events: News['events'] = new Map()
  let room = MAX_EVENTS - known.events.size
  let pairs_left = MAX_PAIRS - known.pairs
  for (const [event, names] of named) {
    const seen = known.events.get(event)
    if (!seen && room-- <= 0) continue
    const most = Math.max(0, Math.min(pairs_left, MAX_PROPERTIES_OF_EVENT - (seen?.size ?? 0)))
    const fresh = [...names].filter((name) => !seen?.has(name) && isListed(name)).slice(0, most)
    pairs_left -= fresh.length
    if (!seen || fresh.length > 0) events.set(event, new Set(fresh))
  }
  return events
}

type GroupIndexes = ReadonlyMap<string, number>

const groupKey = (project_id: number, owner: Owner) => `${project_id} ${owner}`

async function groupIndexes(db: Db, news: ReadonlyMap<number, News>): Promise<GroupIndexes> {
  const isOfGroups = (owner: Owner) => owner !== 'event' && owner !== 'person'
  const ids = [...news].filter(([, { properties }]) => [...properties.keys()].some(isOfGroups))
  if (ids.length === 0) return new Map()
  const types = await readGroupTypes(
    db,
    ids.map(([id]) => id),
  )
  return new Map(types.map(({ project_id, name, index }) => [groupKey(project_id, groupOwner(name)), index]))
}

function eventRows(project_id: number, { events }: News, now: Date): NewEvent[] {
  return [...events]
    .map(([name, properties]) => ({ project_id, id: uuid7(now), name, properties: [...properties] }))
    .sort(byName)
}

function propertyRows(
  project_id: number,
  { properties }: News,
  types: GroupIndexes,
  now: Date,
): NewProperty[] {
  return [...properties].flatMap(([owner, names]) => {
    const place = placeOf(project_id, owner, types)!
    return [...names]
      .map(([name, property_type]) => ({ project_id, id: uuid7(now), ...place, name, property_type }))
      .sort(byName)
  })
}

/** Null for a type of groups that the project does not have: it already had five. */
function placeOf(
  project_id: number,
  owner: Owner,
  types: GroupIndexes,
): Pick<NewProperty, 'type' | 'group_type_index'> | null {
  if (owner === 'event' || owner === 'person') return { type: owner, group_type_index: -1 }
  const index = types.get(groupKey(project_id, owner))
  return index === undefined ? null : { type: 'group', group_type_index: index }
}

function byName(one: { name: string }, other: { name: string }): number {
  return one.name < other.name ? -1 : 1
}

function portionsOf<Row>(rows: readonly Row[]): Row[][] {
  const count = Math.ceil(rows.length / ROWS_PER_STATEMENT)
  return Array.from({ length: count }, (_, n) =>
    rows.slice(n * ROWS_PER_STATEMENT, (n + 1) * ROWS_PER_STATEMENT),
  )
}

function remember(news: News, known: KnownProject): void {
  for (const [event, names] of news.events) {
    known.pairs += names.size
    const seen = known.events.get(event)
    if (!seen) known.events.set(event, new Set(names))
    else for (const name of names) seen.add(name)
  }
  for (const [owner, names] of news.properties) {
    const { typed, untyped } = propertiesOf(known, owner)
    for (const [name, type] of names) {
      if (type === null) untyped.add(name)
      else if (typed.add(name)) untyped.delete(name)
    }
  }
}
