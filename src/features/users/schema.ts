// The user as other things embed it.
import { z } from 'zod'
import { uuid } from '../../platform/http/fields.ts'

export const User = z
  .object({
    id: z.int(),
    uuid,
    distinct_id: z.string(),
    first_name: z.string(),
    last_name: z.string(),
    email: z.string().meta({ format: 'email' }),
    is_email_verified: z.boolean(),
    hedgehog_config: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'User' })

export type User = z.infer<typeof User>

export type UserRow = {
  id: number
  uuid: string
  distinct_id: string
  email: string
  pending_email: string | null
  is_email_verified: boolean
  password_hash: string | null
  first_name: string
  last_name: string
  role_at_organization: string | null
  is_active: boolean
  is_staff: boolean
  anonymize_data: boolean
  hedgehog_config: Record<string, unknown> | null
  notification_settings: Record<string, unknown>
  current_organization_id: string | null
  current_project_id: number | null
  date_joined: Date
  last_login: Date | null
}

/** What presentUser shows, as `embeddedUser` reads it beside other rows. */
export type EmbeddedUser = Pick<UserRow, keyof User>
