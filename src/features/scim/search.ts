// Lists: filter, sort and page. What an index finds (by userName, displayName, externalId or id, as directories ask) is looked up;
// other filters are tried on every resource of the directory, some hundred at a time, so that others get their turn.
import type { JsonObject } from '../../lib/json-object.ts'
import { isUuid } from '../../lib/uuid.ts'
import type { Directory } from './directory.ts'
import {
  countGroups,
  groupsAfter,
  groupsBy,
  listShownGroups,
  pageOfGroups,
  type ShownGroupRow,
} from './group-queries.ts'
import { presentGroup, presentUser } from './present.ts'
import { GROUP, USER, type ResourceType } from './protocol/attributes.ts'
import type { Filter, Path } from './protocol/filter.ts'
import { findPlace } from './protocol/lookup.ts'
import { compileFilter, readerFor } from './protocol/match.ts'
import type { Found, Search } from './resource.ts'
import {
  countUsers,
  listShownUsers,
  pageOfUsers,
  usersAfter,
  usersBy,
  type ShownUserRow,
} from './user-queries.ts'

const ROWS_AT_ONCE = 500
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

type Key = { name: string; value: string }

/** Where the rows of one kind come from. */
type Source<Row> = {
  type: ResourceType
  present(row: Row): JsonObject
  count(): Promise<number>
  page(page: { limit: number; offset: number }): Promise<Row[]>
  after(id: string): Promise<Row[]>
  /** Null: no index finds rows by this. */
  by(key: Key): Promise<Row[]> | null
  list(ids: readonly string[]): Promise<Row[]>
}

export function searchUsers(directory: Directory, search: Search): Promise<Found<ShownUserRow>> {
  const { services, domain } = directory
  const { db } = services
  const asksForGroups = search.filter !== null && namesAttribute(search.filter, 'groups')
  return find(search, {
    type: USER,
    present: (row) => presentUser(directory, row),
    count: () => countUsers(db, domain.id),
    page: (page) => pageOfUsers(db, domain.id, page),
    after: (id) => usersAfter(db, domain.id, id, ROWS_AT_ONCE, asksForGroups),
    by({ name, value }) {
      if (name === 'userName') return usersBy(db, domain.id, { user_name: value })
      if (name === 'externalId') return usersBy(db, domain.id, { external_id: value })
      return name === 'id' && isUuid(value) ? usersBy(db, domain.id, { id: value }) : null
    },
    list: (ids) => listShownUsers(db, domain.id, ids),
  })
}

export function searchGroups(directory: Directory, search: Search): Promise<Found<ShownGroupRow>> {
  const { services, domain } = directory
  const { db } = services
  // Members of each are looked up only for filters that ask for them.
  const asksForMembers = search.filter !== null && namesAttribute(search.filter, 'members')
  const [seen, tried] = [search.with_members || asksForMembers, asksForMembers]
  return find(search, {
    type: GROUP,
    present: (row) => presentGroup(directory, row),
    count: () => countGroups(db, domain.id),
    page: (page) => pageOfGroups(db, domain.id, page, seen),
    after: (id) => groupsAfter(db, domain.id, id, ROWS_AT_ONCE, tried),
    by({ name, value }) {
      if (name === 'displayName') return groupsBy(db, domain.id, { display_name: value }, seen)
      if (name === 'externalId') return groupsBy(db, domain.id, { external_id: value }, seen)
      return name === 'id' && isUuid(value) ? groupsBy(db, domain.id, { id: value }, seen) : null
    },
    list: (ids) => listShownGroups(db, domain.id, ids, seen),
  })
}

function namesAttribute(filter: Filter, name: string): boolean {
  switch (filter.op) {
    case 'and':
    case 'or':
      return filter.filters.some((each) => namesAttribute(each, name))
    case 'not':
      return namesAttribute(filter.filter, name)
    default:
      return filter.path.attribute.toLowerCase() === name
  }
}

async function find<Row extends { id: string }>(search: Search, source: Source<Row>): Promise<Found<Row>> {
  const { filter, sort, offset, limit } = search
  if (!filter && !sort)
    return { count: await source.count(), rows: limit > 0 ? await source.page({ limit, offset }) : [] }
  const matches = filter ? compileFilter(source.type, filter) : () => true
  const keyOf = sort ? readerFor(source.type, sort.path) : () => ''
  const found: { id: string; key: string }[] = []
  for await (const rows of candidates(filter, source)) {
    for (const row of rows) {
      const resource = source.present(row)
      if (matches(resource)) found.push({ id: row.id, key: keyOf(resource) })
    }
  }
  if (sort) found.sort((one, other) => inOrder(one, other) * (sort.is_descending ? -1 : 1))
  const ids = found.slice(offset, offset + limit).map(({ id }) => id)
  const rows = new Map((await source.list(ids)).map((row) => [row.id, row]))
  // One that was deleted meanwhile is left out.
  return { count: found.length, rows: ids.flatMap((id) => rows.get(id) ?? []) }
}

/** What has no value comes last (RFC 7644 §3.4.2.3). */
function inOrder(one: { key: string }, other: { key: string }): number {
  if ((one.key === '') !== (other.key === '')) return one.key === '' ? 1 : -1
  return one.key < other.key ? -1 : one.key > other.key ? 1 : 0
}

async function* candidates<Row extends { id: string }>(
  filter: Filter | null,
  source: Source<Row>,
): AsyncIterable<Row[]> {
  const key = filter && keyIn(source.type, filter)
  const few = key && source.by(key)
  if (few) {
    yield await few
    return
  }
  let rows = await source.after(FIRST_ID)
  while (rows.length > 0) {
    yield rows
    rows = rows.length < ROWS_AT_ONCE ? [] : await source.after(rows.at(-1)!.id)
  }
}

/** An attribute that every match has this value of, where the filter says so. */
function keyIn(type: ResourceType, filter: Filter): Key | null {
  const terms = filter.op === 'and' ? filter.filters : [filter]
  for (const term of terms) {
    if (term.op !== 'eq' || typeof term.value !== 'string') continue
    const name = nameOf(type, term.path)
    if (name !== null) return { name, value: term.value }
  }
  return null
}

const KEYS = ['userName', 'displayName', 'externalId', 'id']

function nameOf(type: ResourceType, path: Path): string | null {
  const place = findPlace(type, path)
  if (!place || place.extension !== null || place.sub !== null) return null
  return KEYS.includes(place.attribute.name) ? place.attribute.name : null
}
