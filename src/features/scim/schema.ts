// What admins see of a directory, and what they make of its groups.
import { z } from 'zod'
import { LEVELS } from '../../platform/http/caller.ts'
import { bool, int, intChoice, timestamp, uuid } from '../../platform/http/fields.ts'

export const Scim = z
  .object({
    scim_enabled: z.boolean(),
    has_scim: z.boolean(),
    scim_base_url: z.string().nullable().describe('What the directory is given as address of the service.'),
    scim_bearer_token: z.string().nullable().describe('Shown once, where it was made.'),
    mask_value: z.string().nullable().describe('By which the token is recognised.'),
    token_made_at: timestamp.nullable(),
    last_request_at: timestamp.nullable().describe('When the directory last called.'),
    last_refused_at: timestamp.nullable().describe('When somebody last called with a wrong token.'),
    users: z.int(),
    groups: z.int(),
  })
  .meta({ id: 'Scim' })

export const ScimUpdate = z.object({
  scim_enabled: bool().describe('Off ends the token; the members stay.'),
})

const projectAccess = z.enum(['member', 'admin'])

export const DirectoryGroup = z
  .object({
    id: uuid,
    display_name: z.string(),
    external_id: z.string().nullable(),
    member_count: z.int(),
    level: z.int().nullable().describe('1 member, 8 admin; null: the group says nothing about levels.'),
    projects: z
      .array(z.object({ id: z.int(), level: projectAccess }))
      .describe('Projects that its members reach, and at which level.'),
    role: uuid.nullable().describe('The role that stands for the group where it opens projects.'),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'DirectoryGroup' })

export const DirectoryGroupUpdate = z
  .object({
    level: intChoice([LEVELS.member, LEVELS.admin]).nullable(),
    projects: z.array(z.object({ id: int({ min: 1 }), level: projectAccess })).max(100),
  })
  .partial()
export type Mapping = z.output<typeof DirectoryGroupUpdate>

export const DirectoryRequest = z
  .object({
    id: z.string(),
    created_at: timestamp,
    method: z.string(),
    path: z.string().describe('Behind the address of the service.'),
    status: z.int(),
    duration_ms: z.int(),
    request_body: z.string().nullable().describe('JSON without secrets, cut to 4,000 characters.'),
    response_body: z.string().nullable(),
  })
  .meta({ id: 'DirectoryRequest' })
