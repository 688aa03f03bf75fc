// The paths of SCIM for the OpenAPI document. They are no routes of the API: a directory calls them, with a token of its own.

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

const operation = (
  operationId: string,
  summary: string,
  parameters: object[],
  responses: object,
  takesBody = false,
) => ({
  operationId,
  tags: ['SCIM'],
  summary,
  security: [{ key: [] }],
  parameters: [DOMAIN, ...parameters],
  ...(takesBody ? { requestBody: { required: true, content: { [MEDIA_TYPE]: { schema: RESOURCE } } } } : {}),
  responses: { ...responses, ...ERRORS },
})

const DONE = { 200: body('The resource.') }
const GONE = { 204: { description: 'Done.' } }

function pathsOf(name: 'Users' | 'Groups', one: string) {
  const id = name.toLowerCase()
  return {
    [`/scim/v2/{domain_id}/${name}`]: {
      get: operation(`scim_list_${id}`, `List ${id}`, LISTED, { 200: body('A ListResponse.') }),
      post: operation(`scim_create_${id}`, `Create a ${one}`, SHOWN, { 201: body('The resource.') }, true),
    },
    [`/scim/v2/{domain_id}/${name}/{id}`]: {
      get: operation(`scim_get_${id}`, `One ${one}`, [ID, ...SHOWN], {
        ...DONE,
        304: { description: '`If-None-Match` names this version.' },
      }),
      put: operation(`scim_replace_${id}`, `Replace a ${one}`, [ID, ...SHOWN], DONE, true),
      patch: operation(`scim_patch_${id}`, `Change a ${one}`, [ID, ...SHOWN], { ...DONE, ...GONE }, true),
      delete: operation(`scim_delete_${id}`, `Delete a ${one}`, [ID], GONE),
    },
    [`/scim/v2/{domain_id}/${name}/.search`]: {
      post: operation(
        `scim_search_${id}`,
        `List ${id}, asked by POST`,
        [],
        { 200: body('A ListResponse.') },
        true,
      ),
    },
  }
}

const document = (name: string, summary: string) => ({
  [`/scim/v2/{domain_id}/${name}`]: {
    get: operation(`scim_${name}`, summary, [], { 200: body('What the service says of itself.') }),
  },
})

export const scimDocument = {
  ...pathsOf('Users', 'user'),
  ...pathsOf('Groups', 'group'),
  '/scim/v2/{domain_id}/Bulk': {
    post: operation('scim_bulk', 'Up to 100 requests in one', [], { 200: body('A BulkResponse.') }, true),
  },
  ...document('ServiceProviderConfig', 'What the service can do'),
  ...document('ResourceTypes', 'The kinds of resources'),
  ...document('Schemas', 'The attributes of resources'),
}
