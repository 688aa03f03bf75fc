// Projects (PostHog also calls them teams), in and out.
import { z } from 'zod'
import { bool, intChoice, text, timestamp, uuid } from '../../platform/http/fields.ts'

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

const WEB_LIBRARY = 'posthog-js does so unless the page says otherwise.'
const NO_EFFECT = 'Kept for clients that set it; without effect here.'

export const Project = BasicProject.extend({
  created_at: timestamp,
  updated_at: timestamp,
  app_urls: z.array(z.string()),
  anonymize_ips: z.boolean(),
  autocapture_exceptions_opt_in: z
    .boolean()
    .nullable()
    .describe(`Whether web pages capture exceptions: ${WEB_LIBRARY}`),
  autocapture_web_vitals_opt_in: z
    .boolean()
    .nullable()
    .describe(`Whether web pages capture web vitals: ${WEB_LIBRARY}`),
  heatmaps_opt_in: z.boolean().nullable().describe(NO_EFFECT),
  session_recording_opt_in: z.boolean().describe(NO_EFFECT),
  surveys_opt_in: z.boolean().nullable().describe(NO_EFFECT),
  cookieless_server_hash_mode: z.int().nullable().describe(NO_EFFECT),
  recording_domains: z.array(z.string()).nullable().describe(NO_EFFECT),
  effective_membership_level: z.int(),
}).meta({ id: 'Project' })

const addresses = z.array(text({ max: 500 })).max(100)

const fields = z.object({
  name: text({ max: 200 }),
  timezone: text({ max: 64 }).refine(isTimezone, {
    message: 'This is not a time zone known here.',
    params: { code: 'invalid_choice' },
  }),
  app_urls: addresses,
  anonymize_ips: bool(),
  autocapture_exceptions_opt_in: bool().nullable(),
  autocapture_web_vitals_opt_in: bool().nullable(),
  heatmaps_opt_in: bool().nullable(),
  session_recording_opt_in: bool(),
  surveys_opt_in: bool().nullable(),
  cookieless_server_hash_mode: intChoice([0, 1, 2]).nullable(),
  recording_domains: addresses.nullable(),
  completed_snippet_onboarding: bool(),
  is_demo: bool(),
})

export const ProjectCreate = fields.partial()
export const ProjectUpdate = fields.partial()
export type ProjectFields = z.output<typeof ProjectUpdate>

/** Null: nobody has said. */
export type ProjectSettings = {
  autocapture_exceptions_opt_in: boolean | null
  autocapture_web_vitals_opt_in: boolean | null
  heatmaps_opt_in: boolean | null
  session_recording_opt_in: boolean
  surveys_opt_in: boolean | null
  cookieless_server_hash_mode: number | null
  recording_domains: string[] | null
}

export type ProjectRow = ProjectSettings & {
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
  'created_at' | 'updated_at' | 'app_urls' | 'anonymize_ips' | keyof ProjectSettings
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
