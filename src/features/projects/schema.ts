// Projects (PostHog also calls them teams), in and out.
import { z } from 'zod'
import { bool, text, timestamp, uuid } from '../../platform/http/fields.ts'

export const BasicProject = z
  .object({
    id: z.int(),
    uuid,
    organization: uuid,
    project_id: z.int(),
    api_token: z.string(),
    name: z.string(),
    completed_snippet_onboarding: z.boolean(),
    has_completed_onboarding_for: z.record(z.string(), z.unknown()),
    ingested_event: z.boolean(),
    is_demo: z.boolean(),
    timezone: z.string(),
    access_control: z.boolean().describe('Whether the project is closed to members whom no rule names.'),
  })
  .meta({ id: 'BasicProject' })

export const Project = BasicProject.extend({
  created_at: timestamp,
  updated_at: timestamp,
  app_urls: z.array(z.string()),
  anonymize_ips: z.boolean(),
  effective_membership_level: z.int(),
}).meta({ id: 'Project' })

const fields = z.object({
  name: text({ max: 200 }),
  timezone: text({ max: 64 }).refine(isTimezone, {
    message: 'This is not a time zone known here.',
    params: { code: 'invalid_choice' },
  }),
  app_urls: z.array(text({ max: 500 })).max(100),
  anonymize_ips: bool(),
  completed_snippet_onboarding: bool(),
  is_demo: bool(),
})

export const ProjectCreate = fields.partial()
export const ProjectUpdate = fields.partial()
export type ProjectFields = z.output<typeof ProjectUpdate>

export type ProjectRow = {
  id: number
  uuid: string
  organization_id: string
  name: string
  api_token: string
  timezone: string
  is_demo: boolean
  ingested_event: boolean
  app_urls: string[]
  anonymize_ips: boolean
  completed_snippet_onboarding: boolean
  created_at: Date
  updated_at: Date
}

/** With what its answers say besides. */
export type ShownProjectRow = ProjectRow & { is_private: boolean }

/** What the short form shows: all that is needed where many projects are listed. */
export type BasicProjectRow = Omit<
  ShownProjectRow,
  'created_at' | 'updated_at' | 'app_urls' | 'anonymize_ips'
>

/** A name such as `Europe/Berlin`; plain offsets are refused, because some versions of Node know them and some do not. */
function isTimezone(name: string): boolean {
  if (!/^[a-z]/i.test(name)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
