// Organizations, in and out.
import { z } from 'zod'
import { bool, text, timestamp, uuid } from '../../platform/http/fields.ts'
import { BasicProject } from '../projects/schema.ts'

const ProductFeature = z.object({
  key: z.string(),
  name: z.string(),
  description: z.string(),
  unit: z.string().nullable(),
  limit: z.int().nullable(),
  note: z.string().nullable(),
  is_plan_default: z.boolean(),
})

export const Organization = z
  .object({
    id: uuid,
    name: z.string(),
    slug: z.string(),
    created_at: timestamp,
    updated_at: timestamp,
    membership_level: z.int(),
    plugins_access_level: z.int(),
    teams: z.array(BasicProject),
    available_product_features: z.array(ProductFeature),
    is_member_join_email_enabled: z.boolean(),
    metadata: z.string().describe('JSON text.'),
    customer_id: z.string().nullable(),
    enforce_2fa: z.boolean(),
    member_count: z.string().describe('Number of active members, as text.'),
  })
  .meta({ id: 'Organization' })

const fields = z.object({
  name: text({ max: 64 }),
  is_member_join_email_enabled: bool(),
  enforce_2fa: z.preprocess((value) => (value === null ? false : value), bool()),
})

export const OrganizationCreate = fields.partial({ is_member_join_email_enabled: true, enforce_2fa: true })
export const OrganizationUpdate = fields.partial()
export type OrganizationFields = z.output<typeof OrganizationUpdate>
