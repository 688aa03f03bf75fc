// What the service says of itself (RFC 7643 §5 to §7): /ServiceProviderConfig, /ResourceTypes and /Schemas.
import type { JsonObject } from '../../../lib/json-object.ts'
import { GROUP, isCommon, USER, type Attribute, type ResourceType } from './attributes.ts'

export const MAX_RESULTS = 1_000
export const MAX_BULK_OPERATIONS = 100
export const MAX_BODY = 4 * 1024 * 1024

const META = 'urn:ietf:params:scim:schemas:core:2.0'
const TYPES = [USER, GROUP]

export function serviceProviderConfig(base: string): JsonObject {
  return {
    schemas: [`${META}:ServiceProviderConfig`],
    patch: { supported: true },
    bulk: { supported: true, maxOperations: MAX_BULK_OPERATIONS, maxPayloadSize: MAX_BODY },
    filter: { supported: true, maxResults: MAX_RESULTS },
    changePassword: { supported: false },
    sort: { supported: true },
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: 'The token that an admin made for this domain, as `Authorization: Bearer <token>`.',
        specUri: 'https://www.rfc-editor.org/info/rfc6750',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
  }
}

export function resourceTypes(base: string): JsonObject[] {
  return TYPES.map(({ name, endpoint, schema, description, extensions }) => ({
    schemas: [`${META}:ResourceType`],
    id: name,
    name,
    endpoint: `/${endpoint}`,
    description,
    schema,
    schemaExtensions: extensions.map((extension) => ({ schema: extension.schema, required: false })),
    meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${name}` },
  }))
}

export function schemas(base: string): JsonObject[] {
  return TYPES.flatMap((type) => [
    schemaDocument(base, type.schema, type, type.attributes),
    ...type.extensions.map((extension) =>
      schemaDocument(base, extension.schema, { ...type, name: extension.name }, extension.attributes),
    ),
  ])
}

function schemaDocument(
  base: string,
  id: string,
  { name, description }: Pick<ResourceType, 'description'> & { name: string },
  attributes: readonly Attribute[],
): JsonObject {
  return {
    schemas: [`${META}:Schema`],
    id,
    name,
    description,
    attributes: attributes.filter((attribute) => !isCommon(attribute)).map(attributeDocument),
    meta: { resourceType: 'Schema', location: `${base}/Schemas/${id}` },
  }
}

function attributeDocument(attribute: Attribute): JsonObject {
  return {
    name: attribute.name,
    type: attribute.type,
    multiValued: attribute.is_multi === true,
    description: attribute.description,
    required: attribute.is_required === true,
    caseExact: attribute.is_case_exact === true,
    mutability: attribute.mutability ?? 'readWrite',
    returned: attribute.returned ?? 'default',
    uniqueness: attribute.uniqueness ?? 'none',
    ...(attribute.subs ? { subAttributes: attribute.subs.map(attributeDocument) } : {}),
  }
}
