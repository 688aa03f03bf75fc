// Persons as the API gives them, and what a list of them can be asked for.
import { z } from 'zod'
import { timestamp, uuid } from '../../platform/http/fields.ts'
import { PageQuery } from '../../platform/http/paging.ts'

export const Person = z
  .object({
    id: z.int(),
    uuid,
    name: z.string(),
    distinct_ids: z.array(z.string()).describe('In the order in which they became known.'),
    properties: z.record(z.string(), z.unknown()),
    created_at: timestamp,
    is_identified: z.boolean(),
  })
  .meta({ id: 'Person' })

// A filter left blank, as a form sends it, filters nothing.
const filter = z.preprocess((value) => lastGiven(value) || undefined, z.string().optional())

export const PersonQuery = PageQuery.extend({
  distinct_id: filter.describe('The person that this distinct id leads to.'),
  email: filter.describe('The e-mail address, whatever its case.'),
  search: filter.describe('A part of the name, the e-mail address or a distinct id, whatever its case.'),
  properties: filter.describe('JSON list of `{key, value, operator}`; all of them must hold.'),
})
export type PersonQuery = z.output<typeof PersonQuery>

export const PersonValuesQuery = z.object({
  key: filter.describe('Name of the property.'),
  value: filter.describe('A part of the value, whatever its case.'),
})

export const PersonValues = z.array(
  z.object({ name: z.unknown(), count: z.int().describe('How many persons have it.') }),
)

export type PersonRow = {
  id: number
  uuid: string
  properties: Record<string, unknown>
  created_at: Date
  is_identified: boolean
  /** The first of them, in the order of adding. */
  distinct_ids: string[]
}

/** Given twice, the last counts. */
function lastGiven(value: unknown): unknown {
  return Array.isArray(value) ? value.at(-1) : value
}
