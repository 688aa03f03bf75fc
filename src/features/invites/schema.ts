// Invites into an organization, in and out.
import { z } from 'zod'
import { isObject } from '../../lib/json-object.ts'
import { LEVELS, type Level } from '../../platform/http/caller.ts'
import { bool, email, int, text, timestamp, uuid } from '../../platform/http/fields.ts'
import { levelField } from '../members/schema.ts'
import { User, type EmbeddedUser } from '../users/schema.ts'

export const MAX_BULK = 20

const accessLevel = z.enum(['member', 'admin'])
// PostHog's older clients send levels as numbers.
const NUMBERED = new Map<unknown, string>([
  [LEVELS.member, 'member'],
  [LEVELS.admin, 'admin'],
])

const ProjectAccess = z.object({
  id: int({ min: 1 }),
  level: z.preprocess((value) => NUMBERED.get(value) ?? value, accessLevel),
})
/** What an invite promises in a project. */
export type ProjectAccess = z.output<typeof ProjectAccess>

export const Invite = z
  .object({
    id: uuid,
    target_email: z.string().meta({ format: 'email' }),
    first_name: z.string(),
    emailing_attempt_made: z.boolean(),
    level: z.int(),
    is_expired: z.boolean(),
    expires_at: timestamp,
    created_by: User.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
    message: z.string().nullable(),
    private_project_access: z
      .array(z.object({ id: z.int(), level: accessLevel }))
      .describe('Access to projects that comes with joining; shown to admins and to whoever invites.'),
  })
  .meta({ id: 'Invite' })

/** Shown once, to whoever made or resent it: they may give that level. */
export const MadeInvite = Invite.extend({ link: z.string().meta({ format: 'uri' }) }).meta({
  id: 'MadeInvite',
})

export const InviteCreate = z.object({
  target_email: email(),
  first_name: text({ max: 30, blank: true }).default(''),
  level: levelField().default(LEVELS.member),
  message: text({ max: 5000, blank: true }).nullable().default(null),
  send_email: bool().default(true),
  combine_pending_invites: bool().default(false),
  private_project_access: z
    .array(ProjectAccess)
    .max(100)
    .nullish()
    .transform((list) => list ?? []),
})
export type InviteFields = z.output<typeof InviteCreate>

const InviteList = z.array(InviteCreate).min(1).max(MAX_BULK)

/** One object gives one invite; a list gives a list in the same order. A union would not say which field is wrong. */
export const InviteBulk = z
  .unknown()
  .transform((value, context): InviteFields | InviteFields[] => {
    if (isObject(value) && Object.keys(value).length === 0) {
      const message = 'A list of invites is expected here, or one invite.'
      context.issues.push({
        code: 'custom',
        input: value,
        message,
        path: ['target_email'],
        params: { code: 'required' },
      })
      return z.NEVER
    }
    const parsed = (Array.isArray(value) ? InviteList : InviteCreate).safeParse(value)
    if (parsed.success) return parsed.data
    context.issues.push(...(parsed.error.issues.slice(0, 1) as never[]))
    return z.NEVER
  })
  .meta({ anyOf: [InviteCreate, InviteList].map((schema) => z.toJSONSchema(schema, { io: 'input' })) })

export type InviteRow = {
  id: string
  organization_id: string
  target_email: string
  first_name: string
  level: Level
  message: string | null
  private_project_access: ProjectAccess[]
  emailing_attempt_made: boolean
  created_by: number | null
  created_at: Date
  updated_at: Date
  expires_at: Date
}

export type ListedInvite = InviteRow & { creator: EmbeddedUser | null }
