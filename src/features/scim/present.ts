// Row → resource of SCIM.
import type { JsonObject } from '../../lib/json-object.ts'
import type { Directory } from './directory.ts'
import type { ShownGroupRow } from './group-queries.ts'
import { GROUP, USER, type ResourceType } from './protocol/attributes.ts'
import type { ShownUserRow } from './user-queries.ts'

type Versioned = { id: string; version: number; created_at: Date; updated_at: Date }

/** A manual removal changes no row of the directory's, but what it sees: so it counts as well. */
export function userEtag({ version, active }: ShownUserRow): string {
  return `W/"${version}${active ? '' : '-inactive'}"`
}

export function groupEtag({ version }: Pick<ShownGroupRow, 'version'>): string {
  return `W/"${version}"`
}

export function presentUser({ base }: Directory, row: ShownUserRow): JsonObject {
  const extensions = USER.extensions.filter(({ schema }) => row.resource[schema] !== undefined)
  const groups = row.groups.map(({ id, display_name }) => ({
    value: id,
    $ref: `${base}/Groups/${id}`,
    display: display_name,
    type: 'direct',
  }))
  return {
    schemas: [USER.schema, ...extensions.map(({ schema }) => schema)],
    id: row.id,
    ...writableUser(row),
    ...(groups.length > 0 ? { groups } : {}),
    meta: metaOf(base, USER, row, userEtag(row)),
  }
}

/** What the directory may change: what PATCH works on. */
export function writableUser({ resource, user_name, external_id, active }: ShownUserRow): JsonObject {
  return {
    ...(external_id === null ? {} : { externalId: external_id }),
    userName: user_name,
    ...resource,
    active,
  }
}

export function presentGroup({ base }: Directory, row: ShownGroupRow): JsonObject {
  const members = row.members.map(({ id, user_name }) => ({
    value: id,
    $ref: `${base}/Users/${id}`,
    display: user_name,
    type: 'User',
  }))
  return {
    schemas: [GROUP.schema],
    id: row.id,
    ...(row.external_id === null ? {} : { externalId: row.external_id }),
    displayName: row.display_name,
    ...(members.length > 0 ? { members } : {}),
    meta: metaOf(base, GROUP, row, groupEtag(row)),
  }
}

export function writableGroup({ display_name, external_id, members }: ShownGroupRow): JsonObject {
  return {
    ...(external_id === null ? {} : { externalId: external_id }),
    displayName: display_name,
    ...(members.length > 0 ? { members: members.map(({ id }) => ({ value: id })) } : {}),
  }
}

function metaOf(base: string, type: ResourceType, row: Versioned, version: string): JsonObject {
  return {
    resourceType: type.name,
    created: row.created_at.toISOString(),
    lastModified: row.updated_at.toISOString(),
    location: `${base}/${type.endpoint}/${row.id}`,
    version,
  }
}
