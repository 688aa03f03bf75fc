// Which path and method does what. One request, whether it came by itself or in bulk.
import { isObject, type JsonObject } from '../../lib/json-object.ts'
import { isUuid } from '../../lib/uuid.ts'
import type { Directory } from './directory.ts'
import { groups } from './groups.ts'
import { MAX_RESULTS, resourceTypes, schemas, serviceProviderConfig } from './protocol/documents.ts'
import { parseFilter, parsePath } from './protocol/filter.ts'
import { missing, refused, ScimError } from './protocol/scim-error.ts'
import { isSelected, readSelection, select, type Selection } from './protocol/selection.ts'
import type { Condition, Resource, Search } from './resource.ts'
import { users } from './users.ts'

export type Asked = {
  method: string
  /** Behind the address of the service. */
  path: readonly string[]
  query: JsonObject
  body: unknown
  if_match: string | undefined
  if_none_match: string | undefined
}

export type Answer = { status: number; body: JsonObject | null; headers?: Record<string, string> }

const LIST = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'
const SEARCH = '.search'
const DEFAULT_COUNT = 100
const MAX_INDEX = 2 ** 31 - 1

export async function answer(directory: Directory, asked: Asked): Promise<Answer> {
  const [endpoint, ...rest] = asked.path
  switch (endpoint) {
    case 'Users':
      return answerResource(directory, users, asked, rest)
    case 'Groups':
      return answerResource(directory, groups, asked, rest)
    case 'ServiceProviderConfig':
      return answerDocuments([serviceProviderConfig(directory.base)], asked, ['ServiceProviderConfig'])
    case 'ResourceTypes':
      return answerDocuments(resourceTypes(directory.base), asked, rest)
    case 'Schemas':
      return answerDocuments(schemas(directory.base), asked, rest)
    case 'Me':
      throw new ScimError(501, null, 'A directory is nobody: /Me is not offered.')
    default:
      throw missing('path')
  }
}

function answerDocuments(documents: JsonObject[], { method, query }: Asked, path: readonly string[]): Answer {
  if (path.length > 1) throw missing('path')
  assertOffered(method, ['GET'])
  if (query.filter !== undefined) throw new ScimError(403, null, 'Schemas and the like cannot be filtered.')
  const [id] = path
  if (id === undefined) return { status: 200, body: listOf(documents.length, 1, documents) }
  // The configuration is the only one of its kind, and has no id.
  const found = documents.find((document) => (document.id ?? id) === id)
  if (!found) throw missing('document')
  return { status: 200, body: found }
}

async function answerResource<Row extends { id: string }>(
  directory: Directory,
  resource: Resource<Row>,
  asked: Asked,
  path: readonly string[],
): Promise<Answer> {
  const [id] = path
  if (path.length > 1) throw missing('path')
  if (id === undefined) return answerAll(directory, resource, asked)
  if (id === SEARCH) {
    assertOffered(asked.method, ['POST'])
    if (!isObject(asked.body)) throw refused('invalidSyntax', 'The body is not a JSON object.')
    return list(directory, resource, asked.body)
  }
  if (!isUuid(id)) throw missing(resource.type.name.toLowerCase())
  return answerOne(directory, resource, asked, id)
}

async function answerAll<Row extends { id: string }>(
  directory: Directory,
  resource: Resource<Row>,
  { method, query, body }: Asked,
): Promise<Answer> {
  if (method === 'GET') return list(directory, resource, query)
  assertOffered(method, ['GET', 'POST'])
  const selection = selectionOf(resource, query)
  const row = await resource.create(directory, body)
  const location = `${directory.base}/${resource.type.endpoint}/${row.id}`
  return shown(directory, resource, row, selection, 201, { location })
}

async function answerOne<Row extends { id: string }>(
  directory: Directory,
  resource: Resource<Row>,
  asked: Asked,
  id: string,
): Promise<Answer> {
  const { method, query, body } = asked
  assertOffered(method, ['GET', 'PUT', 'PATCH', 'DELETE'])
  const selection = selectionOf(resource, query)
  const condition = conditionOf(asked)
  if (method === 'DELETE') {
    await resource.remove(directory, id, condition)
    return { status: 204, body: null }
  }
  if (method === 'GET') {
    const row = await resource.get(directory, id)
    const etag = resource.etag(row)
    if (names(asked.if_none_match, etag)) return { status: 304, body: null, headers: { etag } }
    return shown(directory, resource, row, selection)
  }
  const row = await (method === 'PUT'
    ? resource.replace(directory, id, body, condition)
    : resource.patch(directory, id, body, condition))
  // A group may have thousands of members: one that was added to needs not come back whole (RFC 7644 §3.5.2).
  if (method === 'PATCH' && resource.type.name === 'Group' && selection.attributes === null)
    return { status: 204, body: null, headers: { etag: resource.etag(row) } }
  return shown(directory, resource, row, selection)
}

async function list<Row extends { id: string }>(
  directory: Directory,
  resource: Resource<Row>,
  given: JsonObject,
): Promise<Answer> {
  const selection = selectionOf(resource, given)
  const search = readSearch(given, selection)
  const { count, rows } = await resource.search(directory, search)
  const resources = rows.map((row) => select(resource.present(directory, row), selection))
  return { status: 200, body: listOf(count, search.offset + 1, resources) }
}

function listOf(totalResults: number, startIndex: number, Resources: JsonObject[]): JsonObject {
  return { schemas: [LIST], totalResults, startIndex, itemsPerPage: Resources.length, Resources }
}

function readSearch(given: JsonObject, selection: Selection): Search {
  const { filter, sortBy, sortOrder, startIndex, count } = given
  if (filter !== undefined && typeof filter !== 'string')
    throw refused('invalidFilter', 'filter is given once, as a text.')
  if (sortBy !== undefined && typeof sortBy !== 'string') throw refused('invalidValue', 'sortBy is a text.')
  return {
    filter: filter ? parseFilter(filter) : null,
    sort: sortBy
      ? {
          path: parsePath(sortBy, 'invalidValue'),
          is_descending: String(sortOrder).toLowerCase() === 'descending',
        }
      : null,
    offset: Math.max(wholeNumber(startIndex) ?? 1, 1) - 1,
    limit: Math.min(Math.max(wholeNumber(count) ?? DEFAULT_COUNT, 0), MAX_RESULTS),
    with_members: isSelected(selection, 'members'),
  }
}

/** A value that is no number counts as not given. */
function wholeNumber(value: unknown): number | null {
  if (typeof value !== 'number' && !(typeof value === 'string' && /^\s*-?\d{1,15}\s*$/.test(value)))
    return null
  const number = Number(value)
  return Number.isInteger(number) ? Math.min(number, MAX_INDEX) : null
}

function selectionOf<Row>(
  { type }: Resource<Row>,
  { attributes, excludedAttributes }: JsonObject,
): Selection {
  return readSelection(type, attributes, excludedAttributes)
}

function shown<Row>(
  directory: Directory,
  resource: Resource<Row>,
  row: Row,
  selection: Selection,
  status = 200,
  headers: Record<string, string> = {},
): Answer {
  return {
    status,
    body: select(resource.present(directory, row), selection),
    headers: { ...headers, etag: resource.etag(row) },
  }
}

function conditionOf({ if_match }: Asked): Condition {
  return (etag) => {
    if (if_match !== undefined && !names(if_match, etag))
      throw new ScimError(412, null, 'The resource has changed since you read it: read it again.')
  }
}

/** Whether a header with one or several ETags names this one; weak or strong is the same here. */
function names(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  const plain = (text: string) => text.trim().replace(/^W\//i, '')
  return header.split(',').some((each) => each.trim() === '*' || plain(each) === plain(etag))
}

function assertOffered(method: string, offered: readonly string[]): void {
  if (!offered.includes(method))
    throw new ScimError(405, null, `${method} is not offered here.`, { allow: offered.join(', ') })
}
