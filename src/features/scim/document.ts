// The paths of SCIM for the OpenAPI document. They are no routes of the API: a directory calls them, with a token of its own.
import { namedExamples } from '../../platform/http/openapi.ts'

const MEDIA_TYPE = 'application/scim+json'

const RESOURCE = { type: 'object', additionalProperties: true }
const body = (description: string, schema: object = RESOURCE) => ({
  description,
  content: { [MEDIA_TYPE]: { schema } },
})
const ERROR = {
  type: 'object',
  required: ['schemas', 'status'],
  properties: {
    schemas: { type: 'array', items: { type: 'string' } },
    status: { type: 'string' },
    scimType: { type: 'string' },
    detail: { type: 'string' },
  },
}
const ERRORS = {
  400: body('The request cannot be understood; `scimType` says what kind of fault it is.', ERROR),
  401: body('The token is missing or wrong, or SCIM is off for the domain.', ERROR),
  404: body('There is no such resource.', ERROR),
  409: body('A name or an address is taken, or the last owner would be removed.', ERROR),
  412: body('`If-Match` names another version.', ERROR),
  413: body('The body is too large, or has more operations than the service takes.', ERROR),
  429: body('Too many requests: try again after `Retry-After`.', ERROR),
}

const parameter = (name: string, place: 'path' | 'query', description: string, type = 'string') => ({
  name,
  in: place,
  required: place === 'path',
  description,
  schema: { type },
})
const DOMAIN = parameter('domain_id', 'path', 'Id of the domain.')
const ID = parameter('id', 'path', 'Id of the resource.')
const SHOWN = [
  parameter('attributes', 'query', 'Attributes to show, separated by commas.'),
  parameter('excludedAttributes', 'query', 'Attributes to leave out.'),
]
const LISTED = [
  parameter('filter', 'query', 'Such as `userName eq "ann@example.com"`.'),
  parameter('startIndex', 'query', 'The first one is 1.', 'integer'),
  parameter('count', 'query', '100 unless told, 1000 at most.', 'integer'),
  parameter('sortBy', 'query', 'Attribute to sort by.'),
  parameter('sortOrder', 'query', '`ascending` or `descending`.'),
  ...SHOWN,
]

type Status = keyof typeof ERRORS
const LISTING: readonly Status[] = [400, 401, 429]
const SEARCHING: readonly Status[] = [400, 401, 413, 429]
const CREATING: readonly Status[] = [400, 401, 409, 413, 429]
const READING: readonly Status[] = [400, 401, 404, 429]
const CHANGING: readonly Status[] = [400, 401, 404, 409, 412, 413, 429]
const DELETING: readonly Status[] = [400, 401, 404, 409, 412, 429]

const messageOf = (name: string) => `urn:ietf:params:scim:api:messages:2.0:${name}`
const patchOf = (change: object) => ({ schemas: [messageOf('PatchOp')], Operations: [change] })
const searchFor = (filter: string) => ({ schemas: [messageOf('SearchRequest')], filter, count: 10 })

const PERSON = {
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  userName: 'ada@example.com',
  name: { givenName: 'Ada', familyName: 'Lovelace' },
  emails: [{ value: 'ada@example.com', type: 'work', primary: true }],
  active: true,
}
const GROUP = { schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'], displayName: 'Engineering' }
const MEMBERS = [{ value: '01a1ddb8-6160-7c6b-8764-8a95c5e4e4b5' }]

/** Bodies of the paths of a kind of resource, by what each is for. */
type Bodies = Record<'whole' | 'change' | 'search', Readonly<Record<string, object>>>

const USER_BODIES: Bodies = {
  whole: { 'A person': PERSON },
  change: {
    'A name': patchOf({ op: 'replace', path: 'name.familyName', value: 'King' }),
    'Somebody who has left': patchOf({ op: 'replace', path: 'active', value: false }),
  },
  search: { 'Who has this name': searchFor('userName eq "ada@example.com"') },
}

const GROUP_BODIES: Bodies = {
  whole: { 'A group': GROUP, 'A group with a member': { ...GROUP, members: MEMBERS } },
  change: {
    'A member more': patchOf({ op: 'add', path: 'members', value: MEMBERS }),
    'Another name': patchOf({ op: 'replace', path: 'displayName', value: 'Research' }),
  },
  search: { 'The group of this name': searchFor('displayName eq "Engineering"') },
}

const BULK = {
  'A person and their group': {
    schemas: [messageOf('BulkRequest')],
    Operations: [
      { method: 'POST', path: '/Users', bulkId: 'ada', data: PERSON },
      {
        method: 'POST',
        path: '/Groups',
        bulkId: 'team',
        data: { ...GROUP, members: [{ value: 'bulkId:ada' }] },
      },
    ],
  },
}

const operation = (
  operationId: string,
  summary: string,
  parameters: object[],
  responses: object,
  faults: readonly Status[],
  bodies?: Readonly<Record<string, object>>,
) => ({
  operationId,
  tags: ['SCIM'],
  summary,
  security: [{ key: [] }],
  parameters: [DOMAIN, ...parameters],
  ...(bodies ? { requestBody: { required: true, content: contentOf(bodies) } } : {}),
  responses: { ...responses, ...Object.fromEntries(faults.map((status) => [status, ERRORS[status]])) },
})

const contentOf = (bodies: Readonly<Record<string, object>>) => ({
  [MEDIA_TYPE]: { schema: RESOURCE, examples: namedExamples(bodies) },
})

const LIST = { 200: body('A ListResponse.') }
const DONE = { 200: body('The resource.') }
const GONE = { 204: { description: 'Done.' } }
const UNCHANGED = { 304: { description: '`If-None-Match` names this version.' } }

function pathsOf(name: 'Users' | 'Groups', one: string, { whole, change, search }: Bodies) {
  const many = name.toLowerCase()
  const made = { 201: body('The resource.') }
  return {
    [`/scim/v2/{domain_id}/${name}`]: {
      get: operation(`scim_list_${many}`, `List ${many}`, LISTED, LIST, LISTING),
      post: operation(`scim_create_${many}`, `Create a ${one}`, SHOWN, made, CREATING, whole),
    },
    [`/scim/v2/{domain_id}/${name}/{id}`]: {
      get: operation(`scim_get_${many}`, `One ${one}`, [ID, ...SHOWN], { ...DONE, ...UNCHANGED }, READING),
      put: operation(`scim_replace_${many}`, `Replace a ${one}`, [ID, ...SHOWN], DONE, CHANGING, whole),
      patch: operation(
        `scim_patch_${many}`,
        `Change a ${one}`,
        [ID, ...SHOWN],
        { ...DONE, ...GONE },
        CHANGING,
        change,
      ),
      delete: operation(`scim_delete_${many}`, `Delete a ${one}`, [ID], GONE, DELETING),
    },
    [`/scim/v2/{domain_id}/${name}/.search`]: {
      post: operation(`scim_search_${many}`, `List ${many}, asked by POST`, [], LIST, SEARCHING, search),
    },
  }
}

const document = (name: string, summary: string) => ({
  [`/scim/v2/{domain_id}/${name}`]: {
    get: operation(`scim_${name}`, summary, [], { 200: body('What the service says of itself.') }, LISTING),
  },
})

export const scimDocument = {
  ...pathsOf('Users', 'user', USER_BODIES),
  ...pathsOf('Groups', 'group', GROUP_BODIES),
  '/scim/v2/{domain_id}/Bulk': {
    post: operation(
      'scim_bulk',
      'Up to 100 requests in one',
      [],
      { 200: body('A BulkResponse.') },
      SEARCHING,
      BULK,
    ),
  },
  ...document('ServiceProviderConfig', 'What the service can do'),
  ...document('ResourceTypes', 'The kinds of resources'),
  ...document('Schemas', 'The attributes of resources'),
}
