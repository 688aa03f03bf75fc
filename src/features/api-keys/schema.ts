// Personal API keys and an organization's service keys, in and out.
import { z } from 'zod'
import { instant, int, intChoice, text, timestamp, uuid } from '../../platform/http/fields.ts'
import { LEVELS, type Level } from '../../platform/http/caller.ts'
import { isScope } from '../../platform/http/scopes.ts'
import { User } from '../users/schema.ts'

const keyFields = {
  id: z.string(),
  label: z.string(),
  value: z.string().nullable().describe('Given once, when the key is made or rolled.'),
  mask_value: z.string(),
  scopes: z.array(z.string()),
  scoped_teams: z.array(z.int()),
  created_at: timestamp,
  last_used_at: timestamp.nullable(),
  last_rolled_at: timestamp.nullable(),
  expires_at: timestamp.nullable(),
}

export const PersonalApiKey = z
  .object({ ...keyFields, user_id: z.int(), scoped_organizations: z.array(uuid) })
  .meta({ id: 'PersonalApiKey' })

export const ServiceKey = z
  .object({ ...keyFields, organization_id: uuid, level: z.int(), created_by: User.nullable() })
  .meta({ id: 'ServiceKey' })

/** What a key may do, as it can ask about itself; a service key has an organization in place of a user. */
export const CurrentKey = z
  .object({
    ...keyFields,
    user_id: z.int().nullable(),
    organization_id: uuid.nullable(),
    level: z.int().nullable(),
    scoped_organizations: z.array(uuid),
  })
  .meta({ id: 'CurrentKey' })

/** A list whose wrong entries are reported on the field itself, not on their index, as PostHog's clients expect. */
function listField<Item>(
  list: z.ZodType<Item[]>,
  complaint: string | ((entry: unknown, index: number) => string),
  document: { items: object; minItems?: number },
) {
  return z
    .unknown()
    .transform((value, context) => {
      const parsed = list.safeParse(value)
      if (parsed.success) return [...new Set(parsed.data)]
      const issue = parsed.error.issues[0]!
      const [index] = issue.path
      if (typeof index !== 'number') context.addIssue({ ...issue, path: [] })
      else {
        const message =
          typeof complaint === 'string' ? complaint : complaint((value as unknown[])[index], index)
        context.addIssue({ code: 'custom', message })
      }
      return z.NEVER
    })
    .meta({ type: 'array', ...document })
}

const scopeList = z.array(z.string().trim().refine(isScope)).min(1).max(500)
const organizationIds = z.array(z.guid().transform((id) => id.toLowerCase())).max(100)
const projectIds = z.array(int({ min: 1 })).max(1000)

const label = text({ max: 40 })
const scopes = listField(scopeList, notAScope, { items: { type: 'string' }, minItems: 1 })
const scoped_organizations = listField(organizationIds, 'One of these is not the id of an organization.', {
  items: { type: 'string', format: 'uuid' },
})
const scoped_teams = listField(projectIds, 'One of these is not the id of a project.', {
  items: { type: 'integer' },
})
const expires_at = instant().nullable()

/** Names the wrong one. What does not look like a scope may be anything, a secret even: that is told by its place. */
function notAScope(entry: unknown, index: number): string {
  const looksLikeOne = typeof entry === 'string' && /^[a-z_*]{1,40}(?::[a-z_*]{0,20})?$/i.test(entry.trim())
  return looksLikeOne
    ? `\`${entry.trim()}\` is not a scope.`
    : `Entry ${index + 1} is not a scope: each is \`*\`, or an object and an action such as \`project:read\`.`
}

const personalFields = z.object({ label, scopes, scoped_organizations, scoped_teams, expires_at })
export const PersonalApiKeyCreate = personalFields.partial({
  scoped_organizations: true,
  scoped_teams: true,
  expires_at: true,
})
export const PersonalApiKeyUpdate = personalFields.partial()

const serviceFields = z.object({ label, scopes, scoped_teams, expires_at })
const level = intChoice([LEVELS.member, LEVELS.admin])
export const ServiceKeyCreate = serviceFields
  .extend({ level })
  .partial({ scoped_teams: true, expires_at: true, level: true })
export const ServiceKeyUpdate = serviceFields.partial()

export type KeyFields = {
  label?: string | undefined
  scopes?: string[] | undefined
  scoped_organizations?: string[] | undefined
  scoped_teams?: number[] | undefined
  expires_at?: Date | null | undefined
}

export type KeyRow = {
  id: string
  user_id: number | null
  organization_id: string | null
  level: Level | null
  label: string
  value_hash: string
  mask_value: string
  scopes: string[]
  scoped_organizations: string[]
  scoped_teams: number[]
  created_by: number | null
  created_at: Date
  last_used_at: Date | null
  last_rolled_at: Date | null
  expires_at: Date | null
}
