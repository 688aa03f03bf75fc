// Access to a project, in and out, in the words of PostHog's API.
import { z } from 'zod'
import { timestamp, uuid } from '../../../platform/http/fields.ts'

/** What is stored for each word; for who has a level, these are levels of an organization too. */
export const ACCESS_LEVELS = { none: 0, member: 1, admin: 8 } as const
export type AccessName = keyof typeof ACCESS_LEVELS
export const ACCESS_NAMES = Object.keys(ACCESS_LEVELS) as AccessName[]

const accessName = z.enum(['none', 'member', 'admin'])

export const AccessControl = z
  .object({
    access_level: accessName,
    resource: z.literal('project'),
    resource_id: z.string(),
    organization_member: uuid.nullable(),
    role: uuid.nullable(),
    created_by: z.null().describe('Always null, as in PostHog; the activity log names who made it.'),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'AccessControl' })

export const AccessControls = z
  .object({
    access_controls: z.array(AccessControl),
    available_access_levels: z.array(accessName),
    default_access_level: accessName.describe('What holds without a rule.'),
    minimum_access_level: accessName,
    maximum_access_level: accessName,
    user_access_level: accessName,
    user_can_edit_access_levels: z.boolean(),
  })
  .meta({ id: 'AccessControls' })

export const AccessControlUpdate = z.object({
  access_level: accessName.nullable().describe('Null takes the rule away.'),
  organization_member: z
    .guid()
    .nullish()
    .describe('Id of the membership; without it and without `role`, everybody whom no rule names.'),
  role: z.guid().nullish(),
})
export type AccessControlFields = z.output<typeof AccessControlUpdate>

export type AccessControlRow = {
  id: string
  organization_id: string
  project_id: number
  membership_id: string | null
  role_id: string | null
  level: (typeof ACCESS_LEVELS)[AccessName]
  created_at: Date
  updated_at: Date
}
