// Lists: filter, sort and page. What PostgreSQL can tell by itself is asked of it. Other filters, and sorting, look at every
// resource of the directory, some hundred at a time, so that others get their turn.
import { Breather } from '../../lib/breather.ts'
import type { JsonObject } from '../../lib/json-object.ts'
import type { Statement } from '../../platform/db/sql.ts'
import { takeFromRate, type Directory } from './directory.ts'
import {
  countGroups,
  groupConditions,
  groupsAfter,
  listShownGroups,
  pageOfGroups,
  type ShownGroupRow,
} from './group-queries.ts'
import { narrow, type Conditions } from './narrow.ts'
import { presentGroup, presentUser } from './present.ts'
import { GROUP, USER, type ResourceType } from './protocol/attributes.ts'
import type { Filter } from './protocol/filter.ts'
import { compileFilter, readerFor } from './protocol/match.ts'
import type { Found, Search } from './resource.ts'
import {
  countUsers,
  listShownUsers,
  pageOfUsers,
  userConditions,
  usersAfter,
  type ShownUserRow,
} from './user-queries.ts'

const ROWS_AT_ONCE = 500
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

/** Where the rows of one kind come from. */
type Source<Row> = {
  type: ResourceType
  conditions: Conditions
  present(row: Row): JsonObject
  count(where: Statement): Promise<number>
  page(where: Statement, page: { limit: number; offset: number }): Promise<Row[]>
  after(where: Statement, id: string): Promise<Row[]>
  list(ids: readonly string[]): Promise<Row[]>
}

export function searchUsers(directory: Directory, search: Search): Promise<Found<ShownUserRow>> {
  const { services, domain } = directory
  const { db } = services
  const asksForGroups = search.filter !== null && namesAttribute(search.filter, 'groups')
  return find(directory, search, {
    type: USER,
    conditions: userConditions,
    present: (row) => presentUser(directory, row),
    count: (where) => countUsers(db, domain.id, where),
    page: (where, page) => pageOfUsers(db, domain.id, where, page),
    after: (where, id) => usersAfter(db, domain.id, where, id, ROWS_AT_ONCE, asksForGroups),
    list: (ids) => listShownUsers(db, domain.id, ids),
  })
}

export function searchGroups(directory: Directory, search: Search): Promise<Found<ShownGroupRow>> {
  const { services, domain } = directory
  const { db } = services
  // Members of each are looked up only for filters that ask for them.
  const asksForMembers = search.filter !== null && namesAttribute(search.filter, 'members')
  const [seen, tried] = [search.with_members || asksForMembers, asksForMembers]
  return find(directory, search, {
    type: GROUP,
    conditions: groupConditions,
    present: (row) => presentGroup(directory, row),
    count: (where) => countGroups(db, domain.id, where),
    page: (where, page) => pageOfGroups(db, domain.id, where, page, seen),
    after: (where, id) => groupsAfter(db, domain.id, where, id, ROWS_AT_ONCE, tried),
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

async function find<Row extends { id: string }>(
  directory: Directory,
  search: Search,
  source: Source<Row>,
): Promise<Found<Row>> {
  const { filter, sort, offset, limit } = search
  const { where, is_exact } = narrow(source.type, filter, source.conditions)
  if (is_exact && !sort) return findByPostgres(source, where, { offset, limit })
  const matches = filter ? compileFilter(source.type, filter) : () => true
  const keyOf = sort ? readerFor(source.type, sort.path) : () => ''
  const found: { id: string; key: string }[] = []
  const breather = new Breather()
  for await (const rows of candidates(directory, source, where)) {
    for (const row of rows) {
      const resource = source.present(row)
      if (matches(resource)) found.push({ id: row.id, key: keyOf(resource) })
      if (breather.isDue) await breather.take()
    }
  }
  if (sort) found.sort((one, other) => inOrder(one, other) * (sort.is_descending ? -1 : 1))
  const ids = found.slice(offset, offset + limit).map(({ id }) => id)
  const rows = new Map((await source.list(ids)).map((row) => [row.id, row]))
  // One that was deleted meanwhile is left out.
  return { count: found.length, rows: ids.flatMap((id) => rows.get(id) ?? []) }
}

async function findByPostgres<Row>(
  source: Source<Row>,
  where: Statement,
  page: { limit: number; offset: number },
): Promise<Found<Row>> {
  const rows = page.limit > 0 ? await source.page(where, page) : []
  const isAll = page.offset === 0 && rows.length < page.limit
  return { count: isAll ? rows.length : await source.count(where), rows }
}

/** What has no value comes last (RFC 7644 §3.4.2.3). */
function inOrder(one: { key: string }, other: { key: string }): number {
  if ((one.key === '') !== (other.key === '')) return one.key === '' ? 1 : -1
  return one.key < other.key ? -1 : one.key > other.key ? 1 : 0
}

/** Each further turn counts as one more request: a walk over thousands is what a directory can do most harm with. */
async function* candidates<Row extends { id: string }>(
  directory: Directory,
  source: Source<Row>,
  where: Statement,
): AsyncIterable<Row[]> {
  let rows = await source.after(where, FIRST_ID)
  while (rows.length > 0) {
    yield rows
    if (rows.length < ROWS_AT_ONCE) return
    takeFromRate(directory, 1)
    rows = await source.after(where, rows.at(-1)!.id)
  }
}
